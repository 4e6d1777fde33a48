"""The protocol: every setting that can change a number or a verdict, in one versioned file."""
