"""Pictures of results: drawn as they should be, and safe whatever the data says."""
