"""Gates beyond the comparison itself: how well a verdict is supported, and the records that lower a threshold."""
