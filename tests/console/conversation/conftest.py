"""Conversations to be looked at: one with forks, and one with a secret in every place."""

from datetime import timedelta

import pytest

from access.models import AccessEntry
from access.rights import RoleName
from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.services.appending import edit_message
from conversations.vocabulary import Role
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, call, results, user


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


SECRET = "my seat is 14C"
ARGUMENTS = '{"seat":"14C-argument"}'


@pytest.fixture
def told(make_conversation, say, answer):
    """A secret in the title, in a text, in arguments, in a result and in an error's words."""
    conversation = make_conversation(title="Seat 14C-title")
    asked = say(conversation, user(SECRET))
    answer(
        conversation,
        asked,
        MessageDraft(Role.ASSISTANT, [call("toolu_1", "book", ARGUMENTS)]),
        error_message="you sent 14C-error",
    )
    say(conversation, results("toolu_1"))
    say(conversation, assistant("Booked."))
    return conversation


def entries(**fields):
    found = AccessEntry.objects.filter(**fields).order_by("pk")
    return list(found.values_list("action", "target_kind", "target_id"))
