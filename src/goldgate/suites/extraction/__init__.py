"""The extraction suite: events that a model read out of documents, scored against gold."""
