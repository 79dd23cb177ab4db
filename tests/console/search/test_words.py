"""From words to texts."""

from datetime import timedelta

import pytest

from access.models import AccessEntry
from access.rights import RoleName
from tests.console.conftest import NOW
from tests.console.search.conftest import find
from tests.conversations.drafts import user


def test_words_are_marked_in_one_line_until_the_conversation_is_open(log_in, make_staff, talk, open_for):
    client = log_in(RoleName.SUPPORT)

    closed = find(client, "flexi voucher")
    open_for(closed.wsgi_request.user, talk)
    opened = find(client, "flexi voucher")

    (text,) = closed.context["texts"]
    assert [words for words, is_found in text.pieces if is_found] == ["Flexi", "voucher"]
    assert text.is_cut
    assert text.url == f"/conversations/{talk.pk}/?m=1#m1"
    assert "<mark>" in closed.content.decode()
    assert not opened.context["texts"][0].is_cut


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("flex*", [1, 2]),
        ("(flex*)", [1, 2]),
        ('"flexi voucher"', [1]),
        ('a "flexi voucher"', [1]),
        ('-"flexi voucher" flexi', [2]),
        ("flexi -voucher", [2]),
        ("flex", []),
    ],
)
def test_quotes_and_an_asterisk_at_the_ends_of_what_is_typed_count(
    support, make_conversation, say, typed, found
):
    conversation = make_conversation()
    say(conversation, user("I have a flexi voucher."))
    say(conversation, user("Is this flexi, or do I need another thing?"))

    texts = find(support, typed).context["texts"]

    assert sorted(text.hit.seq for text in texts) == found


def test_a_line_of_a_closed_conversation_is_short(support, make_conversation, say):
    say(make_conversation(), user("secret " * 20 + "Flexi " + "secret " * 20))

    (text,) = find(support, "flexi").context["texts"]

    assert sum(len(words) for words, _ in text.pieces) < 100


def test_words_narrow_down_by_tool_time_account_and_status(support, talk, make_conversation, say):
    say(make_conversation(title="Other"), user("Flexi or not?"))

    def titles(**more: str) -> set[str]:
        return {text.hit.title for text in find(support, "flexi", **more).context["texts"]}

    assert titles() == {"Lisbon upgrade", "Other"}
    assert titles(tool="get_order") == {"Lisbon upgrade"}
    assert titles(status="complete") == {"Lisbon upgrade"}
    assert titles(account="cus-1001") == {"Lisbon upgrade", "Other"}
    assert titles(account="nobody") == set()
    assert titles(model="claude-sonnet-4-5") == {"Lisbon upgrade"}
    # What was said was said in March.
    assert titles(since="1") == set()
    assert titles(since="sideways") == titles()


def test_a_search_by_person_and_a_search_by_words_are_rows_without_the_words(support, talk, account):
    find(support, "ines@example.com")
    find(support, "nobody@example.com")
    find(support, "flexi")

    rows = AccessEntry.objects.order_by("id").values_list("action", "target_id", "account_id", "row_count")
    assert list(rows) == [
        ("search_person", "search", account.pk, 1),
        ("search_person", "search", None, 0),
        ("open", "search", None, 0),
        ("open", "search", None, 2),
    ]


def test_the_time_of_a_search_is_within_what_it_was_narrowed_to(support, make_conversation, say):
    say(make_conversation(), user("flexi"), now=NOW - timedelta(days=400))

    assert find(support, "flexi", since="90").context["texts"] == []
