"""Two branches side by side: steps, words, calls, cost and effects."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User

from access.models import AccessEntry
from access.rights import RoleName
from console.thread.differing import Piece, differing
from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.services.appending import edit_message
from conversations.vocabulary import Role
from tests.console import money
from tests.console.conftest import COST, CUSTOMER, NOW
from tests.conversations.drafts import assistant, calls, results, user

LATER = NOW + timedelta(minutes=1)


@pytest.fixture
def two_branches(make_conversation, say, answer) -> Conversation:
    """#1 #2 in common; A is #3 #4 #5 #6, B (live) is #7 #8."""
    conversation = make_conversation()
    say(conversation, user("Hello"))
    say(conversation, assistant("How can I help?"))
    asked = say(conversation, user("Please buy 2,000 credits and move us to Flexi"))
    called = answer(conversation, asked, calls("toolu_1"))
    assert called == 4
    answered = say(conversation, results("toolu_1"))
    answer(conversation, answered, assistant("Done."))
    edited = edit_message(
        conversation_id=conversation.pk,
        seq=3,
        message=user("Please buy 1,500 credits and move us to Flexi"),
        actor=CUSTOMER,
        now=NOW + timedelta(minutes=1),
    )
    answer(conversation, edited.seq, assistant("Something else entirely was said here"))
    return conversation


@pytest.fixture
def compared(log_in, two_branches):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    return lambda a, b: officer.get(f"/conversations/{two_branches.pk}/compare/?a={a}&b={b}")


def test_branches_start_after_what_they_have_in_common(compared):
    comparison = compared(6, 8).context["comparison"]

    assert (comparison.fork, comparison.in_common) == (2, 2)
    assert (comparison.a.seqs, comparison.b.seqs) == ([3, 4, 5, 6], [7, 8])
    assert (comparison.a.standing, comparison.b.standing) == ("abandoned", "live")


def table_of(response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))


def test_the_csv_has_both_branches_turn_by_turn_and_is_logged(log_in, two_branches):
    officer = log_in(RoleName.PRIVACY_OFFICER)
    page = officer.get(f"/conversations/{two_branches.pk}/compare/?a=6&b=8")

    table = table_of(officer.get(page.context["csv"]))

    assert [(row["branch"], row["message"], row["by"]) for row in table] == [
        ("A", "3", "User"),
        ("A", "4", "Assistant"),
        ("A", "6", "Assistant"),
        ("B", "7", "User"),
        ("B", "8", "Assistant"),
    ]
    assert table[0]["text"] == "Please buy 2,000 credits and move us to Flexi"
    assert (table[1]["attempts"], table[1]["calls"]) == ("1", "get_order")
    assert Decimal(table[1]["cost USD"]) == COST
    entry = AccessEntry.objects.get(action="export")
    assert (entry.target_kind, entry.target_id) == ("conversation", f"{two_branches.pk}#6~8")


def test_the_csv_has_a_line_for_each_effect_for_who_sees_effects(log_in, make_conversation, say, make_staff):
    conversation = make_conversation()
    money.register_tool(conversation, make_staff(RoleName.ADMINISTRATOR, name="registrar"))
    say(conversation, user())
    called = say(conversation, MessageDraft(Role.ASSISTANT, [money.charging("toolu_1")]))
    money.settle(money.begin(conversation, called, "toolu_1"), "ch_1")
    edit_message(conversation_id=conversation.pk, seq=1, message=user("No"), actor=CUSTOMER, now=LATER)

    officer = log_in(RoleName.PRIVACY_OFFICER)
    table = table_of(officer.get(f"/conversations/{conversation.pk}/compare.csv?a=2&b=3"))

    [effect] = [row for row in table if row["line"] == "effect"]
    shown = [effect[name] for name in ("message", "by", "processor's id", "currency", "amount", "state")]
    assert shown == ["2", "charge_card", "ch_1", "USD", "19.00", "Applied"]


def test_the_csv_withholds_texts_until_a_reason_is_stated(log_in, two_branches, open_for):
    finance = log_in(RoleName.FINANCE)
    address = f"/conversations/{two_branches.pk}/compare.csv?a=6&b=8"

    closed = table_of(finance.get(address))
    open_for(User.objects.get(), two_branches)

    assert closed[0]["text"] == "withheld, 45 characters"
    assert table_of(finance.get(address))[0]["text"].startswith("Please buy")
    kinds = AccessEntry.objects.filter(action="export").order_by("pk").values_list("target_kind", flat=True)
    assert list(kinds) == ["page", "conversation"]
    assert log_in(RoleName.SUPPORT).get(address).status_code == 403


def test_no_cell_of_the_csv_is_run_by_a_spreadsheet(log_in, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user("=1+1"))
    edit_message(conversation_id=conversation.pk, seq=1, message=user("@SUM(A1)"), actor=CUSTOMER, now=NOW)

    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{conversation.pk}/compare.csv?a=1&b=2")

    assert [row["text"] for row in table_of(response)] == ["'=1+1", "'@SUM(A1)"]


def test_steps_stand_side_by_side_and_results_are_left_out(compared):
    response = compared(6, 8)

    [turn] = response.context["comparison"].rounds
    steps = [(row.a and row.a.seq, row.b and row.b.seq) for row in turn.rows]
    assert steps == [(3, 7), (4, 8), (6, None)]
    assert "Nothing at this step" in response.content.decode()


def test_words_are_marked_where_two_messages_are_mostly_alike_only(compared):
    page = compared(6, 8).content.decode()

    assert "Please buy <del>2,000</del> credits" in page
    assert "Please buy <ins>1,500</ins> credits" in page
    assert "Something else entirely was said here" in page
    assert page.count("<ins>") == 2  # the other is in the caption


def test_totals_of_both_sides_and_their_difference(compared):
    response = compared(6, 8)

    comparison = response.context["comparison"]
    assert (comparison.a.attempts.attempts, comparison.b.attempts.attempts) == (2, 1)
    assert comparison.a.attempts.cost_usd == 2 * COST
    assert response.context["less"]["cost"] == -COST
    assert response.context["less"]["messages"] == -2
    assert comparison.rounds[0].a_calls == 1


def test_sides_can_be_swapped_and_named_by_any_message_of_a_branch(compared):
    assert compared(3, 7).context["comparison"].a.leaf == 6
    swapped = compared(8, 6).context["comparison"]
    assert (swapped.a.leaf, swapped.b.leaf) == (8, 6)


@pytest.mark.parametrize(
    ("a", "b", "status"), [(6, 6, 404), (6, 4, 404), (99, 1, 404), ("x", 1, 400), ("", "", 400)]
)
def test_what_are_no_two_branches_is_refused(compared, a, b, status):
    assert compared(a, b).status_code == status


def test_without_a_reason_words_stay_shut(log_in, two_branches):
    page = log_in(RoleName.SUPPORT).get(f"/conversations/{two_branches.pk}/compare/?a=6&b=8").content.decode()

    assert "credits" not in page
    assert "Text withheld, 45 characters" in page
    entry = AccessEntry.objects.get()
    assert (entry.action, entry.target_kind, entry.target_id) == ("open", "page", f"{two_branches.pk}#6~8")


def test_two_roots_are_compared_from_the_start(log_in, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user("one"))
    later = NOW + timedelta(minutes=1)
    edit_message(conversation_id=conversation.pk, seq=1, message=user("two"), actor=CUSTOMER, now=later)

    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{conversation.pk}/compare/?a=1&b=2")

    assert response.context["comparison"].fork is None
    assert "From their roots" in response.content.decode()


def test_white_space_around_marked_words_is_not_marked():
    left, right = differing("I pay now", "I will pay now")

    assert left == [Piece("I pay now", False)]
    assert right == [Piece("I ", False), Piece("will", True), Piece(" pay now", False)]


@pytest.mark.parametrize(("one", "other"), [("", "a"), ("a b c d", "e f g h"), ("x " * 2_000, "x " * 2_001)])
def test_texts_that_are_empty_unlike_or_too_long_are_not_marked(one, other):
    assert differing(one, other) is None


def test_equal_texts_have_no_marks():
    assert differing("same words", "same words") == ([Piece("same words", False)],) * 2
