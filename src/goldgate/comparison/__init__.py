"""Is B better than A? Stored runs of several systems over the same units, compared: any suite's, unit by unit."""
