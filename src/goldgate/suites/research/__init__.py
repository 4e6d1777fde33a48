"""The research suite: what an agent's runs left on disk, checked against stored sources and golden queries."""
