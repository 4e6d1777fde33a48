"""Traces of other tools as run folders that the research suite judges; what a trace does not say is named, not made up."""
