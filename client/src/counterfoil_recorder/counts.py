"""How many exchanges went which way, for an application's own metrics."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """Since the process began; each exchange ends as stored, refused or dropped, or still waits.

    `spooled` counts those that waited on disk on their way. `refused` were looked at by the store and
    not taken; they are in the spool's folder `refused`. `dropped` are lost: each has a line in the log.
    `failures` are errors inside the recorder, each with its line; the call itself went on.
    """

    handed_over: int = 0
    stored: int = 0
    spooled: int = 0
    refused: int = 0
    dropped: int = 0
    failures: int = 0
