"""Hand-made responses in the manners of real models, each with its expected reading: the oracle of the reader.

`corpus.py` loads them, `test_corpus.py` holds the reader to them. A YAML file is one manner and reads as documentation.
"""
