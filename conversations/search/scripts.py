"""Which characters belong to languages that are written without spaces between words.

The same ranges stand in the migration `word_search`, as PostgreSQL's regular expressions have them.
"""

import re

UNSPACED = re.compile(
    "[\u0e01-\u0e5b\u0e81-\u0edf\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003134f]"
)
_RUN = re.compile(f"{UNSPACED.pattern}+")


def has_unspaced(text: str) -> bool:
    return UNSPACED.search(text) is not None


def bigrams(text: str) -> list[str]:
    """The pairs of neighbouring characters within each run of such a script."""
    pairs = {run[i : i + 2] for run in _RUN.findall(text) for i in range(len(run) - 1)}
    return sorted(pairs)
