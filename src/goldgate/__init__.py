"""Goldgate: from stored model outputs to numbers that can be trusted and a verdict that can gate a release."""

__version__ = "0.1.0"
