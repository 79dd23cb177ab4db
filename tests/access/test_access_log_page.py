import csv
from datetime import UTC, datetime, timedelta
from io import StringIO
from uuid import UUID

import pytest
from django.urls import reverse

from access.actors import Actor, ActorKind
from access.models import AccessEntry, Realm
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from access.services.reasons import state_reason

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)
CONVERSATION = UUID("0193a1b2-0000-7000-8000-000000000001")


@pytest.fixture
def auditor(client, make_staff):
    client.force_login(make_staff("aud", role="auditor"))
    return client


def log(user, action=AccessAction.OPEN, *, minutes=0, **fields):
    fields = {"target_kind": TargetKind.CONVERSATION, "address": "203.0.113.9"} | fields
    actor = Actor(ActorKind.STAFF, str(user.pk) if user else "")
    return log_access(actor=actor, action=action, now=NOW + timedelta(minutes=minutes), **fields)


def listed(client, **query):
    page = client.get(reverse("console:access-log"), query)
    assert page.status_code == 200
    return [(row.who, row.entry.action) for row in page.context["rows"]]


def exported(client, **query):
    answer = client.get(reverse("console:access-log-csv"), query)
    assert answer.status_code == 200
    text = b"".join(answer.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(StringIO(text)))


def test_lines_say_who_did_what_on_which_ground_newest_first(auditor, make_staff):
    maja = make_staff("maja")
    reason = state_reason(
        user=maja, conversation_id=CONVERSATION, ticket="WT-1042", words="<b>double</b> charge", now=NOW
    )
    log(maja, minutes=1, conversation_id=CONVERSATION, reason_id=reason.pk, target_id=str(CONVERSATION))
    log(None, AccessAction.SIGN_IN_FAILED, minutes=2, target_kind=TargetKind.USER, target_id=str(maja.pk))

    assert listed(auditor) == [("", "sign_in_failed"), ("maja", "open"), ("maja", "state_reason")]
    page = auditor.get(reverse("console:access-log")).content.decode()
    assert "WT-1042" in page
    assert "&lt;b&gt;double&lt;/b&gt; charge" in page
    assert "203.0.113.9" in page
    assert "nobody known" in page


@pytest.mark.parametrize("action", AccessAction)
def test_each_action_is_told_in_words_in_its_row_and_in_the_filter(auditor, make_staff, action):
    log(make_staff("maja"), action)

    page = auditor.get(reverse("console:access-log"), {"action": action.value})

    [row] = page.context["rows"]
    chosen = next(group for group in page.context["groups"] if group.name == "action").choices
    assert [choice.label for choice in chosen if choice.is_selected] == [row.action]
    assert f"<td>{row.action}</td>" in page.content.decode()


def test_each_filter_narrows_down(auditor, make_staff):
    maja, owen = make_staff("maja"), make_staff("owen")
    log(maja, conversation_id=CONVERSATION)
    log(owen, AccessAction.REVEAL, minutes=10, target_kind=TargetKind.ACCOUNT, account_id=CONVERSATION)
    log(None, AccessAction.SIGN_IN_FAILED, minutes=20, target_kind=TargetKind.USER, target_id=str(owen.pk))

    assert listed(auditor, who="owen") == [("", "sign_in_failed"), ("owen", "reveal")]
    assert listed(auditor, who="nobody\0") == []
    assert listed(auditor, action="open") == [("maja", "open")]
    assert listed(auditor, target="account") == [("owen", "reveal")]
    assert listed(auditor, conversation=str(CONVERSATION)) == [("maja", "open")]
    assert listed(auditor, account=str(CONVERSATION)) == [("owen", "reveal")]
    assert listed(auditor, since="2026-11-24T14:10:00Z", until="2026-11-24T14:20:00Z") == [("owen", "reveal")]


def test_a_filter_that_cannot_be_read_shows_nothing_and_says_so(auditor, make_staff):
    log(make_staff("maja"))

    page = auditor.get(reverse("console:access-log"), {"conversation": "' OR 1=1"})

    assert page.context["rows"] == []
    assert "Enter a valid UUID." in page.content.decode()
    assert auditor.get(reverse("console:access-log"), {"after": "x"}).status_code == 400
    assert auditor.get(reverse("console:access-log-csv"), {"conversation": "x"}).status_code == 400


def test_pages_go_by_key_and_back(auditor, make_staff):
    maja = make_staff("maja")
    for minute in range(60):
        log(maja, minutes=minute // 2)
    ids = list(AccessEntry.objects.order_by("-at", "-id").values_list("pk", flat=True))

    first = auditor.get(reverse("console:access-log"))
    second = auditor.get(reverse("console:access-log") + first.context["older"])
    back = auditor.get(reverse("console:access-log") + second.context["newer"])

    assert [row.entry.pk for row in first.context["rows"]] == ids[:50]
    assert [row.entry.pk for row in second.context["rows"]] == ids[50:]
    assert [row.entry.pk for row in back.context["rows"]] == ids[:50]
    assert second.context["older"] == ""


def test_the_page_asks_as_much_for_five_times_the_lines(auditor, make_staff, django_assert_num_queries):
    maja = make_staff("maja")

    def fill(count):
        for _ in range(count):
            reason = state_reason(user=maja, conversation_id=CONVERSATION, ticket="T", words="", now=NOW)
            log(maja, reason_id=reason.pk)

    # Session, user, its rights twice (own and of its groups), reach, lines, names, reasons, header.
    fill(3)
    with django_assert_num_queries(9):
        auditor.get(reverse("console:access-log"))
    fill(12)
    with django_assert_num_queries(9):
        auditor.get(reverse("console:access-log"))


def test_an_export_holds_the_filtered_lines_and_is_a_line_itself(auditor, make_staff):
    maja = make_staff("maja")
    log(maja, target_id="=cmd|' /C calc'!A0")
    log(maja, AccessAction.REVEAL)

    rows = exported(auditor, action="open")

    assert [(row["actor"], row["action"], row["target id"]) for row in rows] == [
        ("maja", "open", "'=cmd|' /C calc'!A0")
    ]
    line = AccessEntry.objects.order_by("-id").first()
    assert (line.action, line.target_kind, line.target_id, line.row_count) == (
        "export",
        "list",
        "access log",
        1,
    )


def test_what_is_written_during_an_export_is_not_in_it(auditor, make_staff):
    log(make_staff("maja"))

    assert [row["action"] for row in exported(auditor)] == ["open"]
    assert sorted(row["action"] for row in exported(auditor)) == ["export", "open"]


def test_an_auditor_of_one_realm_sees_its_lines_and_those_of_none(client, make_staff):
    eu, us = (Realm.objects.create(slug=slug, name=slug, created_at=NOW) for slug in ("eu", "us"))
    client.force_login(make_staff("aud", role="auditor", realms=(eu,)))
    maja = make_staff("maja")
    log(maja, AccessAction.OPEN, realm_id=us.pk)
    log(maja, AccessAction.REVEAL, minutes=1, realm_id=eu.pk)
    log(maja, AccessAction.SIGN_IN, minutes=2)

    assert listed(client) == [("maja", "sign_in"), ("maja", "reveal")]
    assert [row["action"] for row in exported(client)] == ["sign_in", "reveal"]


@pytest.mark.parametrize("role", ["support", "finance", "finance_approver"])
def test_who_may_not_read_it_is_refused_which_is_a_line(client, make_staff, role):
    user = make_staff(role=role)
    client.force_login(user)

    for name in ("console:access-log", "console:access-log-csv"):
        assert client.get(reverse(name)).status_code == 403

    lines = AccessEntry.objects.order_by("id").values_list("action", "actor_id", "target_kind", "target_id")
    assert list(lines) == [
        ("refused", str(user.pk), "page", "console:access-log"),
        ("refused", str(user.pk), "page", "console:access-log-csv"),
    ]
