"""Stored runs: what each unit counted, two or more runs joined by unit, and what follows from that."""
