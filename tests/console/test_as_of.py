"""What the customer saw at a moment, held against the head log, move by move."""

from datetime import UTC, datetime, timedelta

import pytest

from access.rights import RoleName
from console.thread.as_of import parse_moment
from conversations.models import Conversation, HeadMove, Message
from conversations.services.appending import edit_message, regenerate_message
from conversations.services.heads import switch_head
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, user


def at(seconds: int) -> datetime:
    return NOW + timedelta(seconds=seconds)


@pytest.fixture
def story(make_conversation, say) -> Conversation:
    """Asked and answered, edited, regenerated, turned back, gone on: moves 1 to 8, a minute apart."""
    conversation = make_conversation()
    say(conversation, user("a"), now=at(0))
    say(conversation, assistant("b"), now=at(60))
    fields = {"conversation_id": conversation.pk, "actor": CUSTOMER}
    edit_message(seq=1, message=user("a, mended"), now=at(120), **fields)
    say(conversation, assistant("c"), now=at(180))
    regenerate_message(seq=4, message=assistant("c again"), now=at(240), **fields)
    switch_head(seq=2, now=at(300), **fields)
    say(conversation, user("d"), now=at(360))
    say(conversation, assistant("e"), now=at(420))
    return conversation


@pytest.fixture
def shown(log_in, story):
    """The numbers on the page, and those marked as later."""
    officer = log_in(RoleName.PRIVACY_OFFICER)

    def seen(query: str) -> tuple[list[int], list[int]]:
        response = officer.get(f"/conversations/{story.pk}/", query_params=_query(query))
        assert response.status_code == 200
        page = response.context["page"]
        return [turn.seq for turn in page.thread.turns], [turn.seq for turn in page.later]

    return seen


def _query(query: str) -> dict[str, str]:
    name, _, value = query.partition("=")
    return {name: value}


def path_to(conversation: Conversation, seq: int | None) -> list[int]:
    parents = dict(Message.objects.filter(conversation=conversation).values_list("seq", "parent_seq"))
    path: list[int] = []
    while seq is not None:
        path.insert(0, seq)
        seq = parents[seq]
    return path


def test_every_move_shows_exactly_the_path_of_its_head(shown, story):
    moves = HeadMove.objects.filter(conversation=story).order_by("number")

    assert moves.count() == 8
    for move in moves:
        seen, _ = shown(f"move={move.number}")
        assert seen == path_to(story, move.head_seq)


@pytest.mark.parametrize(
    ("seconds", "path"),
    [
        (0, [1]),
        (59, [1]),
        (60, [1, 2]),
        (150, [3]),
        (239, [3, 4]),
        (241, [3, 5]),
        (300, [1, 2]),
        (999, [1, 2, 6, 7]),
    ],
)
def test_a_typed_time_shows_the_path_that_was_live_then(shown, seconds, path):
    assert shown(f"at={at(seconds):%Y-%m-%d %H:%M:%S}")[0] == path


def test_a_moment_just_before_a_move_does_not_show_it(shown):
    assert shown(f"at={at(60) - timedelta(microseconds=1):%Y-%m-%d %H:%M:%S.%f}")[0] == [1]
    assert shown(f"at={at(60):%Y-%m-%d %H:%M:%S.%f}")[0] == [1, 2]


def test_what_came_later_on_todays_path_is_marked_as_later(shown, story):
    assert shown("move=6") == ([1, 2], [6, 7])
    assert shown("move=8") == ([1, 2, 6, 7], [])


def test_the_map_draws_later_messages_as_later_and_older_branches_as_not_live(log_in, story):
    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{story.pk}/?move=5")

    dots = {dot.seq: dot.kind for dot in response.context["page"].tree_map.dots}
    assert dots == {
        3: "live",
        5: "live",
        4: "abandoned",
        1: "abandoned",
        2: "abandoned",
        6: "later",
        7: "later",
    }
    page = response.content.decode()
    assert "As of" in page
    assert "Back to now" in page
    assert 'href="?move=4"' in page
    assert 'href="?move=6"' in page


def test_before_the_first_move_nothing_was_on_screen(shown):
    assert shown("at=2020-01-01 00:00:00") == ([], [1, 2, 6, 7])


@pytest.mark.parametrize(
    "query",
    ["at=yesterday", "at=2026-13-45 00:00", "at=2026-03-09 14:03 Mars/Base", "move=99", "move=x", "at=\x00"],
)
def test_a_time_or_move_that_cannot_be_read_says_so_and_shows_now(log_in, story, query):
    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{story.pk}/", query_params=_query(query))

    assert response.status_code == 200
    assert response.context["page"].as_of_trouble
    assert [turn.seq for turn in response.context["page"].thread.turns] == [1, 2, 6, 7]


def test_a_purged_head_is_said_to_be_gone(log_in, story):
    Message.objects.filter(conversation=story, seq__in=[5]).delete()

    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{story.pk}/?move=5")

    assert response.context["page"].thread.turns == []
    assert "Message 5 was the head then. It has been purged" in response.content.decode()


@pytest.mark.parametrize(
    ("typed", "moment"),
    [
        ("2026-11-24 14:03:10", datetime(2026, 11, 24, 14, 3, 10, 999_999, tzinfo=UTC)),
        ("2026-11-24T14:03", datetime(2026, 11, 24, 14, 3, 0, 999_999, tzinfo=UTC)),
        ("2026-11-24", datetime(2026, 11, 24, 0, 0, 0, 999_999, tzinfo=UTC)),
        ("2026-11-24 14:03:10.5", datetime(2026, 11, 24, 14, 3, 10, 500_000, tzinfo=UTC)),
        ("2026-11-24 14:03:10Z", datetime(2026, 11, 24, 14, 3, 10, 999_999, tzinfo=UTC)),
        ("2026-11-24 14:03:10 +01:00", datetime(2026, 11, 24, 13, 3, 10, 999_999, tzinfo=UTC)),
        ("2026-07-24 14:03:10 Europe/Lisbon", datetime(2026, 7, 24, 13, 3, 10, 999_999, tzinfo=UTC)),
        (" 2026-11-24 14:03:10 -0530 ", datetime(2026, 11, 24, 19, 33, 10, 999_999, tzinfo=UTC)),
    ],
)
def test_times_are_read_with_and_without_a_zone(typed, moment):
    assert parse_moment(typed) == moment


@pytest.mark.parametrize(
    "typed", ["", "14:03", "2026-11-24 25:00", "2026-11-24 14:03 +99:00", "0001-01-01 00:00 +10:00"]
)
def test_times_that_are_none_are_refused(typed):
    with pytest.raises(ValueError, match=r"There is no such|A time is written"):
        parse_moment(typed)
