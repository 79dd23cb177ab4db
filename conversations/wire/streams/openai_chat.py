"""The chunks of OpenAI's Chat Completions format.

Each chunk carries pieces of each choice's message: strings append, calls are
merged by index. The last chunk has the usage, if it was asked for, and no
choices; `[DONE]` closes the stream.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from conversations.drafts import MessageDraft
from conversations.vocabulary import GenerationStatus
from conversations.wire.answers import fail
from conversations.wire.chat_answers import read_answer
from conversations.wire.shapes import ParsedResponse, WireError
from conversations.wire.streams.events import DONE, Event, plain_error
from conversations.wire.streams.raw_json import Pieces, read_event, write_value

type Json = dict[str, object]

# Sent once; providers that repeat them in every chunk mean the same value again.
_SENT_ONCE = frozenset({"id", "type", "index", "role"})


@dataclass(slots=True)
class _Calls:
    """The calls of one index: one, but for gateways that send several whole ones there.

    Every question about them is asked of each piece, so that none may look through them all.
    """

    calls: list[Json] = field(default_factory=list)
    by_id: dict[str, Json] = field(default_factory=dict)

    def add(self, piece: Json) -> None:
        """Put a piece behind the call that it belongs to: by its id, else by a new id, else the last one."""
        given = _id_of(piece)
        if not self.calls or self.is_another(piece):
            self.calls.append({})
        call = self.by_id.get(given, self.calls[-1])
        _append(call, piece)
        if own := _id_of(call):
            self.by_id.setdefault(own, call)

    def is_another(self, piece: Json) -> bool:
        """Whether a piece begins a call beside these: a name with another id, and none waits for its id."""
        function = piece.get("function") or piece.get("custom")
        names = isinstance(function, dict) and function.get("name")
        given = _id_of(piece)
        # A call is begun beside another only with an id, so that the first alone can wait for one.
        is_waiting = bool(self.calls) and not _id_of(self.calls[0])
        return bool(given and names) and not is_waiting and given not in self.by_id


def _id_of(call: Json) -> str:
    given = call.get("id")
    return given if isinstance(given, str) else write_value(given) if given else ""


@dataclass(slots=True)
class _Choice:
    message: Json = field(default_factory=dict)
    calls: dict[int, _Calls] = field(default_factory=dict)
    index_of: dict[str, int] = field(default_factory=dict)
    last_index: int = -1
    finish_reason: object = None

    def add(self, piece: Json) -> None:
        """Put a piece of a call where its index says, else where its id is, else with the last call."""
        index, given = piece.get("index"), _id_of(piece)
        if not isinstance(index, int):
            last = self.calls.get(self.last_index)
            index = self.last_index + (last is None or last.is_another(piece))
            index = self.index_of.get(given, index)
        self.last_index = max(self.last_index, index)
        self.calls.setdefault(index, _Calls()).add(piece)
        if given:
            self.index_of.setdefault(given, index)

    def write(self, index: int) -> Json:
        """The choice as an answer that was not streamed has it."""
        said = dict(self.message)
        message: Json = {"role": said.pop("role", None) or "assistant", "content": said.pop("content", None)}
        calls = [call for index in sorted(self.calls) for call in self.calls[index].calls]
        if calls:
            message["tool_calls"] = [{k: v for k, v in call.items() if k != "index"} for call in calls]
        message |= {name: value for name, value in said.items() if value not in (None, [])}
        return {"index": index, "message": message, "finish_reason": self.finish_reason}


class ChatStream:
    """Accumulates chunks; `finish` may be called at any time."""

    def __init__(self) -> None:
        self._choices: dict[int, _Choice] = {}
        self._head: Json = {}
        self._usage: object = None
        self._error: object = None
        self._is_done = False
        self._notes: list[str] = []

    def feed(self, event: Event) -> None:
        """Take one event; what cannot be read is noted and passed over."""
        if self._is_done:
            return
        if event.data.strip() == DONE:
            self._is_done = True
            return
        try:
            chunk = read_event(event.data)
        except WireError as error:
            self._error = self._error or plain_error(event)
            self._notes.append(f"an event could not be read: {error}")
            return
        if isinstance(chunk, dict):
            self._take(chunk)

    def finish(self) -> ParsedResponse:
        """The answer as far as it arrived."""
        choices = [self._choices[index].write(index) for index in sorted(self._choices)]
        answer = read_answer(write_value({**self._head, "choices": choices, "usage": self._usage}))
        if answer.stop_reason and not self._is_done:
            answer.notes.append("the closing [DONE] is missing")
        elif self._is_done and not answer.stop_reason and answer.message is not None:
            # Seen from gateways: closed in good order, but never said why.
            answer.status = GenerationStatus.COMPLETE
        if self._error is not None:
            fail(answer, self._error)
        if answer.status != GenerationStatus.COMPLETE and not _says_anything(answer.message):
            answer.message = None
        answer.notes += self._notes
        return answer

    def _take(self, chunk: Json) -> None:
        if chunk.get("error") is not None:
            self._error = chunk["error"]
        for name in ("id", "model", "service_tier"):
            if isinstance(chunk.get(name), str) and chunk[name]:
                self._head[name] = chunk[name]
        if isinstance(chunk.get("usage"), dict):
            self._usage = chunk["usage"]
        listed = chunk.get("choices")
        for entry in listed if isinstance(listed, list) else []:
            if isinstance(entry, dict):
                self._take_choice(entry)

    def _take_choice(self, entry: Json) -> None:
        index = entry.get("index")
        choice = self._choices.setdefault(index if isinstance(index, int) else 0, _Choice())
        delta = entry.get("delta")
        if isinstance(delta, dict):
            calls = delta.pop("tool_calls", None)
            _append(choice.message, delta)
            for call in calls if isinstance(calls, list) else []:
                if isinstance(call, dict):
                    choice.add(call)
        choice.finish_reason = entry.get("finish_reason") or choice.finish_reason


def _says_anything(message: MessageDraft | None) -> bool:
    return message is not None and any(part.text or part.payload for part in message.parts)


def _append(whole: Json, delta: Json) -> None:
    """Put a delta's pieces behind what is there: strings append, objects merge, lists grow."""
    for name, piece in delta.items():
        before = whole.get(name)
        if before is None or name in _SENT_ONCE:
            # Seen from gateways: what was sent once comes again empty.
            if piece not in (None, "") or name not in whole:
                whole[name] = piece
        elif isinstance(before, Pieces) and isinstance(piece, str):
            before.add(piece)
        elif isinstance(before, str) and isinstance(piece, str):
            if not (name == "name" and piece == before):
                whole[name] = Pieces(before, piece)
        elif isinstance(before, dict) and isinstance(piece, dict):
            _append(before, piece)
        elif isinstance(before, list) and isinstance(piece, list):
            before.extend(piece)
        elif piece is not None:
            whole[name] = piece


def read_stream(events: Iterable[Event]) -> ParsedResponse:
    """The answer that a recorded stream amounts to."""
    stream = ChatStream()
    for event in events:
        stream.feed(event)
    return stream.finish()
