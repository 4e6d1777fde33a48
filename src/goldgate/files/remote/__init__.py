"""Files and folders that are named by a URL and read, listed and written through fsspec, which is imported late."""
