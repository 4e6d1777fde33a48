"""What all suites share: counts and metrics, gates, findings, reports as pages, and the contract of a suite."""
