"""One module for each step of an erasure."""
