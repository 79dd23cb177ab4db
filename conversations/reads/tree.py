"""The tree of one conversation in memory: its paths, forks and leaves."""

from collections.abc import Iterable, Sequence

from conversations.reads.skeleton import Node


class Tree:
    """Numbers ascend on every path, so one pass over the nodes answers everything here."""

    __slots__ = ("_newest", "children", "nodes")

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.nodes: dict[int, Node] = {node.seq: node for node in nodes}
        self.children: dict[int | None, list[int]] = {}
        for node in self.nodes.values():
            self.children.setdefault(node.parent_seq, []).append(node.seq)
        self._newest: dict[int, int] | None = None

    def __len__(self) -> int:
        return len(self.nodes)

    def __contains__(self, seq: int) -> bool:
        return seq in self.nodes

    @property
    def roots(self) -> list[int]:
        return self.children.get(None, [])

    def path_to(self, seq: int | None) -> list[int]:
        """Return the numbers from the root to `seq`; empty where there is no such message."""
        path: list[int] = []
        while seq is not None and (node := self.nodes.get(seq)) is not None:
            path.append(seq)
            seq = node.parent_seq
        path.reverse()
        return path

    def versions_of(self, seq: int) -> list[int]:
        """Return the message and its siblings, the oldest first."""
        return self.children[self.nodes[seq].parent_seq]

    def newest_leaf_below(self, seq: int) -> int:
        """Return the leaf below `seq` that was written last; a leaf is its own."""
        if self._newest is None:
            self._newest = {}
            for node in reversed(list(self.nodes.values())):
                newest = self._newest.setdefault(node.seq, node.seq)
                if node.parent_seq is not None:
                    known = self._newest.get(node.parent_seq, 0)
                    self._newest[node.parent_seq] = max(known, newest)
        return self._newest[seq]

    def leaves(self) -> list[int]:
        return [seq for seq in self.nodes if seq not in self.children]


def through(tree: Tree, seq: int, *, head: int | None) -> list[int]:
    """Return the path that a reader of message `seq` is shown: the live one where it lies on it."""
    live = tree.path_to(head)
    return live if seq in set(live) else tree.path_to(tree.newest_leaf_below(seq))


def cut_between_groups(tree: Tree, path: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """Widen a stretch of a path so that no call is parted from its results."""
    while 0 < start < len(path) and tree.nodes[path[start]].answers_seq is not None:
        start -= 1
    while 0 < end < len(path) and tree.nodes[path[end]].answers_seq is not None:
        end += 1
    return start, end
