"""Long threads come in pieces, maps and logs folded, at a fixed number of queries."""

from datetime import timedelta

from access.rights import RoleName
from conversations.services.appending import edit_message, regenerate_message
from conversations.services.heads import switch_head
from tests.console.conftest import CUSTOMER, NOW
from tests.console.conversation.conftest import seqs
from tests.conversations.drafts import assistant, calls, results, user

# Session, user, two of permissions, second factor, conversation, reach, begin, skeleton, moves, effects,
# messages, parts, calls, attempts, sums, notes, policies, what blocks a purge, log, commit, staff: see the
# captured list on a failure.
# To read as the reader: the reach, a savepoint and its end, the role and back; out and in again for the
# conversation itself and for the log.
MOST_QUERIES = 31


def fill(conversation, say, answer, *, turns: int) -> None:
    for number in range(turns):
        asked = say(conversation, user(f"question {number}"))
        called = answer(conversation, asked, calls(f"toolu_{number}"))
        answered = say(conversation, results(f"toolu_{number}"))
        answer(conversation, answered, assistant(f"answer {called}"))


def test_queries_do_not_grow_with_the_conversation(
    log_in, make_conversation, say, answer, django_assert_num_queries, django_assert_max_num_queries
):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    small, large = make_conversation(), make_conversation()
    fill(small, say, answer, turns=4)
    fill(large, say, answer, turns=20)
    edit_message(
        conversation_id=small.pk, seq=1, message=user("b"), actor=CUSTOMER, now=NOW + timedelta(days=1)
    )
    edit_message(
        conversation_id=large.pk, seq=1, message=user("b"), actor=CUSTOMER, now=NOW + timedelta(days=1)
    )
    for conversation in (small, large):
        switch_head(conversation_id=conversation.pk, seq=4, actor=CUSTOMER, now=NOW + timedelta(days=2))
    officer.get(f"/conversations/{small.pk}/")

    with django_assert_max_num_queries(MOST_QUERIES) as captured:
        officer.get(f"/conversations/{small.pk}/")
    taken = len(captured)
    with django_assert_num_queries(taken):
        officer.get(f"/conversations/{large.pk}/")


def test_a_long_thread_opens_at_its_end_and_loads_the_rest_in_pieces(log_in, make_conversation, say, answer):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    conversation = make_conversation()
    fill(conversation, say, answer, turns=40)

    response = officer.get(f"/conversations/{conversation.pk}/")
    shown = seqs(response)
    piece = officer.get(response.context["before_url"])
    earlier = seqs(piece)

    assert shown[-1] == 160
    assert 50 <= len(shown) <= 55
    assert earlier[-1] == shown[0] - 1
    # No call is parted from its results, on either side of a cut.
    for first in (shown[0], earlier[0]):
        assert first % 4 != 3
    while (url := piece.context["before_url"]) != "":
        piece = officer.get(url)
        earlier = seqs(piece) + earlier
    assert earlier + shown == list(range(1, 161))


def test_a_piece_that_is_no_piece_is_refused(log_in, make_conversation, say):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    conversation = make_conversation()
    say(conversation, user())

    for query in ("", "?from=1", "?from=5&to=5", "?from=x&to=9"):
        assert officer.get(f"/conversations/{conversation.pk}/thread/{query}").status_code == 400


def test_the_map_folds_long_paths_and_wide_forks(page_of, make_conversation, say, answer):
    conversation = make_conversation()
    fill(conversation, say, answer, turns=15)
    for number in range(12):
        regenerate_message(
            conversation_id=conversation.pk,
            seq=2,
            message=assistant(f"another {number}"),
            actor=CUSTOMER,
            now=NOW + timedelta(hours=1, seconds=number),
        )
    switch_head(conversation_id=conversation.pk, seq=60, actor=CUSTOMER, now=NOW + timedelta(hours=2))

    drawn = page_of(conversation).context["page"].tree_map

    assert len(drawn.dots) < 15
    assert drawn.undrawn == 7
    assert drawn.branches == 13
    assert {dot.kind for dot in drawn.dots} == {"live", "abandoned"}
    assert "13 branches" in page_of(conversation).content.decode()


def test_the_head_log_is_folded_and_can_be_read_whole_page_by_page(page_of, make_conversation, say):
    conversation = make_conversation()
    for number in range(130):
        say(conversation, user(f"q{number}"))
        say(conversation, assistant(f"a{number}"))

    folded = [line.move.number for line in page_of(conversation).context["page"].log]
    whole = page_of(conversation, "?moves=all")
    older = page_of(conversation, "?moves=all&before=61")

    assert (folded[0], folded[1], folded[-1], len(folded)) == (260, 259, 1, 13)
    assert [line.move.number for line in whole.context["page"].log] == list(range(260, 60, -1))
    assert 'href="?moves=all&amp;before=61"' in whole.content.decode()
    assert [line.move.number for line in older.context["page"].log] == list(range(60, 0, -1))
    assert "Moves before" not in older.content.decode()
