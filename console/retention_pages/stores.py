"""What the stores of an erasure are called on pages; a receipt's own JSON keeps the short names."""

from collections.abc import Mapping
from typing import Final

LABELS: Final = {
    "account": "Accounts",
    "accounts": "Accounts",
    "conversation": "Conversations, titles",
    "message": "Messages",
    "messagepart": "Parts of messages",
    "toolcall": "Tool calls",
    "headmove": "Moves of the head",
    "generation": "Attempts",
    "exchange": "Once-only keys of recorded calls",
    "summary": "Summaries",
    "chunk": "Chunks",
    "rawbody": "Raw bodies",
    "conversationnote": "Notes on conversations",
    "blob": "Blobs",
    "blobs": "Blobs",
    "fragment": "Fragments of bodies",
}


def label_of(store: str) -> str:
    """Return the words for a store; a short name that is words already begins with a capital."""
    return LABELS.get(store, store[:1].upper() + store[1:])


def labelled(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return [(label_of(store), number) for store, number in counts.items()]
