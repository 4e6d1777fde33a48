"""Stored bytes to records, without holding the files in memory."""
