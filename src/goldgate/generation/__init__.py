"""Generation: ask a model about every gold document, keep every answer, and leave stored artifacts to be scored."""
