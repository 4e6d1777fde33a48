"""The prompts of the extraction suite: template files, how they are filled in, and worked examples."""
