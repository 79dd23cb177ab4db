"""The items of a session, and the messages of the store that they become.

What the model did in one go is one message; the outputs of its calls are one message each; all else
is a message by itself. The store keeps a conversation in which every call is answered before it
goes on. What an application may put into a session beside that (a call that was passed over, an
output without its call) is kept whole in a block of a type of its own, and given back as it was.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

WRAPPED: Final = "agents_item"
MARKER: Final = "agents_session"

# The names that the store reads items by: docs/wire-formats.md.
_CALLS: Final = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "computer_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "tool_search_call",
    }
)
_OUTPUTS: Final = frozenset({f"{name}_output" for name in _CALLS} | {"tool_search_output"})
_MODELS_OWN: Final = frozenset(
    {
        "reasoning",
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "program",
        "program_output",
        "compaction",
    }
)
_ROLES: Final = frozenset({"user", "system", "developer"})
_LONGEST_ID: Final = 255


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the store: its items as they are, and as the blocks that they are stored as."""

    role: str
    items: tuple[Any, ...]
    blocks: tuple[str, ...]

    @property
    def spelt(self) -> frozenset[str]:
        """The items by their spelling: what `unfit` of `messages_of` takes."""
        return frozenset(map(_dump, self.items))


def messages_of(items: Sequence[Any], *, unfit: Collection[str] = ()) -> list[Said]:
    """Return the messages that a stretch of a session is stored as.

    Calls of its last group may stand open: their outputs may yet come. All other calls without an
    output are wrapped, as are outputs that answer no call of the group before them, and the items
    whose spelling is in `unfit`: those that the store has refused as they are.
    """
    return _Planner(unfit).messages(items)


class _Planner:
    def __init__(self, unfit: Collection[str]) -> None:
        self._unfit = unfit

    def messages(self, items: Sequence[Any]) -> list[Said]:
        messages: list[Said] = []
        position = 0
        while position < len(items):
            run = list(takewhile(_is_models, items[position:]))
            if not run:
                messages.append(self._alone(items[position]))
                position += 1
                continue
            position += len(run)
            calls = {_call_id(item) for item in run if self._is_call(item)} - {""}
            outputs: dict[str, Any] = {}
            for item in items[position:]:
                call_id = self._answered(item)
                if call_id not in calls or call_id in outputs:
                    break
                outputs[call_id] = item
            position += len(outputs)
            messages.append(self._turn(run, calls if position == len(items) else set(outputs)))
            messages += [Said("tool", (item,), (_dump(item),)) for item in outputs.values()]
        return messages

    def _turn(self, run: Sequence[Any], kept: set[str]) -> Said:
        """Put what the model did in one go into one message; a call id counts once in it."""
        blocks: list[str] = []
        left = set(kept)
        for item in run:
            is_whole = self._is_fit(item) and (not _is_call(item) or _call_id(item) in left)
            left.discard(_call_id(item) if is_whole else "")
            blocks.append(_dump(item) if is_whole else _wrap(item))
        return Said("assistant", tuple(run), tuple(blocks))

    def _alone(self, item: Any) -> Said:
        role = item.get("role") if isinstance(item, Mapping) else None
        if role not in _ROLES or _kind(item) not in ("", "message") or not self._is_fit(item):
            return Said(_wrapping_role(item), (item,), (_wrap(item),))
        return Said(str(role), (item,), (_dump(item),))

    def _is_call(self, item: Any) -> bool:
        return _is_call(item) and self._is_fit(item)

    def _answered(self, item: Any) -> str:
        """Return the id of the call that an item is the output of; nothing for all else."""
        is_output = _kind(item) in _OUTPUTS and not is_users(item) and self._is_fit(item)
        return _call_id(item) if is_output else ""

    def _is_fit(self, item: Any) -> bool:
        return not self._unfit or _dump(item) not in self._unfit


def items_of(listed: Sequence[Any]) -> list[Any]:
    """Return the items as they were given, of the items that the store writes into a body."""
    return [_unwrap(item) for item in listed if not is_marker(item)]


def is_marker(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("type") == MARKER


def is_users(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("role") == "user"


def _is_models(item: Any) -> bool:
    """Whether the item is the model's: its calls too, wherever they run."""
    kind = _kind(item)
    if is_users(item):
        return False
    if kind in ("", "message"):
        return isinstance(item, Mapping) and item.get("role") == "assistant"
    return kind in _CALLS or kind in _MODELS_OWN or (kind in _OUTPUTS and _runs_at_provider(item))


def _is_call(item: Any) -> bool:
    return _kind(item) in _CALLS and not _runs_at_provider(item)


def _call_id(item: Any) -> str:
    found = item.get("call_id") if isinstance(item, Mapping) else None
    return found if isinstance(found, str) and len(found) <= _LONGEST_ID else ""


def _kind(item: Any) -> str:
    kind = item.get("type") if isinstance(item, Mapping) else None
    return kind if isinstance(kind, str) else ""


def _runs_at_provider(item: Mapping[str, Any]) -> bool:
    if _kind(item) in ("tool_search_call", "tool_search_output"):
        return item.get("execution") != "client"
    environment = item.get("environment")
    kind = environment.get("type") if isinstance(environment, Mapping) else None
    return isinstance(kind, str) and kind.startswith("container")


def _wrap(item: Any) -> str:
    return json.dumps({"type": WRAPPED, "role": _wrapping_role(item), "json": json.dumps(item)})


def _wrapping_role(item: Any) -> str:
    if _is_models(item):
        return "assistant"
    return "user" if is_users(item) else "developer"


def _unwrap(item: Any) -> Any:
    if isinstance(item, Mapping) and item.get("type") == WRAPPED:
        return json.loads(item["json"])
    return item


def _dump(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False)
