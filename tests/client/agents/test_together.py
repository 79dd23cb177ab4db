"""Several processes, or what was broken off half way, at one session."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.client.agents.conftest import do
from tests.client.agents.items import ANSWER, QUESTION, TURN, user

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


def test_several_processes_write_one_session(make_session):
    """Each has an object of its own; whoever is overtaken in the middle of a turn looks again."""
    writers = [make_session() for _ in range(4)]

    def turn(writer, n):
        call = {"type": "function_call", "call_id": f"c{writer}{n}", "name": "f", "arguments": "{}"}
        output = {"type": "function_call_output", "call_id": f"c{writer}{n}", "output": "done"}
        return [user(f"{writer} {n}"), call, output]

    def work(writer, session):
        for n in range(4):
            said = turn(writer, n)
            do(session.add_items(said[:2]))
            do(session.add_items(said[2:]))

    with ThreadPoolExecutor(len(writers)) as pool:
        list(pool.map(work, range(len(writers)), writers))

    kept = do(make_session().get_items())
    wanted = [item for writer in range(4) for n in range(4) for item in turn(writer, n)]
    assert sorted(map(str, kept)) == sorted(map(str, wanted))
    for writer in range(4):
        own = [item["content"] for item in kept if item.get("content", "").startswith(f"{writer} ")]
        assert own == [f"{writer} {n}" for n in range(4)]


@pytest.mark.parametrize(("length", "times"), [(12, 5), (3, 3)])
def test_two_processes_never_pop_the_same_item(make_session, length, times):
    do(make_session().add_items([user(str(n)) for n in range(length)]))

    def work(session):
        return [do(session.pop_item()) for _ in range(times)]

    with ThreadPoolExecutor(2) as pool:
        popped = list(pool.map(work, [make_session(), make_session()]))

    left = max(0, length - 2 * times)
    words = [item["content"] for items in popped for item in items if item]
    assert sorted(words) == sorted(str(n) for n in range(left, length))
    assert do(make_session().get_items()) == [user(str(n)) for n in range(left)]


def test_what_the_store_refuses_in_a_first_turn_is_not_doubled(session):
    """The turn is a root: nothing could be moved back before it is written anew."""
    refused = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "\ud800"}]}
    turn = [refused, *TURN[2:4]]
    do(session.add_items(TURN[2:4]))
    do(session.add_items([refused, QUESTION]))
    assert do(session.get_items()) == [*TURN[2:4], refused, QUESTION]

    do(session.clear_session())
    do(session.add_items(turn))
    assert do(session.pop_item()) == turn[-1]
    assert do(session.get_items()) == turn[:-1]
    do(session.add_items([turn[-1], *TURN[4:6]]))
    assert do(session.get_items()) == [*turn, *TURN[4:6]]


@pytest.fixture
def meanwhile(make_session):
    """Let another process do something right before a session writes beside what stands."""

    def meanwhile(session, work):
        put_root = session._conversation._put_root

        def late(*args, **kwargs):
            session._conversation._put_root = put_root
            do(work(make_session()))
            return put_root(*args, **kwargs)

        session._conversation._put_root = late

    return meanwhile


def test_an_item_added_while_the_only_one_is_popped_stays(session, meanwhile):
    do(session.add_items([user("one")]))
    meanwhile(session, lambda other: other.add_items([user("two")]))

    assert do(session.pop_item()) == user("two")
    assert do(session.get_items()) == [user("one")]


def test_an_item_added_while_a_cleared_session_begins_stays(session, meanwhile):
    do(session.add_items([user("zero")]))
    do(session.clear_session())
    meanwhile(session, lambda other: other.add_items([user("one"), user("two")]))
    do(session.add_items([user("three"), user("four")]))

    assert do(session.get_items()) == [user(word) for word in ("one", "two", "three", "four")]


def test_an_item_added_while_a_branch_is_made_stays_where_it_was_said(session, meanwhile):
    do(session.add_items([user("one"), user("two")]))
    meanwhile(session, lambda other: other.add_items([user("three")]))
    do(session.create_branch_from_turn(2, "other"))

    assert do(session.get_items()) == [user("one")]
    assert do(session.get_items(branch_id="main")) == [user("one"), user("two"), user("three")]
    do(session.switch_to_branch("main"))
    assert do(session.get_items()) == [user("one"), user("two"), user("three")]


def test_two_branches_made_at_once_are_both_there(session, meanwhile):
    do(session.add_items([user("one"), user("two")]))
    meanwhile(session, lambda other: other.create_branch_from_turn(2, "theirs"))
    do(session.create_branch_from_turn(1, "ours"))

    assert do(session.get_items()) == []
    do(session.add_items([user("ours")]))
    told = {it["branch_id"]: it["message_count"] for it in do(session.list_branches())}
    assert told == {"main": 2, "theirs": 1, "ours": 1}


def test_a_switch_that_was_broken_off_is_finished_by_whoever_comes_next(make_session):
    session = make_session()
    do(session.add_items([QUESTION, ANSWER, user("more")]))
    do(session.create_branch_from_turn(2, "other"))
    conversation, branches = session._conversation, session._branches
    tail, registry = branches._state()
    # The process ends here, before the head is moved on.
    conversation._put_marker(registry.switched("main", from_leaf=tail.leaf_id), after=tail.move)

    assert do(make_session().get_items()) == [QUESTION, ANSWER, user("more")]
    assert do(make_session().list_branches())[0]["is_current"]


def test_a_branch_that_was_purged_holds_nothing(make_session):
    session = make_session()
    do(session.add_items([QUESTION, ANSWER]))
    conversation, branches = session._conversation, session._branches
    tail, registry = branches._state()
    gone = registry.created("gone", leaf_id=f"{conversation.id}.m999", from_leaf=tail.leaf_id, now="")
    conversation.mark(gone, after=tail.move)

    assert do(make_session().get_items()) == []
    do(session.switch_to_branch("main"))
    with pytest.raises(ValueError, match="does not exist"):
        do(session.switch_to_branch("gone"))
    assert [it["branch_id"] for it in do(session.list_branches())] == ["main"]
    assert do(session.get_items()) == [QUESTION, ANSWER]
