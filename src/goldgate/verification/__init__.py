"""Stored results, comparisons and baselines recomputed and compared with what is stored."""
