"""The events of Anthropic's Messages format.

`message_start`, then start, deltas and stop of each block, `message_delta` with
the stop reason and cumulative usage, `message_stop`. Anything may be missing
when the connection breaks; unknown events and pings mean nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from conversations.drafts import MessageDraft
from conversations.vocabulary import GenerationStatus, Role
from conversations.wire.answers import fail, word
from conversations.wire.anthropic_answers import cut_last_call, end_answer, read_usage
from conversations.wire.anthropic_blocks import RULES
from conversations.wire.blocks import cut_content
from conversations.wire.pairing import settle_calls
from conversations.wire.shapes import COMPACT, ParsedResponse, WireError
from conversations.wire.slices import Member, Sliced, read_json, read_list, read_object, slice_json
from conversations.wire.streams.events import DONE, Event, plain_error
from conversations.wire.streams.raw_json import (
    RawObject,
    read_event,
    write_list,
    write_object,
    write_text,
    write_value,
)

_START = {"content_block": read_object({})}
_TEXT_DELTAS = {"text_delta": "text", "thinking_delta": "thinking"}
_ASSIGNED = {
    "signature_delta": ("signature",),
    "compaction_delta": ("content", "encrypted_content", "signature", "tool_changes"),
}


@dataclass(slots=True)
class _Block:
    """A block on its way: its members as JSON text, and the pieces that are still appended."""

    members: RawObject
    kind: str
    appended: dict[str, list[str]] = field(default_factory=dict)
    citations: list[str] = field(default_factory=list)
    arguments: list[str] = field(default_factory=list)
    is_closed: bool = False

    @property
    def is_call(self) -> bool:
        return self.kind.endswith("tool_use")

    def is_whole_call(self) -> bool:
        """Whether all of the call's arguments arrived; none at all means none were needed."""
        given = "".join(self.arguments)
        if not self.is_closed:
            return False
        try:
            return not given or read_json(given) is not None
        except WireError:
            return False

    def write(self) -> str:
        for name, pieces in self.appended.items():
            start = self.members.get(name, '""')
            before = read_json(start)
            self.members[name] = write_text((before if isinstance(before, str) else "") + "".join(pieces))
        given = "".join(self.arguments)
        if given.strip():
            # The model's own JSON text, as long as it is JSON; a piece of it is kept as a string.
            self.members["input"] = given.strip() if self.is_whole_call() else write_text(given)
        if self.citations:
            self.members["citations"] = write_list(self.citations)
        return write_object(self.members)


class AnthropicStream:
    """Accumulates events; `finish` may be called at any time."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Block] = {}
        # Where the block of an index stands now; elsewhere only where a gateway gives several one index.
        self._places: dict[int, int] = {}
        self._last_place = -1
        self._is_repeated = False
        self._usage: dict[str, object] = {}
        self._model = ""
        self._id = ""
        self._stop_reason: object = None
        self._stop_details: object = None
        self._error: object = None
        self._has_begun = False
        self._has_started = False
        self._is_stopped = False
        self._has_final_usage = False
        # Each once, in their order.
        self._notes: dict[str, None] = {}

    def feed(self, event: Event) -> None:
        """Take one event; what cannot be read is noted and passed over."""
        if event.data == DONE:
            return
        try:
            value = read_event(event.data)
            if isinstance(value, dict):
                kind = str(value.get("type") or event.name)
                if self._is_stopped:
                    self._pass_over(kind, value)
                else:
                    self._take(kind, value, event.data)
        except WireError as error:
            self._error = self._error or plain_error(event)
            self._note(f"an event could not be read: {error}")

    def finish(self) -> ParsedResponse:
        """The answer as far as it arrived."""
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        answer = ParsedResponse(
            status=GenerationStatus.INTERRUPTED,
            message=None,
            served_model=word(self._model),
            provider_response_id=word(self._id),
        )
        if self._has_started:
            answer.message = MessageDraft(Role.ASSISTANT)
            end_answer(answer, self._stop_reason, self._stop_details)
            self._write_parts(answer, blocks)
            self._check_end(answer, blocks)
            self._price(answer)
        if not self._has_begun:
            answer.notes.append("the stream has no beginning")
        if self._error is not None:
            fail(answer, self._error)
        if answer.message is not None and not answer.message.parts and not answer.stop_reason:
            answer.message = None
        answer.notes += self._notes
        return answer

    def _take(self, kind: str, value: Mapping[str, object], data: str) -> None:
        match kind:
            case "message_start":
                self._start(_message_of(value))
            case "content_block_start":
                self._start_block(value, data)
            case "content_block_delta":
                self._add_delta(value)
            case "content_block_stop":
                if block := self._block(value):
                    block.is_closed = True
            case "message_delta":
                self._end(value)
            case "message_stop":
                self._is_stopped = True
            case "error":
                self._error = value.get("error") or value

    def _pass_over(self, kind: str, value: Mapping[str, object]) -> None:
        """What follows the closing event: a second delivery changes nothing."""
        if kind == "message_start" and self._is_other(_message_of(value)):
            self._note("another message follows the closing event; it was passed over")

    def _note(self, note: str) -> None:
        self._notes.setdefault(note)

    def _put(self, place: int, block: _Block) -> _Block:
        self._blocks[place] = block
        self._last_place = max(self._last_place, place)
        return block

    def _is_other(self, message: Mapping[str, object]) -> bool:
        return str(message.get("id") or "") != self._id

    def _start(self, message: Mapping[str, object]) -> None:
        if self._blocks and self._is_other(message):
            self._note(f"the stream began again: {len(self._blocks)} blocks of {self._id} were dropped")
            self._blocks.clear()
            self._places.clear()
            self._last_place = -1
        self._is_repeated = self._is_repeated or bool(self._blocks)
        self._has_begun = self._has_started = True
        self._id = str(message.get("id") or "")
        self._model = str(message.get("model") or "")
        usage = message.get("usage")
        self._usage.update(usage if isinstance(usage, Mapping) else {})

    def _start_block(self, value: Mapping[str, object], data: str) -> None:
        index = value.get("index")
        block = slice_json(data, _START).value("content_block")
        if not isinstance(index, int) or not isinstance(block, Sliced):
            return
        self._has_started = True
        members = {m.key: data[m.value_start : m.end] for m in block.members}
        self._put(self._place_for(index), _Block(members, str(block.value("type") or "")))
        if block.value("type") == "fallback":
            target = block.value("to")
            if isinstance(target, Mapping) and isinstance(target.get("model"), str):
                self._model = target["model"]

    def _place_for(self, index: int) -> int:
        """Where a block that begins at `index` goes: beside one that was closed there, not in its stead."""
        place = self._places.get(index, index)
        before = self._blocks.get(place)
        if before is not None and before.is_closed and not self._is_repeated:
            place = self._last_place + 1
            self._note(f"several blocks came at index {index}; all are kept")
        self._places[index] = place
        return place

    def _add_delta(self, value: Mapping[str, object]) -> None:
        delta = value.get("delta")
        if not isinstance(delta, Mapping):
            return
        kind = delta.get("type")
        if not isinstance(kind, str):
            # Seen from gateways: the delta's type left out.
            kind = "text_delta" if "text" in delta else ""
        block = self._block(value) or self._begin_block(kind)
        if block is None:
            return
        if name := _TEXT_DELTAS.get(kind):
            block.appended.setdefault(name, []).append(str(delta.get(name) or ""))
        elif kind == "input_json_delta":
            block.arguments.append(str(delta.get("partial_json") or ""))
        elif kind == "citations_delta":
            block.citations.append(write_value(delta.get("citation")))
        else:
            for name in _ASSIGNED.get(kind, ()):
                if name in delta:
                    block.members[name] = write_value(delta[name])

    def _begin_block(self, delta_kind: str) -> _Block | None:
        """A block whose start was lost: its words are kept all the same."""
        kind = _TEXT_DELTAS.get(delta_kind)
        if kind is None:
            self._note("a piece of a block without its start was passed over")
            return None
        self._has_started = True
        return self._put(self._last_place + 1, _Block({"type": write_text(kind), kind: '""'}, kind))

    def _end(self, value: Mapping[str, object]) -> None:
        self._has_started = True
        delta = value.get("delta")
        if isinstance(delta, Mapping):
            self._stop_reason = delta.get("stop_reason") or self._stop_reason
            self._stop_details = delta.get("stop_details") or self._stop_details
        usage = value.get("usage")
        if isinstance(usage, Mapping):
            # Totals so far, not increments; what is left out keeps its value.
            self._usage.update({name: count for name, count in usage.items() if count is not None})
            self._has_final_usage = self._has_final_usage or usage.get("output_tokens") is not None

    def _block(self, value: Mapping[str, object]) -> _Block | None:
        index = value.get("index")
        if isinstance(index, int):
            return self._blocks.get(self._places.get(index, index))
        return self._blocks.get(self._last_place)

    def _write_parts(self, answer: ParsedResponse, blocks: list[_Block]) -> None:
        text = write_list([block.write() for block in blocks])
        listed, end = read_list()(text, 0)
        content = Member("content", 0, 0, end, listed)
        parts, _ = cut_content(text, content, rules=RULES, role=Role.ASSISTANT, style=COMPACT)
        settle_calls(parts)
        for part, block in zip(parts, blocks, strict=True):
            if block.is_call and not block.is_whole_call():
                cut_last_call(answer, part)
        if answer.status == GenerationStatus.TRUNCATED and blocks and not "".join(blocks[-1].arguments):
            cut_last_call(answer, parts[-1])
        if answer.message is not None:
            answer.message.parts = parts

    def _check_end(self, answer: ParsedResponse, blocks: list[_Block]) -> None:
        if not self._is_stopped and answer.stop_reason:
            answer.notes.append("the closing event is missing")
        if blocks and blocks[-1].kind == "thinking" and not blocks[-1].is_closed:
            answer.notes.append("the last thinking block was cut off: it is not signed")

    def _price(self, answer: ParsedResponse) -> None:
        read_usage(answer, self._usage)
        if answer.usage is not None and not self._has_final_usage:
            # The count in the first event is a placeholder.
            answer.usage.output = None
            answer.notes.append("the final usage never arrived")


def _message_of(value: Mapping[str, object]) -> Mapping[str, object]:
    """The message that begins. Seen from gateways: its members in the event itself."""
    message = value.get("message")
    return message if isinstance(message, Mapping) else value


def read_stream(events: Iterable[Event]) -> ParsedResponse:
    """The answer that a recorded stream amounts to."""
    stream = AnthropicStream()
    for event in events:
        stream.feed(event)
    return stream.finish()
