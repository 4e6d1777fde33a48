"""How far a number can be trusted: exact intervals, and what a next run may bring."""
