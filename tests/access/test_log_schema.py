"""What PostgreSQL itself refuses about the access log."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, connections, transaction
from django.utils import timezone

from access.actors import Actor, ActorKind
from access.models import AccessEntry, StatedReason
from access.models.log import AccessAction, TargetKind
from access.services.logging import log_access
from access.services.purging import PurgedLog, log_floor_days, purge_log

pytestmark = [pytest.mark.schema, pytest.mark.django_db]

NOW = datetime(2026, 11, 24, 14, 5, tzinfo=UTC)


@pytest.fixture
def entry():
    return log_at(NOW)


def log_at(moment):
    return log_access(
        actor=Actor(ActorKind.STAFF, "7"), action=AccessAction.OPEN, target_kind=TargetKind.PAGE, now=moment
    )


def refusal(statement, *values, using="default"):
    with (
        pytest.raises(DatabaseError) as refused,
        transaction.atomic(using=using),
        connections[using].cursor() as cursor,
    ):
        cursor.execute(statement, values)
    return refused.value.__cause__.diag


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE access_accessentry SET actor_id = '8'",
        "DELETE FROM access_accessentry",
        "TRUNCATE access_accessentry",
        "ALTER TABLE access_accessentry DISABLE TRIGGER ALL",
        "DROP TRIGGER access_log_is_appended ON access_accessentry",
        "UPDATE access_logfloor SET days = 30",
        "INSERT INTO access_logfloor (id, days) VALUES (2, 30)",
        "CREATE OR REPLACE FUNCTION access_log_is_appended() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'",
    ],
)
def test_the_application_can_only_append(entry, statement):
    assert refusal(statement).sqlstate == "42501"
    assert list(AccessEntry.objects.values_list("pk", "actor_id")) == [(entry.pk, "7")]


def test_the_switch_of_the_purge_does_not_help_the_application(entry):
    with transaction.atomic(), connections["default"].cursor() as cursor:
        cursor.execute("SET LOCAL access.purging = 'on'")
    assert refusal("DELETE FROM access_accessentry").sqlstate == "42501"


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
@pytest.mark.parametrize(
    "statement", ["UPDATE access_accessentry SET actor_id = '8'", "DELETE FROM access_accessentry"]
)
def test_even_the_owner_is_stopped_by_the_trigger(entry, statement):
    assert refusal(statement, using="owner").constraint_name == "access_log_append_only"
    assert AccessEntry.objects.get().actor_id == "7"


@pytest.mark.django_db(transaction=True, databases=["default", "reader"])
@pytest.mark.parametrize(
    "table",
    [
        "access_accessentry",
        "access_statedreason",
        "django_session",
        "otp_totp_totpdevice",
        "otp_static_statictoken",
        "axes_accessattempt",
    ],
)
def test_the_reader_sees_nothing_of_it_and_of_how_staff_sign_in(entry, table):
    assert refusal(f"SELECT 1 FROM {table}", using="reader").sqlstate == "42501"


@pytest.mark.parametrize(
    ("column", "constraint"),
    [
        ("action", "access_entry_action_is_known"),
        ("target_kind", "access_entry_target_is_known"),
        ("actor_kind", "access_entry_actor_is_known"),
    ],
)
def test_a_line_holds_closed_choices_only(column, constraint):
    row = {"action": "open", "target_kind": "page", "actor_kind": "staff"} | {column: "whatever"}
    refused = refusal(
        "INSERT INTO access_accessentry (at, actor_id, target_id, action, target_kind, actor_kind)"
        " VALUES (now(), '', '', %s, %s, %s)",
        row["action"],
        row["target_kind"],
        row["actor_kind"],
    )
    assert refused.constraint_name == constraint


def test_the_purge_takes_what_is_older_and_nothing_else(django_user_model):
    now = timezone.now()
    user = django_user_model.objects.create_user("maja")
    for days in (500, 400, 399, 366, 10):
        log_at(now - timedelta(days=days))
        StatedReason.objects.create(
            id=f"00000000-0000-0000-0000-000000000{days:03}",
            user=user,
            conversation_id="00000000-0000-0000-0000-000000000001",
            stated_at=now - timedelta(days=days),
            valid_until=now - timedelta(days=days),
        )
    before = now - timedelta(days=380)

    assert purge_log(before=before, limit=2) == PurgedLog(entries=2, reasons=2)
    assert purge_log(before=before, limit=2) == PurgedLog(entries=1, reasons=1)
    assert purge_log(before=before, limit=2) == PurgedLog(entries=0, reasons=0)

    assert [(now - entry.at).days for entry in AccessEntry.objects.order_by("at")] == [366, 10]
    assert StatedReason.objects.count() == 2


def test_the_purge_keeps_the_floor_by_the_servers_clock():
    log_at(timezone.now() - timedelta(days=364, hours=23))
    within = timezone.now() - timedelta(days=log_floor_days()) + timedelta(minutes=1)

    with pytest.raises(DatabaseError) as refused, transaction.atomic():
        purge_log(before=within)

    assert refused.value.__cause__.diag.constraint_name == "access_log_floor"
    assert AccessEntry.objects.count() == 1


def test_after_the_purge_nothing_else_may_be_deleted(entry):
    purge_log(before=timezone.now() - timedelta(days=400))
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT current_setting('access.purging', true)")
        assert cursor.fetchone()[0] in (None, "")


@pytest.mark.django_db(transaction=True, databases=["default", "owner"])
@pytest.mark.parametrize(
    ("statement", "constraint"),
    [
        ("UPDATE access_logfloor SET days = 29", "access_logfloor_at_least_a_month"),
        ("INSERT INTO access_logfloor (id, days) VALUES (2, 90)", "access_logfloor_is_one_row"),
    ],
)
def test_the_floor_is_one_row_of_a_month_or_more(statement, constraint):
    assert refusal(statement, using="owner").constraint_name == constraint
