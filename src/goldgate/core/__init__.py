"""What both suites share: tallies, metrics, gates, signatures."""
