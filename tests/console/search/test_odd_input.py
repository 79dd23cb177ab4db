"""Nothing pasted is an error, and nothing found is markup."""

from urllib.parse import quote

from tests.console.search.conftest import find
from tests.conversations.drafts import user

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
