"""One way to tell an ordinary conversation, whichever API it ran over."""

from abc import ABC, abstractmethod
from datetime import datetime

from samples.company import chat_api, messages_api, responses_api
from samples.company.shop import PROMPT, tools_for_messages, tools_for_openai
from samples.company.story import Clock, Exchange
from samples.company.talk import Talk

TOOLS = ("find_booking", "get_booking", "search_trips", "get_weather", "purchase_credits", "book_rail")


class Narrator[T: Talk](ABC):
    """What a teller needs of a conversation; `mark` and `back_to` are how an edit is told."""

    talk: T

    @abstractmethod
    def look_up(
        self, name: str, arguments: dict[str, object], found: str, *, is_error: bool, took: float
    ) -> None: ...
    @abstractmethod
    def reply(self, words: str, *, take: float) -> None: ...
    @abstractmethod
    def overload(self) -> None: ...

    def ask(self, words: str, *, after: float) -> None:
        self.talk.say(words, after=after)

    def mark(self) -> int:
        return len(self.talk.history)

    def back_to(self, mark: int) -> None:
        self.talk.go_back(mark)

    def exchanges(self) -> list[Exchange]:
        return self.talk.exchanges


class MessagesNarrator(Narrator[messages_api.MessagesTalk]):
    def __init__(self, *, key: str, start: datetime, model: str, is_stream: bool) -> None:
        self.talk = messages_api.MessagesTalk(
            key=key,
            clock=Clock(start),
            model=model,
            system=PROMPT,
            tools=tools_for_messages(*TOOLS),
            is_stream=is_stream,
        )

    def look_up(
        self, name: str, arguments: dict[str, object], found: str, *, is_error: bool, took: float
    ) -> None:
        call = self.talk.call(name, **arguments)
        self.talk.answer(messages_api.text("Let me look."), call, take=1.6)
        self.talk.give(messages_api.result(call, found, is_error=is_error), after=took)

    def reply(self, words: str, *, take: float) -> None:
        self.talk.answer(messages_api.text(words), take=take)

    def overload(self) -> None:
        self.talk.fail(529, "overloaded_error", "Overloaded")


class ChatNarrator(Narrator[chat_api.ChatTalk]):
    def __init__(self, *, key: str, start: datetime, model: str, is_stream: bool) -> None:
        self.talk = chat_api.ChatTalk(
            key=key,
            clock=Clock(start),
            model=model,
            system=PROMPT,
            tools=tools_for_openai(*TOOLS),
            is_stream=is_stream,
        )

    def look_up(
        self, name: str, arguments: dict[str, object], found: str, *, is_error: bool, took: float
    ) -> None:
        call = self.talk.call(name, **arguments)
        self.talk.answer("", call, take=1.3)
        # This API has no mark for a failed call; the words have to say it.
        self.talk.give(call, f"error: {found}" if is_error else found, after=took)

    def reply(self, words: str, *, take: float) -> None:
        self.talk.answer(words, take=take)

    def overload(self) -> None:
        self.talk.fail(429, "requests", "Rate limit reached for requests", code="rate_limit_exceeded")


class ResponsesNarrator(Narrator[responses_api.ResponsesTalk]):
    def __init__(self, *, key: str, start: datetime, model: str, is_stream: bool) -> None:
        self.talk = responses_api.ResponsesTalk(
            key=key,
            clock=Clock(start),
            model=model,
            instructions=PROMPT,
            tools=tools_for_openai(*TOOLS),
            is_stream=is_stream,
        )

    def look_up(
        self, name: str, arguments: dict[str, object], found: str, *, is_error: bool, took: float
    ) -> None:
        call = self.talk.call(name, **arguments)
        self.talk.answer(call, take=1.4)
        self.talk.give(responses_api.output(call, f"error: {found}" if is_error else found), after=took)

    def reply(self, words: str, *, take: float) -> None:
        self.talk.answer(self.talk.words(words), take=take)

    def overload(self) -> None:
        self.talk.fail(429, "requests", "Rate limit reached for requests", code="rate_limit_exceeded")
