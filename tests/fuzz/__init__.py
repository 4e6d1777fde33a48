"""Fuzzing: texts and files that no one thought of, thrown at every door through which foreign bytes come in.

`python -m tests.fuzz` (`make fuzz`) is the whole; `targets.py` has the doors, and what must hold behind each.
"""
