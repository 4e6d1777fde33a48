"""A third suite, as the proof of the contract: questions answered with citations, in one folder."""
