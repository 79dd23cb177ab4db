"""The tree map: where the shown path runs, what lies beside it, and where money moved.

Laid out here and drawn as SVG by its template. Lane 0 is the path that is
shown; each branch has a lane of its own for as long as it lasts. Runs in which
nothing happens are one dot, and where a fork is wider than the map it says how
many versions are not drawn.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple

from console.quantities import amount_text
from console.states import look_of
from console.thread.effects import ShownEffect
from conversations.reads.tree import Tree

WIDTH: Final = 320
_TOP: Final = 14
_STEP: Final = 17
_LEFT: Final = 16
_MOST_LANES: Final = 6
_WIDE_LANES: Final = 3
_WIDE: Final = 104
# Down from a fork, so that the lines of its branches run clear of labels.
_FORK_STEP: Final = 27
# Paths up to this length are drawn message by message.
_UNFOLDED: Final = 24
_MOST_MARKED: Final = 30
_MOST_BRANCHES: Final = 40


class Dot(NamedTuple):
    seq: int
    x: int
    y: int
    kind: str
    radius: float
    title: str


class Edge(NamedTuple):
    kind: str
    path: str


class Label(NamedTuple):
    x: int
    y: int
    words: str
    is_strong: bool


class MoneyMark(NamedTuple):
    url: str
    title: str
    state: str
    icon: str
    x: int
    y: int
    width: int
    words: str


@dataclass(slots=True)
class TreeMap:
    height: int = 0
    messages: int = 0
    branches: int = 0
    dots: list[Dot] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    money: list[MoneyMark] = field(default_factory=list)
    ring: tuple[int, int] | None = None
    here: tuple[int, int] | None = None
    undrawn: int = 0

    @property
    def width(self) -> int:
        return WIDTH


@dataclass(frozen=True, slots=True)
class Sight:
    """What the map is drawn from: the shown path, its end, and which messages came later."""

    path: Sequence[int]
    head: int | None
    head_word: str
    here: int | None
    later: Collection[int]
    money: Mapping[int, Sequence[ShownEffect]]


class Run(NamedTuple):
    """One dot: a message, or a stretch in which nothing happens; `y` is how far down it stands."""

    first: int
    last: int
    y: int


@dataclass(slots=True)
class Branch:
    runs: list[Run]
    parent: int | None
    lane: int = 0


def draw(tree: Tree, sight: Sight) -> TreeMap:
    """Lay out the map; the same tree and the same sight give the same picture."""
    spine = _spine(tree, sight)
    trunk = Branch(_runs(spine, sight, tree, top=_TOP), parent=None)
    down = {seq: run.y for run in trunk.runs for seq in (run.first, run.last)}
    branches, undrawn = _branches(tree, spine, sight, down)
    lanes = 1 + max((branch.lane for branch in branches), default=0)
    drawing = _Drawing(tree, sight, lanes)
    for branch in (trunk, *branches):
        drawing.add(branch)
    drawing.map.undrawn = undrawn
    drawing.map.messages = len(tree)
    drawing.map.branches = len(tree.leaves())
    return drawing.map


def _spine(tree: Tree, sight: Sight) -> list[int]:
    """The shown path, and below its end what came later on the way to the newest leaf."""
    if not sight.path:
        return _down(tree, tree.roots[0], set()) if tree.roots else []
    below = tree.children.get(sight.path[-1], ())
    return [*sight.path, *(_down(tree, max(below, key=tree.newest_leaf_below), set()) if below else ())]


def _down(tree: Tree, seq: int, taken: Collection[int]) -> list[int]:
    path = [seq]
    while below := [child for child in tree.children.get(path[-1], ()) if child not in taken]:
        path.append(max(below, key=tree.newest_leaf_below))
    return path


def _branches(
    tree: Tree, spine: Sequence[int], sight: Sight, down: dict[int, int]
) -> tuple[list[Branch], int]:
    """The branches that leave the spine, and those that leave them, while there is room."""
    lanes_end: list[int] = []
    found: list[Branch] = []
    undrawn = 0
    waiting: list[tuple[int | None, int]] = list(_exits(tree, spine))
    while waiting:
        parent, seq = waiting.pop(0)
        path = _down(tree, seq, ())
        top = _TOP if parent is None else down[parent] + _FORK_STEP
        runs = _runs(path, sight, tree, top=top)
        lane = next((place for place, end in enumerate(lanes_end) if end < top - _STEP), len(lanes_end))
        if lane >= _MOST_LANES - 1 or len(found) >= _MOST_BRANCHES:
            undrawn += 1
            continue
        lanes_end[lane : lane + 1] = [runs[-1].y]
        found.append(Branch(runs, parent=parent, lane=lane + 1))
        down.update({seq: run.y for run in runs for seq in (run.first, run.last)})
        waiting += _exits(tree, path, skips_root=True)
    return found, undrawn


def _exits(tree: Tree, path: Sequence[int], *, skips_root: bool = False) -> Iterator[tuple[int | None, int]]:
    """Where branches leave a path: the parent and the child that is not on it, the newest first."""
    on_path = set(path)
    parents: list[int | None] = [*path] if skips_root else [None, *path]
    for parent in parents:
        children = tree.children.get(parent, ())
        if len(children) > 1 or (parent is None and children and children[0] not in on_path):
            yield from ((parent, child) for child in reversed(children) if child not in on_path)


def _runs(path: Sequence[int], sight: Sight, tree: Tree, *, top: int) -> list[Run]:
    """Fold a path into at most so many dots: forks, money and ends stay, plain stretches shrink."""
    if not path:
        return []
    stretches = [[seq] for seq in path] if len(path) <= _UNFOLDED else _stretches(path, sight, tree)
    runs: list[Run] = []
    y = top
    for stretch in stretches:
        runs.append(Run(stretch[0], stretch[-1], y))
        y += _FORK_STEP if len(tree.children.get(stretch[-1], ())) > 1 else _STEP
    return runs


def _stretches(path: Sequence[int], sight: Sight, tree: Tree) -> list[list[int]]:
    marked = {seq for seq in path if _is_marked(seq, sight, tree)}
    if len(marked) > _MOST_MARKED:
        near = sight.here or sight.head or path[-1]
        marked = set(sorted(marked, key=lambda seq: abs(seq - near))[:_MOST_MARKED])
    marked |= {path[0], path[-1]}
    stretches: list[list[int]] = []
    for seq in path:
        if seq in marked or not stretches or stretches[-1][-1] in marked:
            stretches.append([seq])
        else:
            stretches[-1].append(seq)
    return stretches


def _is_marked(seq: int, sight: Sight, tree: Tree) -> bool:
    is_fork = len(tree.children.get(seq, ())) > 1
    return is_fork or seq in sight.money or seq in (sight.head, sight.here)


class _Drawing:
    def __init__(self, tree: Tree, sight: Sight, lanes: int) -> None:
        self.map = TreeMap()
        self._tree, self._sight = tree, sight
        self._is_wide = lanes <= _WIDE_LANES
        self._lanes = lanes
        self._apart = _WIDE if self._is_wide else (WIDTH - 2 * _LEFT - 24) // (lanes - 1)
        self._on_path = set(sight.path)
        self._places: dict[int, tuple[int, int]] = {}

    def add(self, branch: Branch) -> None:
        x = _LEFT + branch.lane * self._apart
        if branch.parent is not None:
            self._connect(branch, x)
        for above, below in pairwise(branch.runs):
            self._edge(below.first, f"M{x} {above.y}V{below.y}")
        for place, run in enumerate(branch.runs):
            self._place(run, x, branch.lane, is_end=place in (0, len(branch.runs) - 1))

    def _connect(self, branch: Branch, x: int) -> None:
        parent_x, parent_y = self._places[branch.parent or 0]
        first = branch.runs[0]
        turn = parent_y + 14
        self._edge(
            first.first,
            f"M{parent_x} {parent_y}V{turn - 6}Q{parent_x} {turn} {parent_x + 6} {turn}"
            f"H{x - 6}Q{x} {turn} {x} {turn + 6}V{first.y}",
        )

    def _place(self, run: Run, x: int, lane: int, *, is_end: bool) -> None:
        y = run.y
        versions = len(self._tree.children.get(run.last, ()))
        self._places[run.first] = self._places[run.last] = (x, y)
        name = f"#{run.first}" if run.first == run.last else f"#{run.first} to #{run.last}"
        kind = self._kind(run.first)
        title = f"Message{'' if run.first == run.last else 's'} {name.replace('#', '')}, {kind}"
        self.map.dots.append(Dot(run.first, x, y, kind, 4.5 if versions > 1 else 3.5, title))
        self.map.height = max(self.map.height, y + _TOP)
        if self._sight.head in (run.first, run.last):
            self.map.ring = (x, y)
        if self._sight.here in (run.first, run.last):
            self.map.here = (x - 15, y)
        after = self._mark_money(run, x, y)
        self._label(run, name, after, y, lane, versions, is_end=is_end)

    def _label(self, run: Run, name: str, x: int, y: int, lane: int, versions: int, *, is_end: bool) -> None:
        is_head = self._sight.head in (run.first, run.last)
        if not self._is_wide and lane != self._lanes - 1 and not (is_head and lane == 0 and self._lanes < 2):
            return
        words = ""
        if is_head:
            words = f"{name}, {self._sight.head_word}"
        elif versions > 1:
            words = f"{name}, fork of {versions}"
        elif run.first != run.last or (is_end and lane):
            words = name
        if words:
            self.map.labels.append(Label(x, y + 4, words, is_head))

    def _mark_money(self, run: Run, x: int, y: int) -> int:
        """Draw the stubs of a message side by side; return where its label may begin."""
        left = x + 14
        for effect in self._sight.money.get(run.first, ())[:2]:
            look = look_of(effect.state)
            amount = "" if effect.minor is None else amount_text(effect.minor, effect.currency)
            words = amount if self._is_wide else ""
            width = 24 + 6 * len(words) if words else 18
            title = f"{look.word}: {effect.currency.upper()} {amount}".strip()
            self.map.money.append(
                MoneyMark(effect.url, title, look.shape, look.icon, left, y - 8, width, words)
            )
            left += width + 4
        return left if left > x + 14 else x + 12

    def _edge(self, seq: int, path: str) -> None:
        self.map.edges.append(Edge(self._kind(seq), path))

    def _kind(self, seq: int) -> str:
        if seq in self._on_path:
            return "live"
        return "later" if seq in self._sight.later else "abandoned"
