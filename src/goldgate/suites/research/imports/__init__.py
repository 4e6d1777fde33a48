"""Traces of other tools as run folders that the research suite judges; what a trace lacks is named, not made up."""
