"""How far a file has been sent, kept on disk: a run that was killed goes on from there.

It only saves time. What is sent twice is known to the store by its id.
"""

import json
import os
from collections import Counter
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from counterfoil_recorder.backfill.lines import Place, head_digest


@dataclass(slots=True)
class Progress:
    """All lines up to the place are settled; `counts` says how."""

    place: Place = field(default_factory=Place)
    counts: Counter[str] = field(default_factory=Counter)


class CursorFile:
    """Where the files stand that were sent to one store under one key, with the same terms."""

    def __init__(self, path: Path, *, target: str) -> None:
        self._path = path
        self._target = sha256(target.encode()).hexdigest()[:16]

    def read(self, file: Path) -> Progress:
        """Return how far the file was sent; from its beginning where it is another file by now."""
        entry: Any = self._entries().get(self._name(file))
        try:
            place = Place(number=entry["line"], offset=entry["offset"])
            if entry["head"] == head_digest(file, most=place.offset):
                return Progress(place, Counter(entry["counts"]))
        except (TypeError, KeyError):
            pass  # not there, or written by something else
        return Progress()

    def write(self, file: Path, progress: Progress) -> None:
        """Put the file's entry in place of the one before, at once."""
        entries = self._entries()
        entries[self._name(file)] = {
            "line": progress.place.number,
            "offset": progress.place.offset,
            "head": head_digest(file, most=progress.place.offset),
            "counts": dict(progress.counts),
        }
        beside = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        beside.write_text(json.dumps(entries, indent=1), encoding="utf-8")
        beside.replace(self._path)

    def _entries(self) -> dict[str, Any]:
        try:
            entries = json.loads(self._path.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            return {}
        return entries if isinstance(entries, dict) else {}

    def _name(self, file: Path) -> str:
        return f"{self._target} {file.resolve()}"
