"""The suites: each judges one kind of work, from its own folder."""
