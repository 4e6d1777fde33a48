"""Events: what they hold, when two of them match."""
