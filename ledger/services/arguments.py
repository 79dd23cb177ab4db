"""What a call asks for, by value: two spellings of one request are one, two requests are two.

Key order, number form and escapes do not count (see conversations/canonical_json.py). Nor
does the Unicode form: text is compared in NFC, because "café" typed on two keyboards is one
name to everybody who reads it. Letter case, outer white space and digits written as text
(`"19"` and `19`) do count: to a processor they may be different things.
"""

import hashlib
import unicodedata
from dataclasses import dataclass
from uuid import UUID

from conversations.canonical_json import ExactNumber, JsonValue, canonical_bytes
from conversations.currency import AmountError, minor_units
from conversations.drafts import PartDraft
from conversations.errors import StoreError
from conversations.reads.path import read_messages
from conversations.units import call_arguments
from ledger.errors import CallNotRecordedError
from ledger.models import ToolPolicy
from ledger.vocabulary import AmountUnit, Operation


@dataclass(frozen=True, slots=True)
class Request:
    """What is about to be asked of a processor, and its digest."""

    tool_name: str
    operation: Operation
    arguments: JsonValue
    amount_minor: int | None
    currency: str

    @property
    def digest(self) -> bytes:
        value: list[JsonValue] = [
            str(self.operation),
            self.tool_name,
            self.arguments,
            self.amount_minor,
            self.currency,
        ]
        return hashlib.sha256(canonical_bytes(value)).digest()


def read_call(*, conversation_id: UUID, seq: int, call_id: str) -> PartDraft:
    """Return the part of the recorded call; raises CallNotRecordedError where there is none."""
    for message in read_messages(conversation_id=conversation_id, seqs=[seq]):
        for part in message.draft.calls():
            if part.tool_call_id == call_id:
                return part
    raise CallNotRecordedError(place=place_of(conversation_id=conversation_id, seq=seq, call_id=call_id))


def place_of(*, conversation_id: UUID, seq: int, call_id: str) -> str:
    return f"conversation {conversation_id}, message {seq}, call {call_id}"


def arguments_of(part: PartDraft) -> JsonValue:
    """Return the call's arguments in canonical form; what no reader can read counts by its bytes."""
    try:
        return normalized(call_arguments(part))
    except (ValueError, RecursionError):
        literal = part.payload if part.payload is not None else (part.text or "").encode()
        return f"unreadable:{hashlib.sha256(literal).hexdigest()}"


def normalized(value: JsonValue) -> JsonValue:
    """Put every text into NFC; ValueError where two members of one object would become one."""
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value)
    if isinstance(value, list):
        return [normalized(item) for item in value]
    if isinstance(value, dict):
        members = {unicodedata.normalize("NFC", name): normalized(item) for name, item in value.items()}
        if len(members) != len(value):
            raise ValueError("two members have one name in NFC")
        return members
    return value


_MISSING = object()


def value_at(arguments: JsonValue, path: str) -> JsonValue | object:
    """Return what stands at `path` ("order.lines.0.amount"), or MISSING."""
    value: JsonValue = arguments
    for step in path.split("."):
        if isinstance(value, dict) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            return _MISSING
    return value


def is_missing(value: object) -> bool:
    return value is _MISSING


def amount_in(arguments: JsonValue, policy: ToolPolicy, *, currency: str, place: str) -> int | None:
    """Return the amount that the arguments name, in minor units; None where the tool names none.

    Raises StoreError for an amount that the currency cannot hold exactly: it would
    be rounded, and money is not.
    """
    if not policy.amount_path:
        return None
    value = value_at(arguments, policy.amount_path)
    if is_missing(value) or value is None:
        return None
    if policy.amount_unit == AmountUnit.MINOR and isinstance(value, int) and not isinstance(value, bool):
        return value
    if policy.amount_unit == AmountUnit.MAJOR and isinstance(value, str | int | ExactNumber):
        try:
            return minor_units(_plain_text(value), currency)
        except AmountError as error:
            raise StoreError("amount-unreadable", str(error), place=place) from error
    raise StoreError(
        "amount-unreadable",
        f"{policy.amount_path} holds no amount in {policy.amount_unit} units",
        place=place,
    )


def currency_in(arguments: JsonValue, policy: ToolPolicy) -> str:
    value = value_at(arguments, policy.currency_path) if policy.currency_path else _MISSING
    return value.lower() if isinstance(value, str) and len(value) == 3 else ""


def _plain_text(value: str | int | ExactNumber) -> str:
    """Write a number out with a decimal point: the canonical form of 19.99 is 1999e-2."""
    if not isinstance(value, ExactNumber):
        return str(value)
    digits, _, power = value.text.partition("e")
    sign, digits = ("-", digits[1:]) if digits.startswith("-") else ("", digits)
    if not digits.isdecimal() or not power.lstrip("-").isdecimal() or not -6 <= int(power) < 0:
        return value.text
    places = -int(power)
    digits = digits.rjust(places + 1, "0")
    return f"{sign}{digits[:-places]}.{digits[-places:]}"
