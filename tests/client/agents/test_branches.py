"""What the SDK expects of sessions with branches: on its own first, and then on ours."""

import pytest
from agents.extensions.memory import AdvancedSQLiteSession

from tests.client.agents.conftest import do
from tests.client.agents.items import ANSWER, QUESTION, TURN, items

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


@pytest.fixture(params=["theirs", "ours"])
def branching(request, make_session):
    if request.param == "ours":
        return make_session()
    return AdvancedSQLiteSession(session_id="chat-42", create_tables=True)


def talk(session):
    """Three turns, the second with calls."""
    do(session.add_items([QUESTION, ANSWER]))
    do(session.add_items(TURN))
    do(
        session.add_items(
            [{"role": "user", "content": "Thank you"}, {"role": "assistant", "content": "Bye."}]
        )
    )


def branches(session):
    return {
        one["branch_id"]: (one["message_count"], one["user_turns"], one["is_current"])
        for one in do(session.list_branches())
    }


def test_a_branch_begins_before_the_turn_it_is_made_from(branching):
    talk(branching)
    name = do(branching.create_branch_from_turn(2, "again"))

    assert name == "again"
    assert items(branching) == [QUESTION, ANSWER]
    assert branches(branching) == {"main": (11, 3, False), "again": (2, 1, True)}


def test_branches_go_on_apart(branching):
    talk(branching)
    do(branching.create_branch_from_turn(3, "again"))
    do(branching.add_items([{"role": "user", "content": "And tomorrow?"}]))

    assert items(branching)[-1]["content"] == "And tomorrow?"
    do(branching.switch_to_branch("main"))
    assert items(branching)[-1]["content"] == "Bye."
    do(branching.pop_item())
    do(branching.switch_to_branch("again"))
    assert items(branching)[-1]["content"] == "And tomorrow?"
    assert items(branching, branch_id="main")[-1]["content"] == "Thank you"
    assert items(branching, 1, branch_id="main") == [{"role": "user", "content": "Thank you"}]
    assert items(branching, branch_id="nowhere") == []


def test_a_branch_of_a_branch(branching):
    talk(branching)
    do(branching.create_branch_from_turn(3, "one"))
    do(branching.add_items([{"role": "user", "content": "one"}]))
    do(branching.create_branch_from_turn(3, "two"))
    do(branching.add_items([{"role": "user", "content": "two"}]))

    assert [item["content"] for item in items(branching) if item.get("role") == "user"][-1] == "two"
    assert branches(branching) == {"main": (11, 3, False), "one": (10, 3, False), "two": (10, 3, True)}


def test_a_branch_before_everything_said(branching):
    talk(branching)
    do(branching.create_branch_from_turn(1, "anew"))

    assert items(branching) == []
    do(branching.add_items([ANSWER]))
    assert branches(branching) == {"main": (11, 3, False), "anew": (1, 0, True)}


def test_a_branch_without_a_name_gets_one(branching):
    talk(branching)
    names = [do(branching.create_branch_from_turn(1))]
    do(branching.switch_to_branch("main"))
    names.append(do(branching.create_branch_from_turn(1)))

    assert all(name.startswith("branch_from_turn_1_") for name in names)
    assert len(set(names)) == 2


def test_a_branch_from_what_was_said(branching):
    talk(branching)

    assert do(branching.create_branch_from_content("RAINING", "rain")) == "rain"
    assert items(branching) == [QUESTION, ANSWER]
    with pytest.raises(ValueError, match="No user turns found"):
        do(branching.create_branch_from_content("snow"))


def test_turns_are_told_and_found(branching):
    talk(branching)
    do(branching.add_items([{"role": "user", "content": "x" * 150}]))
    turns = do(branching.get_conversation_turns())

    assert [turn["turn"] for turn in turns] == [1, 2, 3, 4]
    assert [turn["full_content"] for turn in turns[:2]] == [QUESTION["content"], TURN[0]["content"]]
    assert turns[3]["content"] == "x" * 100 + "..."
    assert all(turn["can_branch"] and turn["timestamp"] for turn in turns)
    [found] = do(branching.find_turns_by_content("capital"))
    assert (found["turn"], found["content"]) == (1, QUESTION["content"])
    assert do(branching.find_turns_by_content("Paris")) == []


@pytest.mark.parametrize(
    ("method", "arguments", "why"),
    [
        ("create_branch_from_turn", (4,), "does not contain a user message"),
        ("create_branch_from_turn", (0,), "does not contain a user message"),
        ("create_branch_from_turn", (1, " "), "cannot be empty"),
        ("create_branch_from_turn", (1, "old"), "already been used"),
        ("create_branch_from_turn", (1, "main"), "already been used"),
        ("switch_to_branch", ("nowhere",), "does not exist"),
        ("delete_branch", ("nowhere",), "does not exist"),
        ("delete_branch", ("main",), "Cannot delete the 'main' branch"),
        ("delete_branch", (" ",), "cannot be empty"),
        ("delete_branch", ("old",), "Cannot delete current branch"),
    ],
)
def test_what_cannot_be_done_with_branches_is_said(branching, method, arguments, why):
    talk(branching)
    do(branching.create_branch_from_turn(3, "old"))
    if method.startswith("create"):
        do(branching.switch_to_branch("main"))
    before = items(branching)

    with pytest.raises(ValueError, match=why):
        do(getattr(branching, method)(*arguments))
    assert items(branching) == before


def test_a_deleted_branch_is_gone_and_its_name_stays_used(branching):
    talk(branching)
    do(branching.create_branch_from_turn(3, "old"))
    do(branching.delete_branch("old", force=True))

    assert branches(branching) == {"main": (11, 3, True)}
    with pytest.raises(ValueError, match="already been used"):
        do(branching.create_branch_from_turn(1, "old"))
    do(branching.create_branch_from_turn(2, "new"))
    do(branching.switch_to_branch("main"))
    do(branching.delete_branch("new"))
    assert branches(branching) == {"main": (11, 3, True)}


def test_clearing_takes_all_branches(branching):
    talk(branching)
    do(branching.create_branch_from_turn(3, "old"))
    do(branching.clear_session())

    assert branches(branching) == {}
    do(branching.add_items([QUESTION]))
    assert branches(branching) == {"main": (1, 1, True)}
