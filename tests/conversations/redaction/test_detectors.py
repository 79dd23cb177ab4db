import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conversations.redaction.cutting import cut_text
from conversations.redaction.finding import find_secrets
from conversations.vocabulary import SecretKind

ALL = frozenset(SecretKind)


def found(text):
    return [(span.kind, text[span.start : span.end]) for span in find_secrets(text, kinds=ALL)]


@pytest.mark.parametrize(
    "number",
    [
        "4242424242424242",
        "4242 4242 4242 4242",
        "5555-5555-5555-4444",
        "2223003122003222",
        "378282246310005",
        "3782 822463 10005",
        "6011111111111117",
        "3056930009020004",
        "3566002020360505",
        "6205500000000000004",
        "4242\u00a04242\u00a04242\u00a04242",  # from a web page
        "4242\u20114242\u20114242\u20114242",
        "4242 - 4242 - 4242 - 4242".replace(" - ", " -"),
        "4242.4242.4242.4242",
        "4242\u200b4242\u200b4242\u200b4242",
        "\uff14\uff12\uff14\uff12" * 4,  # full width
    ],
)
def test_a_card_number_as_people_write_it(number):
    assert found(f"my card is {number}, thanks") == [("card", number)]


@pytest.mark.parametrize(
    "text",
    [
        "4242 4242 4242 4242 123",
        "4242 4242 4242 4242 12/27 123",
        "4242 4242 4242 4242 12 27 123",
        "2 4242 4242 4242 4242",
        "Jane,4242424242424242,12/27,123",
        "1042,4242424242424242,123",
        '{"a":[1,4242424242424242,2]}',
        "3782 822463 10005 1234",
    ],
)
def test_a_card_number_beside_its_date_or_its_code(text):
    ((kind, number),) = found(text)

    assert kind == "card"
    assert number.replace(" ", "") in ("4242424242424242", "378282246310005")


@pytest.mark.parametrize(
    ("text", "cards"),
    [
        ("4242424242424242 378282246310005", ["4242424242424242", "378282246310005"]),
        ("4242 4242 4242 4242 3782 822463 10005", ["4242 4242 4242 4242", "3782 822463 10005"]),
        (
            "6205 5000 0000 0000 004 4242 4242 4242 4242 5555555555554444",
            ["6205 5000 0000 0000 004", "4242 4242 4242 4242", "5555555555554444"],
        ),
        ("2026-03-09 4242424242424242 2026-03-10 5555555555554444", ["4242424242424242", "5555555555554444"]),
        ("1234567890123456 4242424242424242", ["4242424242424242"]),
    ],
)
def test_several_cards_with_mere_blanks_between(text, cards):
    assert found(f"try {text} please") == [("card", card) for card in cards]


@pytest.mark.parametrize(
    "text",
    [
        "order 4242424242424241",  # the check digit is wrong
        "order 9999999999999995",  # right check digit, nobody issues it
        "4242424242424242424242",  # longer than any card
        "call +49 30 901820 or 030 9018 2000",
        "14.50 19.99 1042 88417",
        "toolu_01A09q90qw90lq917835lq9",
        "1700000000000",
        "0.4242424242424242",  # a fraction
        "4242424242424242.5",
        "1881 1024 4242 4242 4242 4242 1001 1002 1003 1004",  # a row of a table
        "4242\n4242\n4242\n4242",  # a column of one
        "4242 4242 4242 4242 1001 1002 1003 1004 5555 5555 5555 4444",  # another row: not all of it are cards
    ],
)
def test_numbers_that_are_no_cards_stay(text):
    assert found(text) == []


@pytest.mark.parametrize(
    "iban",
    [
        "DE89370400440532013000",
        "DE89 3704 0044 0532 0130 00",
        "GB29 NWBK 6016 1331 9268 19",
        "NO9386011117947",
    ],
)
def test_a_bank_account(iban):
    assert found(f"pay to {iban} please") == [("iban", iban)]


@pytest.mark.parametrize("before", ["no12", "AB12", "de44 or", "IBAN: de12 3", "DE89 3704 0044 then"])
def test_a_bank_account_behind_a_word_that_begins_like_one(before):
    assert found(f"{before} DE89 3704 0044 0532 0130 00 please") == [("iban", "DE89 3704 0044 0532 0130 00")]


@pytest.mark.parametrize(
    "text",
    [
        "DE89370400440532013001",
        "XX89370400440532013000",
        "DE12 is a code",
        "DE89370400440532013000" + "0" * 19,  # the beginning of something longer
        "DE89 3 70400440532013000",  # no group has a single character but the last
    ],
)
def test_what_fails_its_proof_is_no_bank_account(text):
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("sk_" + "live_" + "4eC39HqLyjWDarjtT1zdp7dc", "api_key"),
        ("sk-" + "ant-" + "api03-abcdefghijklmnopqrstuvwx", "api_key"),
        ("AKIA" + "IOSFODNN7EXAMPLE", "api_key"),
        ("ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "api_key"),
        ("eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP-mB92K27uhbUJU1p1r", "api_key"),
        ("-----BEGIN PRIVATE" + " KEY-----\nMIIE\n-----END PRIVATE" + " KEY-----", "api_key"),
        ("-----BEGIN RSA PRIVATE" + " KEY-----\nMIIE\n-----END RSA PRIVATE" + " KEY-----", "api_key"),
    ],
)
def test_keys_by_their_makers_marks(text, kind):
    assert found(f"key={text}") == [(kind, text)]


@pytest.mark.parametrize("around", ["host.example.{}", "a.b-{}", "{}.more", "first.part.{}"])
def test_a_web_token_between_other_dotted_words(around):
    token = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dBjftJeZ4CVP"

    assert found(around.format(token)) == [("api_key", token)]


@pytest.mark.parametrize(
    "beginning",
    ["-----BEGIN PRIVATE" + " KEY-----", "eyJaaaaaaaaaa-", "DE00aa aaaaaa ", "DE00" + "a" * 40 + " "],
)
def test_a_long_text_of_mere_beginnings_is_read_once(beginning):
    """A megabyte: read on to its end from each of them, it would take the better part of an hour."""
    assert found(beginning * (2**20 // len(beginning))) == []


def test_of_a_bearer_token_the_word_before_it_stays():
    assert cut_text("Authorization: Bearer abcdef0123456789abcdef", kinds=ALL).text == (
        "Authorization: Bearer [cut: token]"
    )


def test_only_the_kinds_that_are_asked_for():
    text = "4242424242424242 DE89370400440532013000"

    cut = cut_text(text, kinds=frozenset({SecretKind.IBAN}))

    assert cut.text == "4242424242424242 [cut: bank account]"
    assert [(span.kind, cut.text[span.start : span.end]) for span in cut.spans] == [
        ("iban", "[cut: bank account]")
    ]


def test_of_two_secrets_that_overlap_nothing_stays():
    key = "-----BEGIN PRIVATE" + " KEY-----\nMIIE\n-----END PRIVATE" + " KEY-----"

    assert cut_text(f"Bearer 0123456789abcdef{key}.", kinds=ALL).text == "Bearer [cut: token]."


@pytest.mark.parametrize("kinds", [list(SecretKind), list(SecretKind)[::-1]])
def test_a_token_that_two_detectors_find_gets_the_same_mark_each_time(kinds):
    """A set's order differs from process to process, and what is sent again is compared after cutting."""
    token = "sk-" + "ant-" + "api03-abcdefghijklmnopqrstuvwx"

    assert cut_text(f"Bearer {token}", kinds=kinds).text == "Bearer [cut: key]"


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("DE89370400440532013000Bearer abcdef0123456789abcdef", "[cut: bank account]Bearer [cut: token]"),
        ("DE89 3704 0044 0532 0130 00 4242 4242 4242 4242", "[cut: bank account] [cut: card number]"),
        (
            "NO9386011117947NO9386011117947 4242424242424242",
            "[cut: bank account]" * 2 + " [cut: card number]",
        ),
    ],
)
def test_what_a_secret_hides_is_cut_with_it(text, cut):
    """Else it would be cut when the text comes back, which would be another one then than is stored."""
    assert cut_text(text, kinds=ALL).text == cut
    assert cut_text(cut, kinds=ALL).text == cut


_PIECES = st.sampled_from(
    [
        "4242424242424242",
        "4242 4242 4242 4242",
        "3782 822463 10005",
        "123",
        "12",
        "DE89 3704 0044 0532 0130 00",
        "NO9386011117947",
        "Bearer ",
        "abcdef0123456789abcd",
        "AKIA" + "IOSFODNN7EXAMPLE",
        "sk-" + "ant-" + "api03-abcdefghijklmnopqrstuvwx",
        "de12",
        *" -.,/\n",
    ]
)


@given(st.lists(_PIECES, max_size=9).map("".join), st.integers(0, 3))
def test_a_text_that_was_cut_has_nothing_left_to_cut(text, depth):
    for _ in range(depth):
        text = json.dumps({"said": text})
    cut = cut_text(text, kinds=ALL).text

    assert cut_text(cut, kinds=ALL).text == cut
