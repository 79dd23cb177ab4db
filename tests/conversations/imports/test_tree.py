from datetime import UTC, datetime, timedelta

from hypothesis import given, settings
from hypothesis import strategies as st

from conversations.drafts import ImportedNode, MessageDraft, PartDraft
from conversations.imports.tree import plan_tree
from conversations.vocabulary import PartType, Role

START = datetime(2025, 3, 1, 10, tzinfo=UTC)


def node(
    source_id: str, parent: str | None = None, *, second: int | None = None, text: str = "hi"
) -> ImportedNode:
    occurred_at = None if second is None else START + timedelta(seconds=second)
    message = MessageDraft(Role.USER, [PartDraft(PartType.TEXT, text=text)], occurred_at=occurred_at)
    return ImportedNode(source_id, parent, message)


def parents(nodes: list[ImportedNode], head: str | None = None) -> dict[str, str | None]:
    return {one.node.source_id: one.parent_source_id for one in plan_tree(nodes, head).placed}


def test_rows_in_any_order_and_with_skewed_clocks_give_one_chain():
    rows = [node("c3", "c2", second=0), node("c1", second=2), node("c2", "c1", second=1)]

    tree = plan_tree(rows, None)

    assert [one.node.source_id for one in tree.placed] == ["c1", "c2", "c3"]
    assert parents(rows) == {"c1": None, "c2": "c1", "c3": "c2"}
    assert tree.findings == ["2 messages are older than what they answer; times kept as they are"]
    assert tree.placed[0].message.occurred_at == START + timedelta(seconds=2)


def test_what_is_no_message_joins_its_children_to_its_parent():
    system = ImportedNode("s", "u", message=None)

    assert parents([node("u"), system, node("a", "s")]) == {"u": None, "a": "u"}


def test_a_quarantined_node_joins_its_children_and_is_named():
    broken = ImportedNode("b", "u", None, raw=b"{}", trouble="no role")

    tree = plan_tree([node("u"), broken, node("a", "b")], "a")

    assert {one.node.source_id: one.parent_source_id for one in tree.placed} == {"u": None, "a": "u"}
    assert tree.quarantined == [broken]


def test_an_orphan_stays_as_a_root():
    tree = plan_tree([node("u"), node("a", "gone")], None)

    assert parents([node("u"), node("a", "gone")]) == {"u": None, "a": None}
    assert tree.findings == ["node a names a parent that is not in the file (gone); kept as a root"]


def test_a_ring_is_cut_at_its_earliest_node_whatever_the_order():
    ring = [node("a", "c", second=5), node("b", "a", second=1), node("c", "b", second=9)]

    for rows in (ring, ring[::-1], [ring[1], ring[2], ring[0]]):
        assert parents(rows) == {"b": None, "c": "b", "a": "c"}
    assert plan_tree(ring, None).findings[0] == "3 nodes are each other's ancestors; cut above b"


def test_a_node_that_is_its_own_parent_is_a_root():
    assert parents([node("a", "a")]) == {"a": None}


def test_a_head_that_could_not_be_read_moves_to_the_last_leaf_and_says_why():
    rows = [node("m1"), node("m2", "m1"), ImportedNode("m9", None, None, raw=b"{}", trouble="an error")]

    tree = plan_tree(rows, "m9")

    assert tree.head_source_id == "m2"
    assert tree.is_head_repaired
    assert tree.findings == ["the head m9 could not be read (an error); the head is m2 instead"]


def test_a_head_that_names_no_node_is_treated_alike():
    tree = plan_tree([node("m1"), node("m2", "m1")], "nowhere")

    assert (tree.head_source_id, tree.is_head_repaired) == ("m2", True)
    assert tree.findings == ["the head nowhere is not in the file; the head is m2 instead"]


def test_without_a_head_the_latest_leaf_is_it():
    rows = [node("u", second=0), node("new", "u", second=9), node("old", "u", second=3)]

    tree = plan_tree(rows, None)

    assert (tree.head_source_id, tree.is_head_repaired) == ("new", False)


def test_siblings_stand_in_the_order_that_the_source_gives():
    first, second = node("z", "u"), node("a", "u")
    first.position, second.position = 0, 1

    assert [one.node.source_id for one in plan_tree([second, node("u"), first], None).placed] == [
        "u",
        "z",
        "a",
    ]


def test_a_second_node_with_one_id_is_kept_under_an_id_that_says_so():
    tree = plan_tree([node("u"), node("u", text="other words"), node("u")], None)

    assert [one.node.source_id for one in tree.placed] == ["u", "u~2"]
    assert tree.findings == [
        "node u stands in the file with other words; kept as u~2",
        "node u stands in the file twice, word for word; kept once",
    ]


def test_no_nodes_at_all_is_an_empty_tree():
    tree = plan_tree([], "m1")

    assert (tree.placed, tree.head_source_id, tree.is_head_repaired) == ([], None, False)


def test_a_line_of_five_thousand_and_three_siblings_needs_no_recursion():
    rows = [node(f"d{n:04}", f"d{n - 1:04}" if n > 1 else None) for n in range(1, 5001)]
    rows += [node(f"s{n}", "d2500") for n in range(3)]

    tree = plan_tree(rows[::-1], "d5000")

    assert len(tree.placed) == 5003
    assert tree.head_source_id == "d5000"
    assert parents(rows)["d5000"] == "d4999"


def test_a_long_chain_of_no_messages_is_walked_once():
    rows = [
        ImportedNode("n0", None, None),
        *(ImportedNode(f"n{n}", f"n{n - 1}", None) for n in range(1, 20_000)),
    ]
    rows += [node(f"m{n}", "n19999") for n in range(2_000)]

    assert set(parents(rows).values()) == {None}


ROW = st.tuples(
    st.integers(-2, 11),  # the parent: -2 none, -1 one that is not in the file
    st.sampled_from(["message", "message", "message", "nothing", "broken"]),
    st.none() | st.integers(0, 5),
    st.none() | st.integers(0, 3),
)


def as_nodes(rows: list[tuple[int, str, int | None, int | None]]) -> list[ImportedNode]:
    nodes = []
    for number, (parent, kind, second, position) in enumerate(rows):
        above = None if parent == -2 else "gone" if parent == -1 else f"n{parent % len(rows)}"
        if kind == "message":
            nodes.append(node(f"n{number}", above, second=second))
            nodes[-1].position = position
        else:
            trouble = "no role" if kind == "broken" else ""
            nodes.append(ImportedNode(f"n{number}", above, None, raw=b"{}", trouble=trouble))
    return nodes


@settings(deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=12), seed=st.randoms(use_true_random=False))
def test_shuffling_rows_never_changes_the_tree(rows, seed):
    shuffled = as_nodes(rows)
    seed.shuffle(shuffled)

    one, other = plan_tree(as_nodes(rows), None), plan_tree(shuffled, None)

    assert [(p.node.source_id, p.parent_source_id) for p in one.placed] == [
        (p.node.source_id, p.parent_source_id) for p in other.placed
    ]
    assert sorted(one.findings) == sorted(other.findings)


@settings(deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=12))
def test_every_node_is_placed_or_named_and_parents_come_first(rows):
    nodes = as_nodes(rows)

    tree = plan_tree(nodes, None)

    seen: set[str | None] = {None}
    for one in tree.placed:
        assert one.parent_source_id in seen
        seen.add(one.node.source_id)
    assert len(tree.placed) == sum(one.message is not None for one in nodes)
    assert len(tree.quarantined) == sum(bool(one.trouble) for one in nodes)
