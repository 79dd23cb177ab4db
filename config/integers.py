"""Whole numbers on their way to the database: one that its column cannot hold is refused, never folded.

Django marks each value with its column's width, and the driver packs it into so
many bytes, dropping what is above: 2**40 would be stored as 0 without a word.
As text, the server itself reads the number and refuses it.
"""

from psycopg import adapters
from psycopg.types import numeric


def send_integers_as_text() -> None:
    """Register the dumpers for every connection made from now on."""
    adapters.register_dumper(numeric.Int2, numeric.Int2Dumper)
    adapters.register_dumper(numeric.Int4, numeric.Int4Dumper)
    adapters.register_dumper(numeric.Int8, numeric.Int8Dumper)
