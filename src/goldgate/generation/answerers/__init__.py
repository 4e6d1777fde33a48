"""Who answers, and how it is asked: one answerer for endpoints, one for checkpoints on disk."""
