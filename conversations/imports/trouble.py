"""What cannot be imported, said so that a person finds the place and knows the reason."""

from dataclasses import dataclass

MAX_PLACE = 255


class UnreadableError(ValueError):
    """One conversation cannot be read; the rest of the file can."""

    def __init__(self, reason: str, *, place: str = "") -> None:
        super().__init__(f"{place}: {reason}" if place else reason)
        self.reason = reason
        self.place = place


class RefusedFileError(ValueError):
    """A file that is not taken at all; the text is one line that says what it was taken for."""


class DamagedFileError(RefusedFileError):
    """A file that may well hold conversations, and cannot be read."""


@dataclass(slots=True)
class Broken:
    """A conversation, or a piece of a file, that did not go in. `raw` is what was read of it."""

    place: str
    reason: str
    external_ref: str = ""
    raw: bytes | None = None
