"""How far a number can be trusted: intervals, differences of two systems, what more data or a next run may bring."""
