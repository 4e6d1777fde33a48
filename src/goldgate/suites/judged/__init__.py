"""The judged suite: the rate that people would find, from a few labels of people and many of a model."""
