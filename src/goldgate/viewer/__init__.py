"""Result folders to look at in a browser: an index of their samples, the pages and a local server."""
