"""The fields suite: a model turned a document into JSON of a known shape; every value is compared with gold."""
