import json
import unicodedata
from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection

from access.models import Realm
from conversations.drafts import MessageDraft
from conversations.search.scripts import bigrams
from conversations.search.words import Term, Within, cut_snippet, read_terms, search_words
from conversations.services.appending import append_message
from conversations.services.generations import Attempt, begin_generation
from conversations.services.starting import start_conversation
from conversations.vocabulary import Dialect, Role
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import assistant, call, user

pytestmark = pytest.mark.django_db

EVERYWHERE = Within()
NARROWED = json.dumps(
    {
        "account": "0198f000-0000-7000-8000-000000000001",
        "tool": "get_order",
        "model": "claude-sonnet-4-6",
        "status": "complete",
        "since": "2026-03-09T14:03:00Z",
    }
)


@pytest.fixture
def say(conversation):
    def say(*texts):
        for index, text in enumerate(texts):
            message = user(text) if index % 2 == 0 else assistant(text)
            append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)

    return say


def seqs(text, within=EVERYWHERE):
    return sorted(hit.seq for hit in search_words(text=text, within=within))


def test_terms_are_words_phrases_exclusions_and_prefixes():
    assert read_terms('hotel "double charge" -refund pari* -"late fee" --- *') == [
        Term("hotel"),
        Term("double charge", is_phrase=True),
        Term("refund", is_excluded=True),
        Term("pari", is_prefix=True),
        Term("late fee", is_excluded=True, is_phrase=True),
    ]
    assert read_terms("(pari*), fee.") == [Term("pari", is_prefix=True), Term("fee.")]


def test_words_are_found_in_any_order_whatever_their_case(say):
    say("The hotel in Größenbach charged me twice", "I see one charge for the HOTEL.", "Thanks")

    assert seqs("hotel") == [1, 2]
    assert seqs("twice hotel") == [1]
    assert seqs("größenbach") == [1]


@pytest.mark.parametrize("typed", ["NFC", "NFD"])
def test_words_with_accents_are_found_in_both_of_their_unicode_forms(say, typed):
    said = "The café in Größenbach was closed"
    say(unicodedata.normalize("NFC", said), unicodedata.normalize("NFD", said), "The cafe was open")

    def seqs_of(text):
        return seqs(unicodedata.normalize(typed, text))

    assert seqs_of("café") == seqs_of("größen*") == seqs_of('"café in Größenbach"') == [1, 2]
    assert seqs_of("was -café") == [3]
    hits = search_words(text=unicodedata.normalize(typed, "café"), within=EVERYWHERE)
    assert [hit.snippet[start:end][:4] for hit in hits for start, end in hit.marks[:1]] == ["cafe", "café"]


def test_a_number_is_found_behind_a_hyphen(say):
    say("see order-1042 and INV-77.5", "order 1042 again", "order 10425", "-1042 degrees")

    assert seqs("1042") == seqs("#1042") == seqs("(1042)") == [1, 2, 4]
    assert seqs("77.5") == seqs("INV-77.5") == [1]
    assert seqs("104*") == [1, 2, 3, 4]
    assert seqs("order -1042") == [3]
    [first, *_] = search_words(text="1042", within=EVERYWHERE)[::-1]
    assert [first.snippet[start:end] for start, end in first.marks] == ["1042"]


def test_a_period_goes_by_when_something_was_said_as_far_as_that_is_known(conversation):
    year = timedelta(days=365)
    for text, at in (("hotel long ago", NOW - year), ("hotel now", None)):
        message = replace(user(text), occurred_at=at)
        append_message(conversation_id=conversation.pk, message=message, actor=CUSTOMER, now=NOW)

    assert seqs("hotel", Within(since=NOW - timedelta(days=7))) == [2]
    assert seqs("hotel", Within(until=NOW)) == [1]
    assert [hit.said_at for hit in search_words(text="hotel", within=EVERYWHERE)] == [NOW, NOW - year]


def test_phrases_exclusions_and_prefixes(say):
    say("double charge", "a charge, double the price", "charged again")

    assert seqs('"double charge"') == [1]
    assert seqs("charge -price") == [1]
    assert seqs("charg*") == [1, 2, 3]
    assert seqs("-charge") == []


@pytest.mark.parametrize(
    ("said", "sought"),
    [
        ("東京タワーの入場券を二枚お願いします", "入場券"),
        ("คืนเงินค่าโรงแรม", "คืนเงิน"),
        ("退款还没有到账", "退款"),
        ("Ticket für 東京 gebucht", "gebucht 東京"),
    ],
)
def test_a_language_without_spaces_is_found_within_its_runs(say, said, sought):
    say(said, "東 京")

    assert seqs(sought) == [1]


@pytest.mark.parametrize("sought", ["ガス料金", "한국어"])
def test_letters_that_are_typed_apart_from_their_marks_are_found(say, sought):
    said = f"先月の{sought}です"
    say(said, "-")

    hits = search_words(text=unicodedata.normalize("NFD", sought), within=EVERYWHERE)

    assert [(hit.seq, hit.snippet[start:end]) for hit in hits for start, end in hit.marks] == [(1, sought)]


def test_pairs_that_stand_apart_are_no_hit(say):
    say("東京都と京都府")

    assert seqs("東京都") == [1]
    assert seqs("都京") == []


def test_the_database_and_python_cut_the_same_pairs():
    text = "東京タワー abc ครับผม 日 한국어"
    with connection.cursor() as cursor:
        cursor.execute("SELECT conversations_bigrams(%s)", [text])
        assert sorted(cursor.fetchone()[0]) == bigrams(text)


def test_a_message_with_a_quarter_of_a_million_words_is_stored_and_partly_found(say):
    say(" ".join(f"w{number:06}é-x{number:06}" for number in range(250_000)))

    assert seqs("w000001é") == [1]
    assert seqs("w249999é") == []
    [hit] = search_words(text="w000001é", within=EVERYWHERE)
    assert hit.is_partly_indexed


def test_another_realm_sees_nothing(say, account):
    say("hotel")
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    assert seqs("hotel", Within(realm_ids=[other.pk])) == []
    assert seqs("hotel", Within(realm_ids=[account.realm_id])) == [1]


@pytest.mark.parametrize("junk", ["'", "& | !", ":*", "\x00", "(((", "\\", "a' OR '1'='1", "%", "<->"])
def test_junk_is_no_error(say, junk):
    say("hotel")

    assert seqs(junk) == []


def test_a_snippet_stands_around_the_first_hit_and_says_where():
    text = f"{'word ' * 100}the double charge {'more ' * 100}"

    snippet, marks = cut_snippet(text, [Term("double charge", is_phrase=True)])

    assert [snippet[start:end] for start, end in marks] == ["double charge"]
    assert snippet.startswith("…")
    assert snippet.endswith("…")
    assert len(snippet) <= 242


@pytest.mark.parametrize("by_realm", ["true", "false"])
@pytest.mark.parametrize(("by", "index"), [("true, false", "part_words"), ("false, true", "part_bigrams")])
def test_words_are_read_through_an_index(say, by, index, by_realm):
    """The statement that `conversations_find_places` runs, with values in place of its parameters."""
    say("hotel", "入場券")
    values = ("to_tsquery('simple', 'hotel')", "ARRAY['入場', '場券']", "ARRAY['入場券']", "ARRAY['宿']")
    values = (*values, "ARRAY[1::bigint]", "2000", f"'{NARROWED}'::jsonb")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"SELECT conversations_places_statement({by}, true, true, {by_realm}, %s)", [NARROWED])
        statement = cursor.fetchone()[0]
        for number, value in enumerate(values, start=1):
            statement = statement.replace(f"${number}", value)
        cursor.execute(f"EXPLAIN {statement}")
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert index in plan
    assert "Seq Scan on conversations_messagepart" not in plan


def test_excluded_words_narrow_what_pairs_find(say):
    say("入場券 hotel", "入場券 museum")

    assert [hit.snippet for hit in search_words(text="入場券 -hotel", within=EVERYWHERE)] == ["入場券 museum"]


def test_what_it_is_narrowed_to_is_not_lost_among_other_places(say, make_account, monkeypatch):
    monkeypatch.setattr("conversations.search.words.MOST_PLACES", 2)
    say("hotel", "hotel", "hotel")
    other = start_conversation(account_id=make_account().pk, now=NOW)
    later = NOW + timedelta(hours=1)
    called = MessageDraft(
        role=Role.ASSISTANT, parts=[*assistant("hotel").parts, call("call_0", "book_hotel")]
    )
    append_message(conversation_id=other.pk, message=called, actor=CUSTOMER, now=later)
    attempt = Attempt(
        request_id="r-1",
        provider="openai",
        dialect=Dialect.OPENAI_CHAT,
        requested_model="gpt-4o",
    )
    begin_generation(conversation_id=other.pk, leaf_seq=1, attempt=attempt, now=later)

    for within in (
        Within(account_id=other.account_id),
        Within(conversation_id=other.pk),
        Within(since=later),
        Within(tool_name="book_hotel"),
        Within(model="gpt-4o"),
        Within(status="streaming"),
    ):
        assert [hit.conversation_id for hit in search_words(text="hotel", within=within)] == [other.pk]
    assert len(search_words(text="hotel", within=Within(until=later))) == 2
    assert search_words(text="hotel", within=Within(tool_name="pay")) == []
