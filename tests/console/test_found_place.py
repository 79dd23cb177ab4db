"""The conversation page marks and opens the call that a search led to."""

from tests.conversations.drafts import calls, results, user

CALL = "toolu_01A7bK9wq2Vd8sJ1n4Yh2P"


def test_the_call_that_was_looked_for_is_marked_withheld_or_open(log_in, make_conversation, say, open_for):
    conversation = make_conversation()
    say(conversation, user())
    say(conversation, calls(CALL, "toolu_other"))
    say(conversation, results(CALL, "toolu_other"))
    support = log_in()

    withheld = support.get(f"/search/?q={CALL}", follow=True)
    open_for(withheld.wsgi_request.user, conversation)
    opened = support.get(f"/search/?q={CALL}", follow=True).content.decode()

    assert withheld.content.decode().count('class="is-found"') == 1
    assert opened.count('class="is-found"') == 1
    assert opened.count('<details class="block" open>') == 1


def test_stating_the_reason_keeps_the_place(log_in, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())

    response = log_in().post(f"/conversations/{conversation.pk}/open/?m=1&found={CALL}", {"ticket": "SUP-1"})

    assert response["Location"] == f"/conversations/{conversation.pk}/?m=1&found={CALL}"


def test_an_id_that_is_not_there_marks_nothing(log_in, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())

    page = log_in().get(f"/conversations/{conversation.pk}/?m=1&found=%22%3E%3Cscript%3Ealert(1)")

    assert "is-found" not in page.content.decode()
    assert "<script>alert(1)" not in page.content.decode()
