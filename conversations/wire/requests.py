"""What cutting a request body has in common in every dialect."""

from collections.abc import Callable, Sequence
from itertools import groupby

from conversations.drafts import HOLE_BLOCK, HOLE_BLOCKS, HOLE_STRING, MessageDraft, PartDraft
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.cuts import FramedMessage, cut_envelope, cut_string, merge_turn
from conversations.wire.forms import string_shell, usual_shell
from conversations.wire.pairing import adopt_results, settle_calls
from conversations.wire.shapes import (
    COMPACT,
    HOLE_LEADING,
    HOLE_MESSAGES,
    HOLE_PREAMBLE,
    HOLE_TOOLS,
    ParsedRequest,
    Style,
    WireError,
)
from conversations.wire.shells import FORM_STRING, squeeze
from conversations.wire.slices import Item, Member, Sliced, slice_object

type FrameMessage = Callable[[str, Item, int, Style], FramedMessage]

# A tuple: what a body calls a role may be anything, also what no set can look up.
PREAMBLE_ROLES = (Role.SYSTEM.value, Role.DEVELOPER.value)


def cut_request(
    text: str,
    body: Sliced,
    *,
    dialect: Dialect,
    style: Style,
    messages_key: str,
    preamble_key: str | None,
    frame_message: FrameMessage,
    is_string_allowed: bool = False,
) -> ParsedRequest:
    """Cut a body into envelope, preamble, tools and messages; raises WireError naming the place."""
    member = body.last(messages_key)
    spans: list[tuple[int, int, bytes]] = []
    parsed = ParsedRequest(
        dialect=dialect,
        model=_string(body.value("model")),
        is_stream=body.value("stream") is True,
        style=style,
        envelope=b"",
        messages=[],
    )
    if member is not None and isinstance(member.value, str) and is_string_allowed:
        parsed.messages = [_frame_string(text, member, member.value, dialect=dialect, style=style)]
        spans.append((member.value_start, member.end, HOLE_MESSAGES))
    elif member is not None:
        items = _items_of(member, messages_key)
        lead = leading_count(items)
        spans.append(_message_span(member, items, has_leading=lead > 0))
        if lead:
            parsed.leading = text[items[0].start : items[lead - 1].end].encode()
        framed = [
            frame_message(text, item, lead + n, style)
            if isinstance(item.value, Sliced | dict)
            else frame_stray(text, item, lead + n, style)
            for n, item in enumerate(items[lead:])
        ]
        parsed.messages = build_messages(text, framed, dialect=dialect, style=style)
    parsed.preamble = _take(text, body.last(preamble_key) if preamble_key else None, HOLE_PREAMBLE, spans)
    parsed.tools = _take(text, body.last("tools"), HOLE_TOOLS, spans)
    parsed.envelope = cut_envelope(text, spans)
    return parsed


def build_messages(
    text: str, framed: Sequence[FramedMessage], *, dialect: Dialect, style: Style
) -> list[MessageDraft]:
    """Drafts in order: the pieces of one assistant turn are one, all others stay apart."""
    messages = []
    for (role, _), run in groupby(framed, key=lambda message: (message.role, message.provider_role)):
        pieces = list(run)
        if role == Role.ASSISTANT and len(pieces) > 1:
            pieces = [merge_turn(text, pieces, style)]
        messages += [build_message(piece, dialect=dialect, style=style) for piece in pieces]
    adopt_results(messages)
    return messages


def build_message(framed: FramedMessage, *, dialect: Dialect, style: Style) -> MessageDraft:
    """The draft, without its shell where that is a usual form."""
    settle_calls(framed.parts)
    role_name = framed.provider_role or framed.role.value
    shell: str | None = framed.shell
    if shell == usual_shell(dialect, framed.role, role_name, framed.parts, style):
        shell = None
    elif shell == string_shell(role_name, style):
        shell = FORM_STRING
    return MessageDraft(
        role=framed.role,
        parts=framed.parts,
        provider_role=framed.provider_role,
        shell=shell,
        wire_index=framed.wire_index,
    )


def build_answer(framed: FramedMessage, *, dialect: Dialect) -> MessageDraft:
    """The draft of an answer. Its frame was never part of a request and is kept without white space,
    so that it is the usual one where a client's would be."""
    shell = squeeze(framed.shell)
    if shell == COMPACT.comma.join(HOLE_BLOCK for _ in framed.parts):
        shell = HOLE_BLOCKS
    draft = build_message(framed._replace(shell=shell), dialect=dialect, style=COMPACT)
    draft.wire_index = None
    return draft


def frame_stray(text: str, item: Item, index: int, style: Style) -> FramedMessage:
    """Something in the list that is no message: refused by every provider, kept as it came."""
    if isinstance(item.value, str):
        part, mark = cut_string(text, start=item.start, end=item.end, value=item.value, style=style)
    else:
        part, mark = PartDraft(PartType.OTHER, payload=text[item.start : item.end].encode()), HOLE_BLOCK
    return FramedMessage(Role.USER, "", [part], mark, item.start, item.end, index)


def walked(text: str, item: Item) -> Sliced:
    """The item's members with their slices; walks it if that has not been done."""
    if isinstance(item.value, Sliced):
        return item.value
    return slice_object(text, item.start, {})[0]


def _frame_string(text: str, member: Member, value: str, *, dialect: Dialect, style: Style) -> MessageDraft:
    """A body whose list of messages is one bare string: what a user said.

    The draft is the same as for a listed message with that string, so that the
    next request, which lists it, finds it in its usual form.
    """
    part, mark = cut_string(text, start=member.value_start, end=member.end, value=value, style=style)
    shell = string_shell(Role.USER, style).replace(HOLE_STRING, mark)
    framed = FramedMessage(Role.USER, "", [part], shell, member.value_start, member.end, 0)
    return build_message(framed, dialect=dialect, style=style)


def leading_count(items: Sequence[Item]) -> int:
    """How many messages stand before the first that is neither system nor developer."""
    for count, item in enumerate(items):
        if not isinstance(item.value, Sliced) or item.value.value("role") not in PREAMBLE_ROLES:
            return count
    return len(items)


def _items_of(member: Member, key: str) -> list[Item]:
    if not isinstance(member.value, Sliced) or member.value.is_object:
        raise WireError("not a list", place=key)
    return member.value.items


def _message_span(member: Member, items: Sequence[Item], *, has_leading: bool) -> tuple[int, int, bytes]:
    mark = HOLE_LEADING + HOLE_MESSAGES if has_leading else HOLE_MESSAGES
    if items:
        return items[0].start, items[-1].end, mark
    return member.value_start + 1, member.value_start + 1, mark


def _take(text: str, member: Member | None, mark: bytes, spans: list[tuple[int, int, bytes]]) -> bytes | None:
    if member is None:
        return None
    spans.append((member.value_start, member.end, mark))
    return text[member.value_start : member.end].encode()


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""
