"""What the clients of every API share: a history, the clock of the story, and both sides written down."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import ClassVar

from conversations.vocabulary import Dialect
from samples.company.client_json import JsonWriter
from samples.company.story import Clock, Exchange, Mint

type Item = dict[str, object]


class Talk(ABC):
    """Keeps the history as an application does, sends it each time, and writes down both sides.

    `exchanges` grows by one with every attempt. An attempt that did not succeed
    leaves the history as it was, so that the next one sends it again.
    """

    provider: ClassVar[str]
    dialect: ClassVar[Dialect]
    # How the provider's ids of requests begin, and how many letters follow.
    request_ids: ClassVar[tuple[str, int]]

    def __init__(
        self,
        *,
        key: str,
        clock: Clock,
        model: str,
        tools: Sequence[Mapping[str, object]],
        write: JsonWriter,
        is_stream: bool,
        api_version: str = "",
        betas: tuple[str, ...] = (),
    ) -> None:
        self.clock = clock
        self.model = model
        self.mint = Mint(key)
        self.exchanges: list[Exchange] = []
        self.history: list[Item] = []
        self._key = key
        self._tools = list(tools)
        self._write = write
        self._is_stream = is_stream
        self._api_version = api_version
        self._betas = betas
        self._action = 0
        self._attempt = 0

    def say(self, content: str | list[Item], *, after: float = 40) -> None:
        """The customer speaks; the next answer is a new action of theirs."""
        self.clock.wait(after)
        self.history.append({"role": "user", "content": content})
        self._next_action()

    def go_back(self, messages: int) -> None:
        """Cut the history to its first `messages`: what follows is an edit or a regenerate."""
        del self.history[messages:]
        self._next_action()

    def time_out(self, *, take: float = 60) -> Exchange:
        """Nothing ever came back."""
        return self._exchange(None, status=None, take=take)

    @abstractmethod
    def request_body(self) -> bytes:
        """Return the body of the next request: the whole history, as the provider wants it."""

    def _next_action(self) -> None:
        self._action += 1
        self._attempt = 0

    def _exchange(
        self, body: bytes | None, *, status: int | None, take: float, request_id: str = ""
    ) -> Exchange:
        started = self.clock.now
        ended = self.clock.wait(take)
        self._attempt += 1
        action = f"{self._key}/{self._action}"
        exchange = Exchange(
            exchange_id=f"{action}/{self._attempt}",
            request_id=action,
            provider=self.provider,
            dialect=self.dialect,
            request=self.request_body(),
            response=body,
            is_stream=self._is_stream and status == 200,
            status_code=status,
            started_at=started,
            first_token_at=started + timedelta(seconds=take / 4) if status == 200 else None,
            ended_at=ended,
            api_version=self._api_version,
            beta_headers=self._betas,
            provider_request_id=request_id or (self.mint(*self.request_ids) if status else ""),
        )
        self.exchanges.append(exchange)
        return exchange
