"""Python's cyclic collector during an import."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# New objects before a look at the youngest; looks before one at the middle, and before one at all.
_RARELY: Final = (50_000, 20, 100)


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Have cycles looked for less often, since an import makes none and holds much.

    Thousands of drafts wait for their batch to be written; walking them at the usual
    rate costs a tenth of an import's time. Counts of references free them as before.
    """
    usual = gc.get_threshold()
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
