"""A sample to look at: in a list, and on a page with its text, its answer and its errors."""
