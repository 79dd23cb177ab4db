"""What a message holds: something, nothing blank, valid text, and blocks that its role may hold."""

from collections.abc import Iterator

from conversations.vocabulary import PartType, Role
from conversations.wire.rules.context import Context, Spot
from conversations.wire.shapes import Violation, WireError
from conversations.wire.slices import read_json


def texts_are_not_blank(context: Context) -> Iterator[Violation]:
    for spot in context.spots():
        if spot.part.type == PartType.TEXT and spot.part.text is not None and not spot.part.text.strip():
            what = "only white space" if spot.part.text else "empty"
            yield context.violation("text-not-blank", "warn", spot, f"a text block is {what}")


def messages_are_not_empty(context: Context) -> Iterator[Violation]:
    """Only a final assistant message may be empty."""
    last = len(context.messages) - 1
    for index, message in enumerate(context.messages):
        if not message.parts and not (index == last and message.role == Role.ASSISTANT):
            yield context.violation("content-not-empty", "warn", index, "the message is empty")


def last_text_is_trimmed(context: Context) -> Iterator[Violation]:
    spot = _last_spot(context)
    if spot is None or context.messages[-1].role != Role.ASSISTANT or spot.part.type != PartType.TEXT:
        return
    text = spot.part.text or ""
    if text != text.rstrip():
        explanation = "the last assistant message ends with white space"
        yield context.violation("no-trailing-space", "replay", spot, explanation)


def last_message_is_no_prefill(context: Context) -> Iterator[Violation]:
    """Newer models do not go on from an assistant's words."""
    if context.messages and context.messages[-1].role == Role.ASSISTANT:
        spot = _last_spot(context)
        if spot is not None and spot.part.type in (PartType.TEXT, PartType.THINKING):
            explanation = "the last message is the assistant's; newer models go on from a user's only"
            yield context.violation("ends-with-user", "replay", len(context.messages) - 1, explanation)


def text_is_unicode(context: Context) -> Iterator[Violation]:
    """Half of a surrogate pair is no character: the body would not be valid JSON for the provider."""
    for spot in context.spots():
        payload = spot.part.payload
        # Only an escape can spell half a pair; most payloads hold none.
        if payload is not None and (b"\\ud" in payload or b"\\uD" in payload) and _has_half_pair(payload):
            yield context.violation(
                "valid-unicode", "refuse", spot, "half a surrogate pair stands in a string"
            )


def documents_are_given_to_the_model(context: Context) -> Iterator[Violation]:
    for spot in context.spots():
        is_document = spot.part.type == PartType.DOCUMENT and spot.part.provider_type in ("", "document")
        if is_document and context.messages[spot.message].role == Role.ASSISTANT:
            explanation = "a document stands in an assistant message; API 2026-10-21 refuses it"
            yield context.violation("document-by-user", "warn", spot, explanation)


def system_messages_have_their_place(context: Context) -> Iterator[Violation]:
    """A system message follows a user's turn and is the last, or followed by the assistant."""
    for place, turn in enumerate(context.turns):
        if turn.role != Role.SYSTEM:
            continue
        before = context.turns[place - 1] if place else None
        after = context.turns[place + 1] if place + 1 < len(context.turns) else None
        if before is None:
            problem = "stands first"
        elif before.role == Role.ASSISTANT and not _ends_in_server_result(before.spots):
            problem = "follows an assistant message"
        elif after is not None and after.role != Role.ASSISTANT:
            problem = "is not followed by an assistant message"
        else:
            continue
        yield context.violation("system-placement", "warn", turn.messages[0], f"a system message {problem}")


def compaction_stands_alone(context: Context) -> Iterator[Violation]:
    """One compaction block with content, at the beginning of its message, which is no system message."""
    found = [
        spot
        for spot in context.spots()
        if spot.part.provider_type == "compaction" and context.value(spot).get("content") is not None
    ]
    for number, spot in enumerate(found):
        if number or spot.ordinal or context.messages[spot.message].role == Role.SYSTEM:
            explanation = "a compaction block is not the first of its message, or not the only one"
            yield context.violation("compaction-placement", "warn", spot, explanation)


def reasoning_is_followed(context: Context) -> Iterator[Violation]:
    """Responses: a reasoning item needs the item that it led to."""
    for turn in context.turns:
        if turn.role == Role.ASSISTANT and turn.spots and turn.spots[-1].part.type == PartType.THINKING:
            explanation = "a reasoning item stands without the item that it led to"
            yield context.violation("reasoning-followed", "warn", turn.spots[-1], explanation)


def _last_spot(context: Context) -> Spot | None:
    if not context.messages or not context.messages[-1].parts:
        return None
    ordinal = len(context.messages[-1].parts) - 1
    return Spot(len(context.messages) - 1, ordinal, context.messages[-1].parts[ordinal])


def _ends_in_server_result(spots: list[Spot]) -> bool:
    return bool(spots) and spots[-1].part.type == PartType.SERVER_TOOL_RESULT


def _has_half_pair(payload: bytes) -> bool:
    try:
        return _holds_surrogate(read_json(payload.decode()))
    except (WireError, UnicodeDecodeError):
        return False


def _holds_surrogate(value: object) -> bool:
    if isinstance(value, str):
        return not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
    if isinstance(value, dict):
        return any(_holds_surrogate(name) or _holds_surrogate(item) for name, item in value.items())
    return isinstance(value, list) and any(_holds_surrogate(item) for item in value)
