"""Gates end to end: with a confidence, on parts of a metric, and against stored runs."""
