"""The pages below a conversation: where their crumbs lead, and what a message without words shows."""

import re

import pytest

from tests.conversations.drafts import assistant, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def talk(make_conversation, say, answer):
    conversation = make_conversation(title="Lisbon")
    answer(conversation, say(conversation, user()), assistant(""))
    return conversation


def test_an_attempt_leads_back_by_the_name_of_its_conversation(log_in, talk):
    page = log_in().get(f"/conversations/{talk.pk}/attempts/1/").content.decode()

    crumbs = re.search(r'<ol class="breadcrumbs">(.*?)</ol>', page, re.DOTALL)
    assert crumbs is not None
    assert re.findall(r'href="([^"]+)"', crumbs[1]) == ["/", "/conversations/", f"/conversations/{talk.pk}/"]
    # Its title is made of what was said, so whoever has stated no reason reads the end of its id.
    assert f"…{str(talk.pk)[-6:]}" in crumbs[1]
    assert "Lisbon" not in page


def test_a_message_without_words_has_nothing_withheld(log_in, talk):
    page = log_in().get(f"/conversations/{talk.pk}/").content.decode()

    assert "Text withheld, 20 characters" in page
    assert "withheld, 0 characters" not in page
    assert "Empty text" in page
