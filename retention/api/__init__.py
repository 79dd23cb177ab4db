"""Holds and erasure requests over HTTP. A key asks; people approve, in the console."""
