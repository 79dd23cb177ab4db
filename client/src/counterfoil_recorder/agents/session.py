"""A session of the OpenAI Agents SDK that is kept in the store."""

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from agents.memory import SessionSettings

from counterfoil_recorder.agents.branches import Branches
from counterfoil_recorder.agents.conversation import Conversation
from counterfoil_recorder.agents.store_api import api_of
from counterfoil_recorder.agents.transcript import Transcript
from counterfoil_recorder.errors import ConfigurationError

P = ParamSpec("P")
T = TypeVar("T")


class CounterfoilSession:
    """The SDK's `Session`, and the branches of its `AdvancedSQLiteSession`, over the store's API.

    `account` is your own id for the customer (`label` is kept with a new one only); `session_id` is
    yours too, once for each account. `url` and `key` (scopes “read” and “write”) are taken from
    COUNTERFOIL_URL and COUNTERFOIL_KEY where they are not given. `timeout` is for one request;
    while the store does not answer, each is repeated for up to `patience` seconds, and then
    StoreUnavailable is raised. What the store refuses for good is SessionRefused.

    What is done with one object is done in the order in which it was asked for. Objects of several
    processes may have the same session at once.
    """

    def __init__(
        self,
        session_id: str,
        *,
        account: str,
        label: str = "",
        url: str | None = None,
        key: str | None = None,
        timeout: float = 10.0,
        patience: float = 10.0,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings: SessionSettings | None = _settings(session_settings)
        api = api_of(
            url=_given(url, "COUNTERFOIL_URL"),
            key=_given(key, "COUNTERFOIL_KEY"),
            timeout=timeout,
            patience=patience,
        )
        self._conversation = Conversation(api, session_id=session_id, account=account, label=label)
        self._transcript = Transcript(self._conversation)
        self._branches = Branches(self._conversation)
        # One thread, so that work is done in order, whichever event loop asks for it.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="counterfoil-session")

    async def get_items(self, limit: int | None = None, branch_id: str | None = None) -> list[Any]:
        """Return the last `limit` items, oldest first: as many as the settings say, or all, without one."""
        settings = self.session_settings
        most = settings.limit if limit is None and settings is not None else limit
        if most == 0:
            return []
        items = await self._run(self._branches.items, branch_id)
        return items if most is None or most < 0 else items[-most:]

    async def add_items(self, items: list[Any]) -> None:
        """Write items behind the last one. When it returns, they are in the store."""
        if items:
            await self._run(self._transcript.add, list(items))

    async def pop_item(self) -> Any | None:
        """Take the last item off the session and return it. In the store it stays, on a branch."""
        return await self._run(self._transcript.pop)

    async def clear_session(self) -> None:
        """Begin anew, in the same conversation. Nothing is deleted: retention and erasure do that."""
        await self._run(self._branches.clear)

    async def create_branch_from_turn(self, turn_number: int, branch_name: str | None = None) -> str:
        """Begin a branch that holds what came before the turn (from 1), switch to it, and return its name."""
        return await self._run(self._branches.create_from_turn, turn_number, branch_name)

    async def create_branch_from_content(self, search_term: str, branch_name: str | None = None) -> str:
        """The same, from the first turn whose user item holds the words."""
        return await self._run(self._branches.create_from_content, search_term, branch_name)

    async def switch_to_branch(self, branch_id: str) -> None:
        """Go on with another branch; ValueError where there is none of this name.

        This moves the head in the store: every object that has this session follows.
        """
        await self._run(self._branches.switch, branch_id)

    async def delete_branch(self, branch_id: str, force: bool = False) -> None:
        """Take a branch off the list; with `force` the current one too, which goes back to `main`."""
        await self._run(self._branches.delete, branch_id, force=force)

    async def list_branches(self) -> list[dict[str, Any]]:
        """Return `branch_id`, `message_count`, `user_turns`, `is_current`, `created_at` of each branch."""
        return await self._run(self._branches.all)

    async def get_conversation_turns(self, branch_id: str | None = None) -> list[dict[str, Any]]:
        """Return `turn`, `content`, `full_content`, `timestamp`, `can_branch` of each user item."""
        return await self._run(self._branches.turns, branch_id)

    async def find_turns_by_content(
        self, search_term: str, branch_id: str | None = None
    ) -> list[dict[str, Any]]:
        """Return the turns whose user item holds the words, whatever their case."""
        return await self._run(self._branches.find_turns, search_term, branch_id)

    async def conversation_id(self) -> str:
        """Return the store's id of the conversation: what the console's search box takes."""
        return await self._run(lambda: self._conversation.id)

    def close(self) -> None:
        """Let go of the object's thread, once what was asked for is done. Connections are the process's."""
        self._worker.shutdown(wait=False)

    async def _run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do the work in the object's thread; a caller who is cancelled waits until it is done too.

        Half of an addition would be worse than a late one.
        """
        doing = asyncio.wrap_future(self._worker.submit(work, *args, **kwargs))
        cancelled: asyncio.CancelledError | None = None
        while not doing.done():
            try:
                await asyncio.wait({doing})
            except asyncio.CancelledError as error:
                cancelled = cancelled or error
        if cancelled is not None:
            doing.exception()  # it has been looked at
            raise cancelled
        return doing.result()


def _settings(given: SessionSettings | dict[str, Any] | None) -> SessionSettings:
    if isinstance(given, SessionSettings):
        return given
    return SessionSettings(**(given or {}))


def _given(value: str | None, name: str) -> str:
    found = value or os.environ.get(name, "")
    if not found:
        raise ConfigurationError(f"{name} is not set, and nothing was given in its place")
    return found
