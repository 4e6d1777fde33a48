"""How shards are mapped: in this process, or in several. The results come in the order of the shards."""
