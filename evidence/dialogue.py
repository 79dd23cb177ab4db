"""A customer's conversation with a model, made up from a seed: what is asked, answered and called.

The sizes are those of a busy support desk: texts of 100 to 800 bytes, tool
payloads of 200 to 2,000, every call its own id. The script is neutral: `evidence.clients`
writes it in a provider's own JSON.
"""

import json
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass, field

_CONSONANTS, _VOWELS = "bcdfghklmnprstvz", "aeiou"
_TOOLS = ("lookup_order", "refund_order", "search_catalogue", "create_ticket")
_MARKS = ("é", "ß", "—", "中文", "🍸", "\n", '"quoted"', "\\", "</script>")


@dataclass(slots=True)
class Call:
    id: str
    name: str
    arguments: dict[str, object]
    result: str


@dataclass(slots=True)
class Answer:
    """What the model says in one go; `thinking` is signed and means nothing to us."""

    text: str
    thinking: str
    signature: str
    calls: list[Call] = field(default_factory=list)


@dataclass(slots=True)
class Turn:
    """One request's worth: the customer's words or the results of the calls before, then the answer."""

    question: str | None
    results: list[Call]
    answer: Answer


class Author:
    """Makes up words, ids and payloads; the same seed makes the same ones."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._words = [self._word() for _ in range(2000)]

    def _word(self) -> str:
        pick = self._random.choice
        return "".join(pick(_CONSONANTS) + pick(_VOWELS) for _ in range(self._random.randint(1, 4)))

    def text(self, smallest: int = 100, largest: int = 800) -> str:
        size = self._random.randint(smallest, largest)
        words: list[str] = []
        length = 0
        while length < size:
            word = self._random.choice(self._words if self._random.random() > 0.02 else _MARKS)
            words.append(word)
            length += len(word) + 1
        return " ".join(words)[:size].strip() or "ok"

    def token(self, prefix: str, length: int = 24) -> str:
        return prefix + "".join(self._random.choices(string.ascii_letters + string.digits, k=length))

    def payload(self, smallest: int = 200, largest: int = 2000) -> dict[str, object]:
        size = self._random.randint(smallest, largest)
        payload: dict[str, object] = {}
        length = 0
        while length < size:
            key, value = self._random.choice(self._words), self._value()
            payload[key] = value
            length += len(key) + len(str(value)) + 6
        return payload

    def _value(self) -> object:
        kind = self._random.randrange(6)
        if kind == 0:
            return self._random.randint(0, 10**9)
        if kind == 1:
            return self._random.randint(0, 10**6) / 100
        if kind == 2:
            return self._random.choice([True, False, None])
        if kind == 3:
            return [self._random.choice(self._words) for _ in range(self._random.randint(0, 4))]
        return self.text(5, 120)

    def call(self) -> Call:
        result = json.dumps(self.payload(), ensure_ascii=False)
        return Call(self.token("toolu_01"), self._random.choice(_TOOLS), self.payload(), result)

    def turns(self, count: int) -> Iterator[Turn]:
        """Give `count` turns: a question, then rounds of calls until the model only speaks."""
        open_calls: list[Call] = []
        for number in range(count):
            calls_again = self._random.random() < (0.7 if not open_calls else 0.35)
            calls = [self.call() for _ in range(self._random.choice((1, 1, 2, 3)))] if calls_again else []
            answer = Answer(self.text(), self.text(60, 300), self.token("", 120), calls)
            # A customer may add a word while results go back.
            speaks = not open_calls or (number % 7 == 3)
            yield Turn(self.text() if speaks else None, open_calls, answer)
            open_calls = calls
