"""What a story is made of: accounts, exchanges with a provider, and what people did between them."""

import hashlib
import string
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from conversations.vocabulary import Dialect

_LETTERS = string.digits + string.ascii_uppercase + string.ascii_lowercase


@dataclass(frozen=True, slots=True)
class Customer:
    """An account of the company; every address ends in example.com."""

    external_id: str
    name: str
    email: str
    realm: str = "wendelmere-eu"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One HTTP attempt at a provider, as bytes. No `response` means that none arrived."""

    exchange_id: str
    request_id: str
    provider: str
    dialect: Dialect
    request: bytes
    response: bytes | None
    is_stream: bool
    status_code: int | None
    started_at: datetime
    first_token_at: datetime | None
    ended_at: datetime
    api_version: str = ""
    beta_headers: tuple[str, ...] = ()
    provider_request_id: str = ""


@dataclass(frozen=True, slots=True)
class HeadSwitch:
    """The customer turned back to a version: the answer of an earlier exchange is on screen again."""

    exchange_id: str
    at: datetime


type Step = Exchange | HeadSwitch


@dataclass(slots=True)
class Story:
    """One conversation of one customer; `key` is the application's own name for it."""

    key: str
    title: str
    customer: Customer
    steps: Sequence[Step] = field(default_factory=list)
    prompt_version: str = ""

    @property
    def exchanges(self) -> list[Exchange]:
        return [step for step in self.steps if isinstance(step, Exchange)]


class Clock:
    """The time of a story; it moves only when the story says so."""

    def __init__(self, start: datetime) -> None:
        self.now = start

    def wait(self, seconds: float) -> datetime:
        self.now += timedelta(seconds=seconds)
        return self.now


class Mint:
    """Ids in a provider's fashion, the same ones for the same seed every time."""

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._count = 0

    def __call__(self, prefix: str, length: int = 22) -> str:
        self._count += 1
        digest = hashlib.sha512(f"{self._seed}/{self._count}".encode()).digest()
        number = int.from_bytes(digest)
        letters: list[str] = []
        while len(letters) < length:
            number, index = divmod(number, len(_LETTERS))
            letters.append(_LETTERS[index])
        return prefix + "".join(letters)


def estimated_tokens(text: str | bytes) -> int:
    """A count in the right order of magnitude: no tokenizer is needed to tell a story."""
    return max(1, len(text) // 4)
