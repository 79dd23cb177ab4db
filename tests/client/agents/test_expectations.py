"""What the SDK expects of any session: each test runs on its own session first, and then on ours."""

import asyncio

import pytest
from agents import SQLiteSession
from agents.memory import Session, SessionSettings

from tests.client.agents.conftest import do
from tests.client.agents.items import ANSWER, QUESTION, TURN, items

pytestmark = pytest.mark.django_db(transaction=True, databases=["default", "reader"])


@pytest.fixture(params=["theirs", "ours"])
def make(request, make_session):
    """Make a session; another one of the same name is the same session."""
    if request.param == "ours":
        return make_session
    return lambda name="chat-42", **options: SQLiteSession(name, "sessions.db", **options)


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
