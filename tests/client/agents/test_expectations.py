"""What the SDK expects of any session: each test runs on its own session first, and then on ours."""

import asyncio

import pytest
from agents import SQLiteSession
from agents.extensions.memory import AdvancedSQLiteSession
from agents.memory import Session, SessionSettings

from tests.client.agents.conftest import do

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])

QUESTION = {"role": "user", "content": "What is the capital of France?"}
ANSWER = {"role": "assistant", "content": "Paris."}
TURN = [
    {"role": "user", "content": [{"type": "input_text", "text": "Is it raining there?"}]},
    {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "I must look."}],
        "encrypted_content": "gAAAAA==",
    },
    {
        "type": "function_call",
        "call_id": "call_1",
        "name": "weather",
        "arguments": '{"city": "Paris"}',
        "id": "fc_1",
        "status": "completed",
    },
    {"type": "function_call", "call_id": "call_2", "name": "clock", "arguments": "{}", "id": "fc_2"},
    {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
    {
        "type": "function_call_output",
        "call_id": "call_2",
        "output": [{"type": "input_text", "text": "noon"}],
    },
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "Yes, at noon.", "annotations": [], "logprobs": []}],
    },
]


@pytest.fixture(params=["theirs", "ours"])
def make(request, make_session):
    """Make a session; another one of the same name is the same session."""
    if request.param == "ours":
        return make_session
    return lambda name="chat-42", **options: SQLiteSession(name, "sessions.db", **options)


@pytest.fixture(params=["theirs", "ours"])
def branching(request, make_session):
    if request.param == "ours":
        return make_session()
    return AdvancedSQLiteSession(session_id="chat-42", create_tables=True)


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def items(session, limit=None, **options):
    return do(session.get_items(limit, **options))


def test_it_is_a_session(make):
    session = make()

    assert isinstance(session, Session)
    assert session.session_id == "chat-42"
    assert session.session_settings == SessionSettings()


def test_a_new_session_is_empty(make):
    assert items(make()) == []
    assert do(make().pop_item()) is None


def test_items_come_back_equal_and_in_order(make):
    session = make()
    do(session.add_items([QUESTION, ANSWER]))
    do(session.add_items(TURN))

    assert items(session) == [QUESTION, ANSWER, *TURN]


def test_nothing_added_is_nothing_changed(make):
    session = make()
    do(session.add_items([]))

    assert items(session) == []


def test_another_object_has_the_same_session(make):
    do(make().add_items([QUESTION]))
    do(make().add_items([ANSWER]))

    assert items(make()) == [QUESTION, ANSWER]


def test_sessions_do_not_share_items(make):
    one, other = make("chat-1"), make("chat-2")
    do(one.add_items([QUESTION]))

    assert items(other) == []
    do(other.clear_session())
    assert items(one) == [QUESTION]


@pytest.mark.parametrize("limit", [1, 3, 7, 8, 100, 0, -1])
def test_a_limit_gives_the_latest_items_in_order(make, limit):
    session = make()
    do(session.add_items(TURN))

    assert items(session, limit) == {0: [], -1: TURN}.get(limit, TURN[-limit:])


def test_settings_name_the_limit_and_an_argument_goes_first(make):
    do(make().add_items(TURN))

    assert items(make(session_settings=SessionSettings(limit=2))) == TURN[-2:]
    assert items(make(session_settings={"limit": 2})) == TURN[-2:]
    assert items(make(session_settings=SessionSettings(limit=2)), 4) == TURN[-4:]


def test_items_are_popped_from_the_end_one_by_one(make):
    session = make()
    do(session.add_items([QUESTION, *TURN]))
    popped = [do(session.pop_item()) for _ in range(9)]

    assert popped == [*reversed([QUESTION, *TURN]), None]
    assert items(session) == []


def test_a_session_goes_on_from_where_it_was_popped_to(make):
    session = make()
    do(session.add_items(TURN))
    for _ in range(4):
        do(session.pop_item())
    other = {"type": "function_call", "call_id": "call_3", "name": "map", "arguments": "{}"}
    do(session.add_items([other, QUESTION]))

    assert items(session) == [*TURN[:3], other, QUESTION]


def test_a_cleared_session_is_empty_and_can_be_used(make):
    session = make()
    do(session.add_items(TURN))
    do(session.clear_session())
    do(session.clear_session())

    assert items(session) == []
    assert do(session.pop_item()) is None
    do(session.add_items([QUESTION]))
    assert items(session) == [QUESTION]


def test_words_of_any_kind_come_back(make):
    said = [
        {"role": "user", "content": text}
        for text in ("", " \n", "Ünïcode – 😀", "\x00\x1f", "\ud83d", "'; DROP TABLE items; --", "x" * 70_000)
    ]
    session = make()
    do(session.add_items(said))

    assert items(session) == said


def test_a_large_picture_comes_back(make):
    image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{'A' * 200_000}"}
    said = [{"role": "user", "content": [image]}]
    session = make()
    do(session.add_items(said))

    assert items(session) == said
    assert do(session.pop_item()) == said[0]


def test_calls_that_are_passed_over_and_outputs_of_nothing_come_back(make):
    """A run that ends in a tool's failure leaves such items, and the next run goes on behind them."""
    output = {"type": "function_call_output", "call_id": "call_9", "output": "late"}
    session = make()
    for added in ([QUESTION, TURN[2], TURN[3]], [TURN[4]], [QUESTION], [output, TURN[5]], [ANSWER], TURN[:3]):
        do(session.add_items(added))

    assert items(session) == [
        *(QUESTION, TURN[2], TURN[3], TURN[4], QUESTION, output, TURN[5], ANSWER, *TURN[:3]),
    ]


def test_what_is_added_at_once_from_one_object_is_all_there(make):
    session = make()
    said = [
        [{"role": "user", "content": f"{n}"}, {"role": "assistant", "content": f"re {n}"}] for n in range(8)
    ]

    async def add():
        await asyncio.gather(*(session.add_items(one) for one in said))

    do(add())
    assert sorted(map(str, items(session))) == sorted(str(item) for one in said for item in one)


def test_a_caller_who_is_cancelled_leaves_nothing_half(make):
    session = make()

    async def cancelled():
        adding = asyncio.create_task(session.add_items(TURN))
        await asyncio.sleep(0)
        adding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await adding

    do(cancelled())
    assert items(session) in ([], TURN)


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
