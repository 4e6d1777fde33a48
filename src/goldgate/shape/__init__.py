"""One type language for all files: a type says what a stored value may be.

`fits` tests a decoded value, `problems` explains one that does not fit, `build` makes settings of a document, and
`json_schema` writes the type down for others. `kinds` takes types apart for all four.
"""
