"""The parts of `evidence.crash`: steps to be killed at, stories to be killed in, the books as judge."""
