"""The events of OpenAI's Responses format.

Items and their pieces come by index; each is repeated whole when it is done,
and the closing event repeats the whole answer, which then counts. Before that,
what arrived is put together from the pieces.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from conversations.vocabulary import GenerationStatus
from conversations.wire.answers import fail
from conversations.wire.responses_answers import cut_unfinished_calls, read_answer
from conversations.wire.shapes import ParsedResponse, WireError
from conversations.wire.slices import Sliced, read_list, slice_json
from conversations.wire.streams.events import DONE, Event, plain_error
from conversations.wire.streams.raw_json import Pieces, read_event, write_list, write_value

type Json = dict[str, object]

_ENDINGS = ("completed", "incomplete", "failed", "cancelled")
# Where a string's pieces go: the item's member itself.
_ITEM_STRINGS = {
    "function_call_arguments": "arguments",
    "mcp_call_arguments": "arguments",
    "custom_tool_call_input": "input",
    "code_interpreter_call_code": "code",
}
# Where a string's pieces go: into the block of a list, found by the event's index.
_BLOCK_STRINGS = {
    "output_text": ("content", "content_index", "text", "output_text"),
    "refusal": ("content", "content_index", "refusal", "refusal"),
    "reasoning_text": ("content", "content_index", "text", "reasoning_text"),
    "reasoning_summary_text": ("summary", "summary_index", "text", "summary_text"),
}
_PARTS = {
    "content_part": ("content", "content_index"),
    "reasoning_summary_part": ("summary", "summary_index"),
}


@dataclass(slots=True)
class _Item:
    """An item on its way; `done` is its final JSON text."""

    value: Json
    done: str | None = None

    def write(self) -> str:
        return self.done if self.done is not None else write_value(self.value)


class ResponsesStream:
    """Accumulates events; `finish` may be called at any time."""

    def __init__(self) -> None:
        self._items: dict[int, _Item] = {}
        # Where items of an id stand, for events that do not tell their index.
        self._place_by_id: dict[str, int] = {}
        self._last_place = -1
        self._head: Json = {}
        self._ending = ""
        self._closing: str | None = None
        self._error: object = None
        self._notes: list[str] = []

    def feed(self, event: Event) -> None:
        """Take one event; what cannot be read is noted and passed over."""
        if event.data.strip() == DONE:
            return
        try:
            value = read_event(event.data)
            if isinstance(value, dict):
                self._take(str(value.get("type") or event.name), value, event.data)
        except WireError as error:
            self._error = self._error or plain_error(event)
            self._notes.append(f"an event could not be read: {error}")

    def finish(self) -> ParsedResponse:
        """The answer as far as it arrived."""
        answer = self._read_pieces() if self._closing is None else self._read_closing(self._closing)
        if self._error is not None:
            fail(answer, self._error)
        answer.notes += self._notes
        return answer

    def _read_closing(self, closing: str) -> ParsedResponse:
        answer = read_answer(restore_streamed(closing, self._items), ending=self._ending)
        if answer.message is None and self._items:
            # Seen from gateways: the closing event without the items that were streamed.
            answer.message = self._read_pieces().message
        return answer

    def _read_pieces(self) -> ParsedResponse:
        items = [self._items[index] for index in sorted(self._items)]
        told: Json = {} if self._ending else {"error": None, "incomplete_details": None}
        head = {name: value for name, value in (self._head | told).items() if name != "output"}
        listed = write_list([item.write() for item in items])
        members = [write_value(head)[1:-1], f'"output":{listed}']
        answer = read_answer("{" + ",".join(filter(None, members)) + "}", ending=self._ending)
        cut_unfinished_calls(answer, [item.value for item in items if item.done is None])
        if self._ending:
            return answer
        answer.status = GenerationStatus.INTERRUPTED
        answer.stop_reason = ""
        answer.notes.append("the closing event is missing")
        return answer

    def _take(self, kind: str, value: Json, data: str) -> None:
        if kind == "error":
            self._error = value.get("error") or value
        elif self._ending:
            return  # a second delivery changes nothing
        elif kind.startswith("response."):
            name = kind.removeprefix("response.")
            if name in _ENDINGS:
                self._take_closing(name, value, data)
            elif "response" in value and "." not in name:
                self._take_head(value["response"])
            elif name in ("output_item.added", "output_item.done"):
                self._take_item(value, data, is_done=name.endswith("done"))
            else:
                self._take_piece(name, value)

    def _take_closing(self, ending: str, value: Json, data: str) -> None:
        response = value.get("response", value)
        self._ending = ending
        self._head.pop("status", None)
        self._take_head(response)
        # Seen from gateways: a closing event that does not repeat the answer; what was streamed counts then.
        if isinstance(response, dict) and isinstance(response.get("output"), list):
            self._closing = data if response is value else _slice_of(data, "response")

    def _take_head(self, response: object) -> None:
        if isinstance(response, dict):
            self._head.update(response)

    def _take_item(self, value: Json, data: str, *, is_done: bool) -> None:
        index, item = value.get("output_index"), value.get("item")
        if not isinstance(item, dict):
            return
        if isinstance(index, int):
            place = index
        elif is_done:
            place = self._place_of(item.get("id"))
        else:
            place = self._last_place + 1
        self._put(place, _Item(value=item, done=_slice_of(data, "item") if is_done else None))

    def _take_piece(self, name: str, value: Json) -> None:
        what, _, step = name.rpartition(".")
        if what in _PARTS and step == "added":
            listed, index_name = _PARTS[what]
            _block(self._item(value).value, listed, value.get(index_name), value.get("part"))
        elif what in _ITEM_STRINGS:
            self._take_item_string(_ITEM_STRINGS[what], step, value)
        elif what in _BLOCK_STRINGS and step == "delta":
            listed, index_name, member, kind = _BLOCK_STRINGS[what]
            start = {"type": kind, member: ""}
            block = _block(self._item(value, what).value, listed, value.get(index_name), start)
            _grow(block, member, value.get("delta"))
        elif what == "output_text.annotation" and step == "added":
            block = _block(self._item(value).value, "content", value.get("content_index"), None)
            annotations = block.setdefault("annotations", [])
            if isinstance(annotations, list):
                annotations.append(value.get("annotation"))

    def _take_item_string(self, member: str, step: str, value: Json) -> None:
        item = self._item(value)
        if step == "delta":
            _grow(item.value, member, value.get("delta"))
        elif step == "done" and isinstance(value.get(member), str):
            item.value[member] = value[member]

    def _item(self, value: Json, what: str = "") -> _Item:
        """The item that a piece belongs to; begins one where its start was lost."""
        index = value.get("output_index")
        place = index if isinstance(index, int) else self._place_of(value.get("item_id"))
        if place not in self._items:
            kind = "reasoning" if what.startswith("reasoning") else "message"
            start: Json = {"type": kind} if kind == "reasoning" else {"type": kind, "role": "assistant"}
            self._put(place, _Item(value=start))
        return self._items[place]

    def _put(self, place: int, item: _Item) -> None:
        self._items[place] = item
        self._last_place = max(self._last_place, place)
        if isinstance(given := item.value.get("id"), str):
            self._place_by_id.setdefault(given, place)

    def _place_of(self, item_id: object) -> int:
        """Where the item of an event without an index stands: by its id, else it is the last one."""
        named = self._place_by_id.get(item_id) if isinstance(item_id, str) and item_id else None
        return max(self._last_place, 0) if named is None else named


def _block(item: Json, listed: str, index: object, start: object) -> Json:
    """The block of an item's list at `index`, begun with `start` where it is not there yet."""
    blocks = item.get(listed)
    if not isinstance(blocks, list):
        blocks = item[listed] = []
    place = index if isinstance(index, int) and 0 <= index <= len(blocks) else max(len(blocks) - 1, 0)
    if place == len(blocks):
        blocks.append(dict(start) if isinstance(start, Mapping) else {})
    block = blocks[place]
    return block if isinstance(block, dict) else {}


def _grow(whole: Json, member: str, piece: object) -> None:
    before = whole.get(member)
    if not isinstance(before, Pieces):
        before = whole[member] = Pieces(before if isinstance(before, str) else "")
    if isinstance(piece, str):
        before.add(piece)


def restore_streamed(closing: str, streamed: Mapping[int, _Item]) -> str:
    """The closing answer, with items as they were streamed where only their encryption differs.

    Reasoning is encrypted anew for the closing event. Both are the same thought
    and both are valid, but what a client sends back is what it streamed.
    """
    listed = slice_json(closing, {"output": read_list()}).value("output")
    items = listed.items if isinstance(listed, Sliced) else []
    pieces: list[str] = []
    position = 0
    for index, item in enumerate(items):
        known = streamed.get(index)
        if known is None or known.done is None or not _is_same_thought(known.value, item.value):
            continue
        pieces += [closing[position : item.start], known.done]
        position = item.end
    return "".join([*pieces, closing[position:]])


def _is_same_thought(one: Json, other: object) -> bool:
    if not isinstance(other, dict) or not one.get("encrypted_content") or not other.get("encrypted_content"):
        return False
    return {**one, "encrypted_content": ""} == {**other, "encrypted_content": ""}


def _slice_of(data: str, name: str) -> str | None:
    """The JSON text of one member of an event."""
    member = slice_json(data, {}).last(name)
    return None if member is None else data[member.value_start : member.end]


def read_stream(events: Iterable[Event]) -> ParsedResponse:
    """The answer that a recorded stream amounts to."""
    stream = ResponsesStream()
    for event in events:
        stream.feed(event)
    return stream.finish()
