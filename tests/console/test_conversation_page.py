"""The page of one conversation: thread, forks, attempts, totals, links, and how many queries it takes."""

import re
from datetime import timedelta

import pytest

from access.rights import RoleName
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Conversation
from conversations.services.appending import edit_message, regenerate_message
from conversations.services.heads import switch_head
from conversations.vocabulary import GenerationStatus, PartStatus, PartType, Role
from conversations.wire.shapes import Usage
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, call, calls, result, results, user

# Session, user, two of permissions, second factor, conversation, reach, begin, skeleton, moves, effects,
# messages, parts, calls, attempts, sums, notes, policies, what blocks a purge, log, commit, staff: see the
# captured list on a failure.
# To read as the reader: the reach, a savepoint and its end, the role and back; out and in again for the
# conversation itself and for the log.
MOST_QUERIES = 31


@pytest.fixture
def page_of(log_in):
    """Open a conversation as somebody whose role needs no reason."""
    officer = log_in(RoleName.PRIVACY_OFFICER)

    def opened(conversation: Conversation, query: str = ""):
        response = officer.get(f"/conversations/{conversation.pk}/{query}")
        assert response.status_code == 200
        return response

    return opened


def seqs(response) -> list[int]:
    return [turn.seq for turn in response.context["thread"].turns]


@pytest.fixture
def forked(make_conversation, say, answer) -> Conversation:
    """#1 asked, #2 and #5 answered; #3 was edited to #4 ... the head is on #5's branch."""
    conversation = make_conversation()
    asked = say(conversation, user("first question"))
    answer(conversation, asked, assistant("first answer"))
    say(conversation, user("second question"))
    say(conversation, assistant("second answer"))
    edited = edit_message(
        conversation_id=conversation.pk,
        seq=3,
        message=user("second question, mended"),
        actor=CUSTOMER,
        now=NOW + timedelta(seconds=5),
    )
    answer(conversation, edited.seq, assistant("mended answer"))
    return conversation


def test_the_thread_is_the_live_path(page_of, forked):
    response = page_of(forked)

    assert seqs(response) == [1, 2, 5, 6]
    page = response.content.decode()
    assert "second question, mended" in page
    assert "second answer" not in page


def test_a_fork_shows_which_version_it_is_who_made_it_and_links_to_the_other(page_of, forked):
    page = page_of(forked).content.decode()

    assert '<span class="siblings-at">2/2</span>' in page
    assert re.search(
        rf'<a href="/conversations/{forked.pk}/\?m=3#m3" rel="prev" aria-label="Version 1 of 2">', page
    )
    assert "edited by the customer at" in page


def test_another_branch_is_shown_without_moving_the_head(page_of, forked):
    before = Conversation.objects.values("head_seq", "head_move").get(pk=forked.pk)

    response = page_of(forked, "?m=3")

    assert seqs(response) == [1, 2, 3, 4]
    assert "You read a branch that the customer does not see now" in response.content.decode()
    assert 'class="turn is-user is-abandoned" id="m3"' in response.content.decode()
    assert Conversation.objects.values("head_seq", "head_move").get(pk=forked.pk) == before


def test_a_link_to_a_message_on_the_live_path_stays_on_it(page_of, forked):
    assert seqs(page_of(forked, "?m=1")) == [1, 2, 5, 6]


@pytest.mark.parametrize("query", ["?m=999", "?m=-1", "?m=x", "?m=9999999999999", "?m=٣"])
def test_a_message_that_is_not_there_leads_to_the_live_path(page_of, forked, query):
    assert seqs(page_of(forked, query)) == [1, 2, 5, 6]


def test_totals_tell_live_from_abandoned_and_add_up(page_of, forked, answer):
    answer(
        forked, 4, None, status=GenerationStatus.FAILED, usage=None, error_code="overloaded", request_id="x"
    )

    rows = {row.label: row for row in page_of(forked).context["page"].totals}

    assert [(row.messages, row.attempts.attempts, row.attempts.failed) for row in rows.values()] == [
        (4, 2, 0),
        (2, 1, 1),
        (6, 3, 1),
    ]
    whole = rows["Whole conversation"].attempts
    assert (whole.input_tokens, whole.output_tokens) == (2_000, 200)
    assert whole.cost_usd == sum(attempt.cost_usd or 0 for attempt in forked.generations.all())
    assert whole.unpriced == 1


def test_retries_and_fallbacks_stand_below_the_answer_with_what_they_cost(
    page_of, make_conversation, say, answer
):
    conversation = make_conversation()
    asked = say(conversation, user())
    answer(
        conversation,
        asked,
        None,
        status=GenerationStatus.FAILED,
        http_status=529,
        error_code="overloaded_error",
        usage=None,
        request_id="one",
    )
    answer(conversation, asked, assistant(), served_model="claude-haiku-4-5", request_id="one", attempt=2)

    response = page_of(conversation)

    [_, answered] = response.context["thread"].turns
    assert answered.attempts.summary == "2 attempts, 1 failed, served by another model than asked for"
    page = response.content.decode()
    assert "529 overloaded_error" in page
    assert '<span class="muted">→</span> <bdi>claude-haiku-4-5</bdi>' in page


@pytest.mark.parametrize(
    ("status", "error_code", "outcome"),
    [
        (GenerationStatus.INTERRUPTED, "", "Interrupted"),
        (GenerationStatus.FAILED, "overloaded_error", "Failed, overloaded_error"),
    ],
)
def test_what_arrived_of_an_answer_that_broke_off_stands_beside_how_it_ended(
    page_of, make_conversation, say, answer, status, error_code, outcome
):
    conversation = make_conversation()
    asked = say(conversation, user())
    usage = Usage(uncached_input=1_000)
    partial = assistant("Your refund of")
    answer(conversation, asked, partial, status=status, error_code=error_code, http_status=200, usage=usage)

    response = page_of(conversation)

    [_, broken_off] = response.context["thread"].turns
    assert [line.outcome for line in broken_off.attempts.lines] == [outcome]
    page = response.content.decode()
    assert "Your refund of" in page
    assert outcome in page
    assert "0.0030</span><small>at least</small>" in page or "0.0030<small>at least</small>" in page


def test_an_attempt_without_an_answer_stands_below_the_message_it_was_asked_after(
    page_of, make_conversation, say, answer
):
    conversation = make_conversation()
    asked = say(conversation, user())
    answer(conversation, asked, None, status=GenerationStatus.FAILED, usage=None)

    [turn] = page_of(conversation).context["thread"].turns

    assert turn.attempts.summary == "1 attempt, 1 failed, no answer"


def test_a_call_stands_folded_with_arguments_result_and_outcome(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    say(conversation, calls("toolu_01"))
    failed = MessageDraft(Role.USER, [result("toolu_01", "timed out", status=PartStatus.ERROR)])
    say(conversation, failed)

    response = page_of(conversation)

    [block] = response.context["thread"].turns[1].blocks
    assert (block.kind, block.name, block.state) == ("call", "get_order", "failed")
    page = response.content.decode()
    assert "Result of 1 call, shown with the call" in page
    assert '<pre class="raw is-error-text" tabindex="0">' in page
    assert "timed out" in page


def test_arguments_that_repeat_a_key_are_shown_whole_with_a_warning(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    arguments = '{"zeta":1,"alpha":{"z":2,"a":3},"zeta":4}'
    say(conversation, MessageDraft(Role.ASSISTANT, [call("toolu_K1", "q", arguments)]))

    page = page_of(conversation).content.decode()

    assert "<bdi>input.zeta</bdi> occurs more than once" in page
    assert (
        "{&quot;zeta&quot;: 1, &quot;alpha&quot;: {&quot;z&quot;: 2, &quot;a&quot;: 3}, &quot;zeta&quot;: 4}"
        in page
    )


def test_thinking_and_unknown_blocks_are_folded(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    thinking = PartDraft(PartType.THINKING, payload=b'{"type":"thinking"}')
    unknown = PartDraft(PartType.OTHER, payload=b'{"type":"mcp_list","n":1e2}', provider_type="mcp_list")
    say(
        conversation,
        MessageDraft(Role.ASSISTANT, [thinking, unknown, PartDraft(PartType.TEXT, text="Done.")]),
    )

    page = page_of(conversation).content.decode()

    assert page.count('<details class="block">') == 2
    assert '<span class="block-name">mcp_list</span>' in page
    assert "1e2" in page


def test_a_message_without_parts_says_that_it_is_empty(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, MessageDraft(Role.USER, []))

    assert '<p class="muted">Empty message</p>' in page_of(conversation).content.decode()


def test_a_conversation_without_messages_says_so(page_of, make_conversation):
    page = page_of(make_conversation()).content.decode()

    assert "The conversation was started, and nothing has been said in it." in page


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
