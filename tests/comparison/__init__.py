"""Comparisons of systems."""
