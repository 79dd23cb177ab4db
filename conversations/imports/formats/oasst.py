"""OpenAssistant messages: one tree a line, replies nested below their prompt; or one message a line.

Both tell of the same trees, which are known by the same keys.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from conversations.drafts import ImportedConversation, ImportedNode, MessageDraft
from conversations.imports import exact_json
from conversations.imports.drafting import as_dict, as_list, as_text, moment_of, text_part
from conversations.imports.reading import quarantined, read_each, ref
from conversations.imports.spool import Spool
from conversations.imports.streams import Document, Record
from conversations.imports.trouble import Broken, UnreadableError
from conversations.vocabulary import Role
from conversations.wire.literals import readable_copy

LABEL: Final = "OpenAssistant message trees"
_KEY: Final = "oasst"
_ROLES: Final = {"prompter": Role.USER, "assistant": Role.ASSISTANT, "user": Role.USER}


def sniff(records: Sequence[Record]) -> bool:
    values = [as_dict(record.value) for record in records]
    return any(_is_tree(value) or _is_message(value) for value in values)


def read(document: Document) -> Iterator[ImportedConversation | Broken]:
    if any(_is_message(as_dict(record.value)) for record in document.sample()):
        return _read_messages(document)
    return read_each(document, _conversation)


def _is_tree(value: dict[str, object]) -> bool:
    return isinstance(value.get("message_tree_id"), str) and isinstance(value.get("prompt"), dict)


def _is_message(value: dict[str, object]) -> bool:
    return all(isinstance(value.get(name), str) for name in ("message_tree_id", "message_id", "role"))


def _read_messages(document: Document) -> Iterator[ImportedConversation | Broken]:
    """Yield the trees in the order in which they first appear; their messages may lie anywhere."""
    with Spool() as spool:
        for record in document.records():
            tree = as_text(as_dict(record.value).get("message_tree_id"))
            if tree:
                spool.put(tree, record.place, record.raw)
            else:
                reason = record.trouble or "a message of no tree"
                yield Broken(f"{document.name}, {record.place}", reason, raw=record.raw)
        for tree in spool:
            yield _gathered(document, tree, list(spool.read(tree)))


def _gathered(document: Document, tree: str, messages: list[tuple[str, bytes]]) -> ImportedConversation:
    nodes = []
    for number, (_, raw) in enumerate(messages, start=1):
        value = as_dict(exact_json.load(raw))
        source_id = as_text(value.get("message_id")) or f"message-{number}"
        nodes.append(_node(value, source_id, as_text(value.get("parent_id")) or None, number))
    times = [node.message.occurred_at for node in nodes if node.message and node.message.occurred_at]
    return ImportedConversation(
        external_ref=ref(_KEY, tree),
        nodes=nodes,
        head_source_id=_best_leaf(nodes),
        started_at=min(times, default=None),
        place=f"{document.name}, tree {readable_copy(tree[:80])}",
        raw=b"\n".join(raw for _, raw in messages),
    )


def _conversation(record: Record) -> ImportedConversation:
    value = as_dict(record.value)
    prompt = value.get("prompt")
    if not isinstance(prompt, dict):
        raise UnreadableError("a tree without its prompt")
    nodes = list(_nodes(prompt))
    return ImportedConversation(
        external_ref=ref(_KEY, as_text(value.get("message_tree_id")) or nodes[0].source_id),
        nodes=nodes,
        # The best-ranked reply at each step is the conversation; the others are its alternatives.
        head_source_id=_best_leaf(nodes),
        started_at=moment_of(prompt.get("created_date")),
    )


def _nodes(prompt: dict[str, object]) -> Iterator[ImportedNode]:
    waiting: list[tuple[object, str | None, int]] = [(prompt, None, 0)]
    number = 0
    while waiting:
        value, parent, listed = waiting.pop()
        number += 1
        message = as_dict(value)
        source_id = as_text(message.get("message_id")) or f"message-{number}"
        yield _node(value, source_id, parent, listed)
        replies = as_list(message.get("replies"))
        waiting += [(reply, source_id, place) for place, reply in reversed(list(enumerate(replies)))]


def _node(value: object, source_id: str, parent: str | None, listed: int) -> ImportedNode:
    message = as_dict(value)
    role = _ROLES.get(as_text(message.get("role")))
    text = message.get("text")
    if role is None or not isinstance(text, str):
        bare = {key: item for key, item in message.items() if key != "replies"} if message else value
        trouble = "a message without a role that we know" if role is None else "a message without a text"
        return quarantined(source_id, parent, exact_json.dump(bare), trouble)
    name = as_text(message.get("role"))
    rank = message.get("rank")
    return ImportedNode(
        source_id=source_id,
        parent_source_id=parent,
        message=MessageDraft(
            role=role,
            provider_role="" if name == role.value else name,
            parts=[text_part(text)],
            occurred_at=moment_of(message.get("created_date")),
        ),
        model=as_text(message.get("model_name")),
        is_hidden=message.get("deleted") is True,
        # Ranks count from 0 among siblings; unranked ones stand behind, in the order listed.
        position=rank if isinstance(rank, int) and not isinstance(rank, bool) else 1_000_000 + listed,
    )


def _best_leaf(nodes: list[ImportedNode]) -> str | None:
    children: dict[str, list[ImportedNode]] = {}
    for node in nodes:
        if node.parent_source_id is not None and node.message is not None:
            children.setdefault(node.parent_source_id, []).append(node)
    roots = [node for node in nodes if node.parent_source_id is None]
    leaf = roots[0].source_id if roots and roots[0].message is not None else None
    seen: set[str] = set()
    while leaf is not None and leaf not in seen and leaf in children:
        seen.add(leaf)
        best = min(children[leaf], key=lambda node: (node.position or 0, node.source_id))
        leaf = best.source_id
    return leaf
