"""Result folders to look at in a browser: an index of their samples, the pages, a local server, and an export."""
