"""What the customer saw at a moment: the head log read at that time, and what came later marked as later."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.utils import timezone

from conversations.reads.head_log import Move, highest_head, move_at, read_move
from conversations.reads.tree import Tree

_MOMENT: Final = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,6}))?)?)?\s*(\S+)?", re.ASCII
)
_OFFSET: Final = re.compile(r"([+-])(\d\d):?(\d\d)", re.ASCII)
_LAST_MICROSECOND: Final = timedelta(microseconds=999_999)


@dataclass(frozen=True, slots=True)
class AsOf:
    """`move` is None where nothing was on screen yet. `floor` is the highest message shown by then."""

    moment: datetime
    move: Move | None
    floor: int
    is_typed: bool

    def is_later(self, tree: Tree, seq: int) -> bool:
        """Whether the message came after the moment: above all that was ever shown, and written since."""
        return seq > self.floor and tree.nodes[seq].created_at > self.moment


def read_as_of(*, conversation_id: UUID, number: str = "", typed: str = "") -> AsOf | None:
    """Return the view as of a picked move or a typed time; ValueError in words where it cannot be read."""
    if typed.strip():
        moment = parse_moment(typed)
        move = move_at(conversation_id=conversation_id, moment=moment)
    elif number:
        move = read_move(conversation_id=conversation_id, number=_move_number(number))
        if move is None:
            raise ValueError("There is no such move of the head")
        moment = move.moved_at
    else:
        return None
    floor = 0 if move is None else highest_head(conversation_id=conversation_id, number=move.number)
    return AsOf(moment=moment, move=move, floor=floor, is_typed=bool(typed.strip()))


def parse_moment(typed: str) -> datetime:
    """Read "2026-11-24 14:03:10", with a zone behind it or in the current one.

    A time without a fraction takes in its whole second, as the log shows seconds.
    """
    match = _MOMENT.fullmatch(typed.strip())
    if match is None:
        raise ValueError("A time is written like 2026-11-24 14:03:10, with a zone behind it if it is another")
    *numbers, fraction, zone = match.groups()
    read_zone = _zone(zone)
    try:
        year, month, day, hour, minute, second = (int(number or 0) for number in numbers)
        moment = datetime(year, month, day, hour, minute, second, tzinfo=read_zone).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"There is no such time: {typed.strip()}") from error
    if fraction:
        return moment + timedelta(microseconds=int(fraction.ljust(6, "0")))
    return moment + _LAST_MICROSECOND


def _zone(name: str | None) -> tzinfo:
    if not name:
        return timezone.get_current_timezone()
    if name in ("Z", "z", "UTC"):
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset is not None:
        minutes = int(offset[2]) * 60 + int(offset[3])
        if minutes >= 24 * 60:
            raise ValueError("There is no such zone")
        return timezone.get_fixed_timezone(minutes if offset[1] == "+" else -minutes)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("There is no such zone; write one like Europe/Lisbon or +01:00") from error


def _move_number(number: str) -> int:
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise ValueError("A move of the head is a whole number")
    return int(number)
