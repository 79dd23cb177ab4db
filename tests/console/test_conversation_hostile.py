"""Hostile text in every field that a customer, a model or a tool can fill: it is text, and nothing else."""

import re
from datetime import timedelta
from html.parser import HTMLParser

import pytest

from access.rights import RoleName
from conversations.drafts import MessageDraft, PartDraft
from conversations.models import Conversation
from conversations.services.accounts import ensure_account
from conversations.services.appending import edit_message
from conversations.services.raw_bodies import keep_raw_body
from conversations.vocabulary import GenerationStatus, PartStatus, PartType, RawClass, Role
from tests.console.conftest import CUSTOMER, NOW
from tests.conversations.drafts import call, result, user

MARK = "zq9"
EVIL = (
    f"{MARK}<script>alert(1)</script><img src=x onerror=alert(1)>\"'><svg onload=alert(1)>"
    "[x](javascript:alert(1)){{ request.user }}{% csrf_token %}\u202e\u200b\u2066\x1b[31m&amp;<!--"
)
# What our own markup never uses, and what would load, run or frame something.
FORBIDDEN_TAGS = frozenset(
    {"img", "image", "iframe", "frame", "object", "embed", "base", "video", "audio", "math", "style", "set"}
    | {"foreignobject", "animate", "applet", "portal", "source", "track"}
)
# The button that copies an id has it exactly as it is, for the clipboard alone.
EXACT_COPY = re.compile(r' data-copy="[^"]*"')


class Reader(HTMLParser):
    """Gathers what a browser would make of a page: tags, handlers, addresses."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.trouble: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.trouble.append(f"<{tag} {name}>")
            if name in ("href", "src", "action") and re.match(
                r"\s*(javascript|data):", value or "", re.IGNORECASE
            ):
                self.trouble.append(f"<{tag} {name}={value}>")
            if tag == "script" and name == "src" and MARK in (value or ""):
                self.trouble.append(f"script {value}")


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.trouble == []
    assert not reader.tags & FORBIDDEN_TAGS
    assert "<script>alert" not in page
    shown = EXACT_COPY.sub("", page)
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    return reader


@pytest.fixture
def evil(realm, say, answer, make_conversation) -> Conversation:
    """A conversation in which everything that comes from outside is hostile."""
    account = ensure_account(realm=realm, external_id=EVIL[:200], label=EVIL[:200], email=EVIL[:200], now=NOW)
    conversation = make_conversation(account_id=account.pk, title=EVIL, external_ref=EVIL[:200])
    name = EVIL[:120]
    asked = say(conversation, MessageDraft(Role.USER, user(EVIL).parts, provider_role=EVIL[:60]))
    quoted = EVIL.replace("\\", "\\\\").replace('"', '\\"').replace("\x1b", "\\u001b")
    blocks = [
        PartDraft(PartType.TEXT, text=EVIL),
        PartDraft(PartType.THINKING, payload=f'{{"t":"{quoted}"}}'.encode(), provider_type=EVIL[:60]),
        PartDraft(PartType.OTHER, payload=b"\xff\xfe<b>not json", provider_type=EVIL[:60]),
        PartDraft(
            PartType.IMAGE,
            payload=f'{{"type":"image","title":"{quoted}","source":{{"url":"javascript:{quoted}"}}}}'.encode(),
            media_type=EVIL[:100],
        ),
        call(EVIL[:200], name, f'{{"{quoted}":"{quoted}","{quoted}":1}}'),
    ]
    answer(
        conversation,
        asked,
        MessageDraft(Role.ASSISTANT, blocks),
        served_model=EVIL[:200],
        stop_reason=EVIL[:60],
        error_code=EVIL[:120],
        error_message=EVIL,
        provider_response_id=EVIL[:200],
        provider_request_id=EVIL[:200],
        notes=[EVIL],
        status=GenerationStatus.FAILED,
    )
    answered = result(EVIL[:200], "x", status=PartStatus.ERROR)
    answered.payload = f'{{"content":"{quoted}"}}'.encode()
    say(
        conversation,
        MessageDraft(Role.USER, [answered, PartDraft(PartType.TOOL_RESULT, text=EVIL, orphan=True)]),
    )
    later = NOW + timedelta(hours=1)
    edit_message(conversation_id=conversation.pk, seq=1, message=user(EVIL + "b"), actor=CUSTOMER, now=later)
    keep_raw_body(
        body=EVIL.encode(),
        raw_class=RawClass.QUARANTINE,
        now=NOW,
        conversation_id=conversation.pk,
        place=EVIL[:200],
        trouble=EVIL,
    )
    Conversation.objects.filter(pk=conversation.pk).update(replay_obstacle="received_broken")
    return conversation


PATHS = [
    "",
    "?m=3",
    "?move=2",
    "?at=2026-03-09",
    "thread/?from=0&to=9&m=3",
    "compare/?a=3&b=4",
    "attempts/1/",
    "messages/2/blocks/0/",
    "messages/2/blocks/1/",
    "messages/2/blocks/2/",
    "messages/2/blocks/4/",
    "messages/3/blocks/0/",
]


@pytest.mark.parametrize("path", PATHS)
def test_no_page_of_a_hostile_conversation_runs_or_loads_anything(log_in, evil, path):
    auditor = log_in(RoleName.AUDITOR)
    auditor.post(f"/conversations/{evil.pk}/open/", {"words": EVIL})

    response = auditor.get(f"/conversations/{evil.pk}/{path}")

    assert response.status_code == 200
    page = response.content.decode()
    assert MARK in page
    read(page)


def test_the_list_shows_it_as_text(log_in, evil):
    page = log_in(RoleName.AUDITOR).get("/conversations/").content.decode()

    assert MARK in page
    read(page)


def test_two_hundred_thousand_letters_without_a_space_are_cut_and_offered_whole(
    log_in, make_conversation, say
):
    conversation = make_conversation(title="x" * 5_000)
    say(conversation, user("x" * 200_000))
    officer = log_in(RoleName.PRIVACY_OFFICER)

    page = officer.get(f"/conversations/{conversation.pk}/").content.decode()
    whole = officer.get(f"/conversations/{conversation.pk}/messages/1/blocks/0/").content.decode()

    assert "The whole text, 200,000 characters" in page
    assert page.count("x" * 4_001) <= 4  # titles
    assert len(page) < 80_000
    assert sum(len(run) for run in re.findall(r"x{1000,}", whole)) >= 200_000


def test_deeply_nested_arguments_are_shown_as_they_came(log_in, make_conversation, say):
    conversation = make_conversation()
    say(conversation, user())
    nested = "[" * 5_000 + "]" * 5_000
    say(conversation, MessageDraft(Role.ASSISTANT, [call("toolu_1", "q", nested)]))

    response = log_in(RoleName.PRIVACY_OFFICER).get(f"/conversations/{conversation.pk}/")

    assert response.status_code == 200
    assert "[" * 1_000 in response.content.decode()
