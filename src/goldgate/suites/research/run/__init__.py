"""One stored run: its files, its claims, its evidence."""
