"""Stored results, verified and planned from."""
