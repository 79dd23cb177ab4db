"""The tree of an export, from nodes in any order.

Rows come sorted by anything: by time with skewed clocks, by key, by nothing.
Here they become an order in which every parent comes before its children, and
that order depends on ids, times and the source's own sibling order, never on
the order of the rows. Nothing recurses: a long chat is a list as deep as it is
long. Whatever is odd is kept and named.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Final

from conversations.drafts import ImportedNode, MessageDraft

_UNKNOWN_TIME: Final = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class Placed:
    """A node that is a message, with the message it hangs from."""

    node: ImportedNode
    message: MessageDraft
    parent_source_id: str | None


@dataclass(slots=True)
class PlannedTree:
    """Messages in writing order, what is to be quarantined, and what was odd."""

    placed: list[Placed]
    quarantined: list[ImportedNode]
    head_source_id: str | None
    is_head_repaired: bool = False
    findings: list[str] = field(default_factory=list)


def plan_tree(nodes: Sequence[ImportedNode], head_source_id: str | None) -> PlannedTree:
    """Order the nodes, join children of what is no message to its parent, and find the head."""
    findings: list[str] = []
    unique = _once_each(nodes, findings)
    parents = _known_parents(unique, findings)
    _cut_cycles(unique, parents, findings)
    above = _nearest_messages(unique, parents)
    placed = _in_order(unique, above)
    _note_skewed_clocks(placed, unique, findings)
    tree = PlannedTree(
        placed=placed,
        quarantined=[node for node in unique.values() if node.trouble],
        head_source_id=None,
        findings=findings,
    )
    _choose_head(tree, unique, above, head_source_id)
    return tree


def _once_each(nodes: Sequence[ImportedNode], findings: list[str]) -> dict[str, ImportedNode]:
    """Give the nodes by id. A second node with one id, saying something else, gets an id that says so."""
    by_id: dict[str, ImportedNode] = {}
    said: dict[str, set[str]] = {}
    for node in nodes:
        source_id = node.source_id
        if source_id not in by_id:
            by_id[source_id] = node
            continue
        words = said.setdefault(source_id, {_words(by_id[source_id])})
        if _words(node) in words:
            findings.append(f"node {source_id} stands in the file twice, word for word; kept once")
            continue
        words.add(_words(node))
        twin = f"{source_id}~{len(words)}"
        while twin in by_id:
            twin += "~"
        by_id[twin] = replace(node, source_id=twin)
        findings.append(f"node {source_id} stands in the file with other words; kept as {twin}")
    return by_id


def _words(node: ImportedNode) -> str:
    return repr((node.message, node.trouble, node.raw if node.message is None else None))


def _known_parents(nodes: dict[str, ImportedNode], findings: list[str]) -> dict[str, str | None]:
    parents: dict[str, str | None] = {}
    for source_id, node in nodes.items():
        parent = node.parent_source_id
        if parent is not None and parent not in nodes:
            findings.append(
                f"node {source_id} names a parent that is not in the file ({parent}); kept as a root"
            )
            parent = None
        parents[source_id] = parent
    return parents


def _cut_cycles(nodes: dict[str, ImportedNode], parents: dict[str, str | None], findings: list[str]) -> None:
    """Cut each ring at its earliest node, or at its smallest id where times do not tell."""
    finished: set[str] = set()
    for start in nodes:
        path: list[str] = []
        on_path: set[str] = set()
        current: str | None = start
        while current is not None and current not in finished and current not in on_path:
            path.append(current)
            on_path.add(current)
            current = parents[current]
        if current is not None and current in on_path:
            ring = path[path.index(current) :]
            cut = min(ring, key=lambda source_id: (*_age(nodes[source_id]), source_id))
            parents[cut] = None
            findings.append(f"{len(ring)} nodes are each other's ancestors; cut above {cut}")
        finished.update(path)


def _age(node: ImportedNode) -> tuple[bool, datetime]:
    occurred_at = node.message.occurred_at if node.message else None
    return occurred_at is None, occurred_at or _UNKNOWN_TIME


def _nearest_messages(
    nodes: dict[str, ImportedNode], parents: dict[str, str | None]
) -> dict[str, str | None]:
    """For each node the nearest ancestor that is a message; chains of others are walked once."""
    above: dict[str, str | None] = {}
    for start in nodes:
        path: list[str] = []
        current = start
        while current not in above:
            path.append(current)
            parent = parents[current]
            if parent is None:
                found: str | None = None
                break
            if nodes[parent].message is not None:
                found = parent
                break
            current = parent
        else:
            found = above[current]
        for source_id in path:
            above[source_id] = found
    return above


def _in_order(nodes: dict[str, ImportedNode], above: dict[str, str | None]) -> list[Placed]:
    """Parents before children; else by time, then by the source's sibling order, then by id."""
    children: dict[str | None, list[str]] = {}
    for source_id, node in nodes.items():
        if node.message is not None:
            children.setdefault(above[source_id], []).append(source_id)
    waiting: list[tuple[datetime, int, str]] = []

    def push(parent: str | None, since: datetime) -> None:
        for source_id in children.get(parent, ()):
            node = nodes[source_id]
            position = -1 if node.position is None else node.position
            age = _UNKNOWN_TIME if node.stored is not None else _age(node)[1]
            heapq.heappush(waiting, (max(since, age), position, source_id))

    push(None, _UNKNOWN_TIME)
    placed: list[Placed] = []
    while waiting:
        since, _, source_id = heapq.heappop(waiting)
        node = nodes[source_id]
        if node.message is not None:
            placed.append(Placed(node=node, message=node.message, parent_source_id=above[source_id]))
        push(source_id, since)
    return placed


def _note_skewed_clocks(placed: list[Placed], nodes: dict[str, ImportedNode], findings: list[str]) -> None:
    skewed = 0
    for one in placed:
        parent = nodes[one.parent_source_id].message if one.parent_source_id is not None else None
        before = parent.occurred_at if parent else None
        if before and one.message.occurred_at and one.message.occurred_at < before:
            skewed += 1
    if skewed:
        findings.append(f"{skewed} messages are older than what they answer; times kept as they are")


def _choose_head(
    tree: PlannedTree,
    nodes: dict[str, ImportedNode],
    above: dict[str, str | None],
    stated: str | None,
) -> None:
    """Take the source's head where it is a message; else the nearest one above it, else the last leaf."""
    if stated is not None and stated in nodes:
        node = nodes[stated]
        if node.message is not None:
            tree.head_source_id = stated
            return
        if not node.trouble and above[stated] is not None:
            tree.head_source_id = above[stated]
            return
        tree.head_source_id = above[stated]
    leaf = _last_leaf(tree.placed, nodes)
    if stated is None:
        tree.head_source_id = leaf
        return
    tree.head_source_id = tree.head_source_id or leaf
    tree.is_head_repaired = tree.head_source_id is not None
    what = (
        f"could not be read ({nodes[stated].trouble})"
        if stated in nodes and nodes[stated].trouble
        else ("is no message" if stated in nodes else "is not in the file")
    )
    found = tree.head_source_id
    instead = "there is no other" if found is None else f"the head is {found} instead"
    tree.findings.append(f"the head {stated} {what}; {instead}")


def _last_leaf(placed: list[Placed], nodes: dict[str, ImportedNode]) -> str | None:
    """The latest leaf by time; where no leaf has a time, the last in the file."""
    parents = {one.parent_source_id for one in placed}
    leaves = [one.node.source_id for one in placed if one.node.source_id not in parents]
    if not leaves:
        return None
    dated = [leaf for leaf in leaves if not _age(nodes[leaf])[0]]
    if dated:
        return max(dated, key=lambda leaf: (_age(nodes[leaf])[1], leaf))
    standing = {source_id: index for index, source_id in enumerate(nodes)}
    return max(leaves, key=standing.__getitem__)
