"""The thread: the live path, its forks, and the way to other branches."""

import re

import pytest

from conversations.drafts import MessageDraft
from conversations.models import Conversation
from conversations.vocabulary import Role
from tests.console.conversation.conftest import seqs


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


def test_a_message_without_parts_says_that_it_is_empty(page_of, make_conversation, say):
    conversation = make_conversation()
    say(conversation, MessageDraft(Role.USER, []))

    assert '<p class="muted">Empty message</p>' in page_of(conversation).content.decode()


def test_a_conversation_without_messages_says_so(page_of, make_conversation):
    page = page_of(make_conversation()).content.decode()

    assert "The conversation was started, and nothing has been said in it." in page
