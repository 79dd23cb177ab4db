"""Money beside the calls that moved it: stubs, totals by branch, marks on the map, both sides compared."""

from datetime import timedelta

import pytest

from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.services.appending import edit_message
from conversations.vocabulary import Role
from tests.console.conftest import CUSTOMER, NOW
from tests.console.money import begin, charging, register_tool, settle
from tests.conversations.drafts import assistant, results, user


@pytest.fixture
def charged_twice(make_conversation, make_staff, say) -> Conversation:
    """A: #1 asked, #2 charged 19.00, settled. B (live): #4 edited, #5 charged 25.00, sent and unanswered."""
    conversation = make_conversation()
    register_tool(conversation, make_staff(RoleName.FINANCE))
    say(conversation, user("buy"))
    say(conversation, MessageDraft(Role.ASSISTANT, [charging("toolu_a", 1900)]))
    settle(begin(conversation, 2, "toolu_a"), "ch_A")
    say(conversation, results("toolu_a"))
    later = NOW + timedelta(minutes=5)
    edit_message(conversation_id=conversation.pk, seq=1, message=user("buy 2"), actor=CUSTOMER, now=later)
    fields = {"now": later + timedelta(seconds=1)}
    say(conversation, MessageDraft(Role.ASSISTANT, [charging("toolu_b", 2500)]), **fields)
    begin(conversation, 5, "toolu_b", now=later)
    say(conversation, results("toolu_b"), now=later + timedelta(seconds=2))
    say(conversation, assistant("Done"), now=later + timedelta(seconds=3))
    return conversation


def test_a_stub_stands_beside_its_call_with_state_amount_reference_and_branch(log_in, charged_twice):
    officer = log_in(RoleName.PRIVACY_OFFICER)

    live = officer.get(f"/conversations/{charged_twice.pk}/").content.decode()
    abandoned = officer.get(f"/conversations/{charged_twice.pk}/?m=2").content.decode()

    assert 'class="stub is-pending"' in live
    assert "25.00" in live
    assert 'class="stub is-applied"' in abandoned
    assert "ch_A" in abandoned


def test_totals_keep_branches_and_states_apart(log_in, charged_twice):
    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{charged_twice.pk}/")

    sums = {
        row.label: [(found.state, found.currency, found.minor) for found in row.effects]
        for row in response.context["page"].totals
    }
    assert sums == {
        "Live path": [("pending", "usd", 2500)],
        "Abandoned branches": [("applied", "usd", 1900)],
        "Whole conversation": [("applied", "usd", 1900), ("pending", "usd", 2500)],
    }


def test_the_map_marks_where_money_moved(log_in, charged_twice):
    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{charged_twice.pk}/")

    marks = response.context["page"].tree_map.money
    assert sorted((mark.state, mark.words) for mark in marks) == [("applied", "19.00"), ("pending", "25.00")]


def test_before_a_reason_money_is_visible_and_words_are_not(log_in, charged_twice):
    page = log_in(RoleName.SUPPORT).get(f"/conversations/{charged_twice.pk}/").content.decode()

    assert 'class="stub is-pending"' in page
    assert "arguments and result withheld" in page
    assert "buy 2" not in page


def test_the_comparison_says_when_both_branches_may_have_charged(log_in, charged_twice):
    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{charged_twice.pk}/compare/?a=2&b=7")

    comparison = response.context["comparison"]
    assert [effect.ref for effect in comparison.a.applied] == ["ch_A"]
    assert not comparison.both_charged  # what was never sent has moved nothing

    settle(begin(charged_twice, 5, "toolu_b"), "ch_B")
    page = log_in(RoleName.PRIVACY_OFFICER, name="another").get(
        f"/conversations/{charged_twice.pk}/compare/?a=2&b=7"
    )
    assert "Both branches moved money or may have" in page.content.decode()


def test_the_list_finds_conversations_with_an_effect(log_in, charged_twice, make_conversation):
    make_conversation(title="Without")
    support = log_in(RoleName.SUPPORT)

    found = support.get("/conversations/?has_effect=true").context["rows"]

    assert [(row.conversation.pk, set(row.effects)) for row in found] == [
        (charged_twice.pk, {"applied", "pending"})
    ]
    assert [
        row.conversation.title for row in support.get("/conversations/?has_effect=false").context["rows"]
    ] == ["Without"]
