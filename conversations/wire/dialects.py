"""Which format a body is in, and which module reads it."""

from types import ModuleType

from conversations.vocabulary import Dialect
from conversations.wire import anthropic_messages, openai_chat, openai_responses
from conversations.wire.slices import Sliced, decode_text, slice_json

_PATHS = {
    "/messages": Dialect.ANTHROPIC_MESSAGES,
    "/chat/completions": Dialect.OPENAI_CHAT,
    "/responses": Dialect.OPENAI_RESPONSES,
}


def module_for(dialect: Dialect | str) -> ModuleType:
    """The module with `parse_request` and `parse_response`; raises ValueError for an unknown dialect."""
    match Dialect(dialect):
        case Dialect.ANTHROPIC_MESSAGES:
            return anthropic_messages
        case Dialect.OPENAI_CHAT:
            return openai_chat
        case Dialect.OPENAI_RESPONSES:
            return openai_responses


def dialect_of_path(path: str) -> Dialect | None:
    """The dialect of the URL path that was posted to, under whatever prefix a gateway puts before it."""
    bare = path.partition("?")[0].rstrip("/")
    for ending, dialect in _PATHS.items():
        if bare.endswith(ending):
            return dialect
    return None


def detect_dialect(body: bytes) -> Dialect | None:
    """The dialect of a request body as far as its members give it away; raises WireError if it is no object.

    Anthropic alone requires `max_tokens` and puts the system's words beside the
    messages; a `system` role, calls beside the content or a `tool` role are
    OpenAI's.
    """
    sliced = slice_json(decode_text(body), {})
    names = {member.key for member in sliced.members}
    if "messages" not in names:
        return Dialect.OPENAI_RESPONSES if names & {"input", "previous_response_id", "prompt"} else None
    if names & {"system", "stop_sequences", "thinking", "top_k", "anthropic_version"}:
        return Dialect.ANTHROPIC_MESSAGES
    if _speaks_chat(sliced) or "max_tokens" not in names:
        return Dialect.OPENAI_CHAT
    return Dialect.ANTHROPIC_MESSAGES if _speaks_anthropic(sliced) else Dialect.OPENAI_CHAT


def _messages(sliced: Sliced) -> list[dict[str, object]]:
    listed = sliced.value("messages")
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _speaks_chat(sliced: Sliced) -> bool:
    names = {member.key for member in sliced.members}
    if names & {"n", "response_format", "stream_options", "max_completion_tokens", "frequency_penalty"}:
        return True
    messages = _messages(sliced)
    leads_with_system = bool(messages) and messages[0].get("role") in ("system", "developer")
    return leads_with_system or any("tool_calls" in m or m.get("role") == "tool" for m in messages)


def _speaks_anthropic(sliced: Sliced) -> bool:
    model = sliced.value("model")
    if isinstance(model, str) and "claude" in model:
        return True
    tools = sliced.value("tools")
    first = tools[0] if isinstance(tools, list) and tools else None
    return isinstance(first, dict) and "input_schema" in first
