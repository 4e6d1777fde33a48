"""One type language for all files: a type says what a stored value may be.

`kinds` analyzes types; `validation` tests a decoded value, lists its problems, and builds dataclasses from
settings; `json_schema` writes a type as a JSON Schema.
"""
