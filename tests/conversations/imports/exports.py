"""Exports as short as a test needs them, and what is counted after them."""

from access.actors import Actor, ActorKind
from conversations.models import Account, Conversation, HeadMove, Message, MessagePart, RawBody, ToolCall
from jobs.models import JobRun
from tests.conversations.imports.reading import lines

IMPORTER = Actor(ActorKind.IMPORTER)


def node(role, text, parent=None, **fields):
    message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}, **fields}
    return {"parent": parent, "children": [], "message": message}


def chat(key, mapping, head=None, **fields):
    return {
        "conversation_id": key,
        "title": f"chat {key}",
        "mapping": mapping,
        "current_node": head,
        **fields,
    }


def five(second=None):
    """Five conversations; `second` replaces the nodes of the second."""
    plain = {"u": node("user", "hi"), "a": node("assistant", "hello", "u")}
    return [chat(f"k{n}", second if second and n == 2 else plain, "a") for n in range(1, 6)]


def rows() -> dict[str, int]:
    tables = (Account, Conversation, Message, MessagePart, ToolCall, HeadMove, RawBody)
    return {table.__name__: table.objects.count() for table in tables}


ROOT = Actor(ActorKind.IMPORTER, "root")


def dialogues(count, *, turns=2):
    said = [{"role": "assistant" if n % 2 else "user", "content": str(n)} for n in range(turns)]
    return lines(*({"id": f"d-{n}", "messages": said} for n in range(count)))


def only_run() -> JobRun:
    return JobRun.objects.get()
