"""What a thought says beside its answer."""
