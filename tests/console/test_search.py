"""The search box: from a pasted id to its place, from words to texts, and never an error."""

from datetime import timedelta
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User

from access.models import AccessEntry, Realm
from access.rights import RoleName
from conversations.models import Generation
from conversations.services.accounts import ensure_account
from conversations.services.notes import write_note
from conversations.services.starting import start_conversation
from tests.console.conftest import NOW
from tests.conversations.drafts import assistant, calls, results, user

CALL = "toolu_01A7bK9wq2Vd8sJ1n4Yh2P"
# The session, the user, two of permissions, the reach; a savepoint and its end; the probes, one for
# each kind of table; the lives of the calls. To read as the reader: the reach, a savepoint and its end,
# the role and back.
EXACT_QUERIES = 23


@pytest.fixture
def support(log_in):
    return log_in(RoleName.SUPPORT)


@pytest.fixture
def talk(make_conversation, say, answer):
    """A question, a call, its result, an answer."""
    conversation = make_conversation(title="Lisbon upgrade")
    asked = say(conversation, user("can I move to the Flexi fare with my old voucher?"))
    answer(
        conversation, asked, calls(CALL), provider_response_id="msg_01XYZ", provider_request_id="req_01XYZ"
    )
    say(conversation, results(CALL))
    say(conversation, assistant("Flexi costs 62.00 EUR more."))
    return conversation


def find(client, pasted: str, **more: str):
    return client.get("/search/", {"q": pasted, **more})


@pytest.mark.parametrize(
    "pasted",
    [
        CALL,
        f"  {CALL}\n",
        f"“{CALL}”.",
        f"https://desk.example/t?id={CALL}&x=1",
        f'2026-11-24 level=warn tool=charge call_ref="{CALL}" took 3 s',
    ],
)
def test_a_call_id_with_noise_around_it_leads_straight_to_its_call(support, talk, pasted):
    response = find(support, pasted)

    assert response.status_code == 302
    assert response["Location"] == f"/conversations/{talk.pk}/?m=2&found={CALL}#m2"


def test_each_kind_of_id_leads_to_its_place(support, talk, account):
    home = f"/conversations/{talk.pk}/"
    places = {
        "msg_01XYZ": f"{home}?m=2&found=msg_01XYZ#m2",
        "req_01XYZ": f"{home}?m=2&found=req_01XYZ#m2",
        "req-1": f"{home}?m=2&found=req-1#m2",
        str(talk.pk): f"{home}?found={talk.pk}",
        talk.pk.hex.upper(): f"{home}?found={talk.pk}",
        f"{talk.pk}#3": f"{home}?m=3#m3",
        f"{talk.pk}.m3": f"{home}?m=3#m3",
        f"/api/v1/conversations/{talk.pk}/messages/3": f"{home}?m=3#m3",
        f"{talk.pk}.g1": f"{home}attempts/1/",
        "cus-1001": f"/accounts/{account.pk}/",
        str(account.pk): f"/accounts/{account.pk}/",
        "INES@example.com": f"/accounts/{account.pk}/",
    }

    found = {pasted: find(support, pasted).headers.get("Location") for pasted in places}

    assert found == places


def test_an_attempt_whose_detail_was_purged_leads_to_its_conversation(support, talk):
    Generation.objects.filter(conversation=talk, number=1).delete()

    response = find(support, f"{talk.pk}.g1")

    assert response["Location"] == f"/conversations/{talk.pk}/?found={talk.pk}"


def test_an_attempt_without_an_answer_opens_by_itself(support, make_conversation, say, answer):
    conversation = make_conversation()
    answer(conversation, say(conversation, user()), None, status="failed", provider_request_id="req_lost")

    response = find(support, "req_lost")

    assert response["Location"] == f"/conversations/{conversation.pk}/attempts/1/"


def test_a_ticket_leads_to_the_conversation_whose_note_names_it(support, talk, make_staff):
    note = write_note(
        conversation_id=talk.pk,
        author=make_staff(RoleName.FINANCE),
        text="will call",
        ticket="SUP-48213",
        now=NOW,
    )

    assert find(support, "SUP-48213")["Location"] == f"/conversations/{talk.pk}/#note-{note.pk}"


def test_several_places_are_listed_each_saying_what_it_is(support, talk, make_conversation, say, open_for):
    other = make_conversation(title="Porto")
    say(other, user())
    say(other, calls(CALL))
    open_for(User.objects.get(), talk)

    page = find(support, f"{CALL} and msg_01XYZ")

    assert {(place.kind, place.title) for place in page.context["exact"].places} == {
        ("Tool call", f"Conversation …{other.pk.hex[-6:]}"),
        ("Tool call", "Lisbon upgrade"),
        ("Attempt", "Lisbon upgrade"),
    }
    assert "get_order" in page.content.decode()
    assert page.context["texts"] is None


def test_ids_keep_their_case_and_the_page_says_what_this_one_would_be(support, talk):
    page = find(support, CALL.upper())

    assert page.status_code == 200
    assert page.context["exact"].shouted == ["toolu_01A7BK9WQ2VD8SJ1N4YH2P"]
    assert "Ids keep their case" in page.content.decode()


def test_what_was_tried_is_said(support, talk):
    page = find(support, "ch_nowhere")
    text = page.content.decode()

    assert [(tried.term, tried.hits) for tried in page.context["exact"].tried] == [("ch_nowhere", 0)]
    assert "Nothing found" in text
    assert "tool call id" in text
    assert "refunds, disputes" in text


def test_the_beginning_of_an_id_finds_it(support, talk):
    page = find(support, "toolu_01A7bK")

    assert [place.ident for place in page.context["exact"].prefixed] == [CALL]


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
    assert titles(since="1") == set() or titles(since="1") == titles()
    assert titles(since="sideways") == titles()


ODD = (
    "",
    " ",
    "\x00",
    "%00",
    "toolu_%",
    "toolu_\x00",
    "a' OR '1'='1",
    "x" * 2_000,
    "é" * 5_000,
    '"unended',
    "-",
    "-voucher",
    "!!! & | <-> :*",
    "voucher* -flexi",
    "\u202e\u200b",
    "10.1.1.1/../..",
    "0" * 32,
    "0" * 31,
    "漢字",
    "漢",
    "<script>alert(1)</script>",
    "a@b",
    "@example.com",
    "99999999999999999999#99999999999999999999",
    "conv#" + "9" * 30,
    ":* toolu_*",
    "\\",
    "(((((",
)


def test_nothing_pasted_is_an_error(support, talk):
    rest = "tool=%00&account=%00&since=9&status=x"

    pages = [
        support.get(f"/search/?q={quote(odd)}&in={where}&{rest}") for odd in ODD for where in ("", "texts")
    ]

    assert {page.status_code for page in pages} == {200}
    assert not [page for page in pages if b"<script>alert" in page.content]


def test_bytes_that_are_no_text_are_no_error(support, talk):
    assert support.get("/search/?q=%ff%fe%00%c0").status_code == 200


def test_hostile_titles_and_texts_are_text(support, make_conversation, say):
    conversation = make_conversation(title="<img src=x onerror=alert(1)>\u202e")
    say(conversation, user('flexi <script>alert("x")</script>\u202e'))

    page = find(support, "flexi").content.decode()

    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("U+202E") >= 2


def test_a_realm_that_is_not_seen_is_not_found(log_in, realm, talk):
    elsewhere = Realm.objects.create(slug="elsewhere", name="Elsewhere", created_at=NOW)
    stranger = ensure_account(realm=elsewhere, external_id="x-1", email="s@example.com", now=NOW)
    hidden = start_conversation(account_id=stranger.pk, now=NOW, title="Theirs")
    client = log_in(RoleName.SUPPORT, realms=[realm])

    assert find(client, str(hidden.pk)).context["exact"].places == []
    assert find(client, "s@example.com").context["exact"].places == []
    assert find(client, CALL).status_code == 302


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


def test_an_id_costs_the_same_with_five_times_the_rows(
    support, talk, make_conversation, say, answer, django_assert_num_queries
):
    find(support, CALL)
    with django_assert_num_queries(EXACT_QUERIES):
        find(support, CALL)
    for _ in range(4):
        conversation = make_conversation()
        asked = say(conversation, user("flexi"))
        answer(conversation, asked, calls(f"toolu_other_{conversation.pk}"))

    with django_assert_num_queries(EXACT_QUERIES) as captured:
        find(support, CALL)

    assert not [query for query in captured if "COUNT(" in query["sql"].upper()]
    assert Generation.objects.count() == 5


def test_who_may_not_read_conversations_is_refused(client, django_user_model):
    assert client.get("/search/?q=x").status_code == 302

    client.force_login(django_user_model.objects.create_user("nobody", is_staff=True))

    assert client.get("/search/?q=x").status_code == 403
    assert AccessEntry.objects.get().action == "refused"


def test_the_time_of_a_search_is_within_what_it_was_narrowed_to(support, make_conversation, say):
    say(make_conversation(), user("flexi"), now=NOW - timedelta(days=400))

    assert find(support, "flexi", since="90").context["texts"] == []
