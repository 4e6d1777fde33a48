"""A run to look at: in a list, and on a page with its claims, its evidence in the sources, and its findings."""
