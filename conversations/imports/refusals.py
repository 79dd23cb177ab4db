"""Formats that are known and not taken: named, so that the operator need not guess why."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from conversations.imports.drafting import as_dict, as_list
from conversations.imports.streams import Document, Record
from conversations.imports.table_rows import NOT_UTF8

_LONGEST_NAME: Final = 40
_JSON_SUFFIXES: Final = frozenset({".json", ".jsonl", ".ndjson"})


def _has(*keys: str) -> Callable[[dict[str, object]], bool]:
    return lambda value: all(key in value for key in keys)


def _is_codex(value: dict[str, object]) -> bool:
    return (
        value.get("type") in ("session_meta", "turn_context", "response_item", "event_msg")
        and "payload" in value
    )


def _is_gemini_cli(value: dict[str, object]) -> bool:
    messages = as_list(value.get("messages"))
    return any("type" in as_dict(message) and "role" not in as_dict(message) for message in messages[:3])


def _is_usage_record(value: dict[str, object]) -> bool:
    return "usage" in as_dict(value.get("message")) and "content" not in as_dict(value["message"])


def _is_sharegpt(value: dict[str, object]) -> bool:
    return any({"from", "value"} <= as_dict(said).keys() for said in as_list(value.get("conversations"))[:3])


def _is_langchain(value: dict[str, object]) -> bool:
    kind = value.get("type")
    return value.get("lc") == 1 or (
        kind in ("human", "ai", "system", "tool") and "content" in as_dict(value.get("data"))
    )


# The first that fits is said; the narrow ones stand first.
_SIGNS: Final[Sequence[tuple[str, Callable[[dict[str, object]], bool]]]] = (
    ("a Chatbot UI export", _has("version", "history")),
    ("a Google AI Studio prompt", _has("chunkedPrompt")),
    ("a Codex session", _is_codex),
    ("a SWE-agent trajectory", _has("trajectory", "history")),
    ("API-Bank dialogues", lambda value: "dialogue" in value and "file" in value),
    ("ABCD dialogues (human agents, no model)", _has("convo_id", "original")),
    ("Claude Code usage records, which hold no texts", _is_usage_record),
    ("a collection of sample records, not a session", _has("sample", "record")),
    (
        "Claude.ai projects, which hold no conversations",
        lambda value: "is_private" in value and "docs" in value,
    ),
    ("Claude.ai memories, which hold no conversations", _has("conversations_memory")),
    (
        "a list of users, which holds no conversations",
        lambda value: "email_address" in value or "phone_number" in value,
    ),
    ("ShareGPT dialogues", _is_sharegpt),
    ("a Grok export", _has("conversations")),
    ("a Claude Design session", _has("project", "messages")),
    ("an Antigravity session", _has("cascadeId")),
    ("a Gemini CLI session", _is_gemini_cli),
    ("a Hermes session", lambda value: str(value.get("producer", "")).startswith("hermes")),
    ("agent telemetry (ATOF)", _has("atof_version")),
    ("normalised session cards", lambda value: "provider_family" in value and "messages" in value),
    ("an issue tracker's events", _has("issue_id", "kind")),
    ("benchmark tasks, which hold no conversations", _has("evaluation_criteria")),
    ("a benchmark run's settings, which hold no conversations", _has("num_trials", "agent_info")),
    ("a business system's records, which hold no conversations", _has("orders", "users")),
    ("an ontology, which holds no conversations", _has("intents", "actions")),
    ("LangChain messages", _is_langchain),
    ("a browser's recording of its network (HAR)", lambda value: "entries" in as_dict(value.get("log"))),
    ("Vercel AI SDK messages", lambda value: isinstance(value.get("parts"), list) and "role" in value),
    ("provider webhook events", lambda value: value.get("object") == "event"),
)


def taken_for(document: Document, records: Sequence[Record]) -> str:
    """Say in a few words what a document is that no reader takes."""
    values = [record.value for record in records if not record.trouble]
    for what, fits in _SIGNS:
        if any(isinstance(value, dict) and fits(value) for value in values):
            return what
    if not records:
        return "an empty file"
    if records[0].trouble == NOT_UTF8:
        return "text in another encoding than UTF-8; save it as UTF-8 and try again"
    if document.shape == "csv":
        columns = _first_of(as_dict(values[0])) if values else "no columns"
        return f"a CSV table of something else ({columns})"
    if not values:
        return f"no JSON ({records[0].trouble})" if document.shape != "lines" else "text, not JSON"
    first = values[0]
    if isinstance(first, dict):
        return f"JSON of something else ({_first_of(first) or 'an empty object'})"
    return "JSON of something else"


def is_damaged(document: Document, records: Sequence[Record]) -> bool:
    """Whether a document that calls itself JSON holds nothing that can be read as such."""
    suffix = PurePosixPath(document.name).suffix.lower()
    return bool(records) and suffix in _JSON_SUFFIXES and all(record.trouble for record in records)


def _first_of(names: Iterable[str]) -> str:
    """The first names, each cut: a table without a header has somebody's words where names should be."""
    return ", ".join(name[:_LONGEST_NAME] for name in islice(names, 8))
