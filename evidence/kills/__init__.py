"""What the proof of killed workers is tried on: one job of each kind, with an end that can be compared."""
