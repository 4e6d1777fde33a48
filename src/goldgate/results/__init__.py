"""Stored results, read again: are they true, and what do they say about the next evaluation?"""
