"""What a process of its own says on standard error: here, pytest has its hands on all logging."""

import json
import subprocess
import sys

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.utils import DataError

from config.log import tell_exception

SAYS = """
import logging, structlog
from config import log
log.configure_logging(style="json", level="INFO")
structlog.get_logger("ledger").warning("effect_unknown", effect=7)
structlog.get_logger("ledger").debug("looked")
try:
    raise ValueError("no such block")
except ValueError:
    logging.getLogger("django.request").exception("Failed: %s", "/search")
"""


@pytest.fixture(scope="module")
def events():
    done = subprocess.run([sys.executable, "-c", SAYS], check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stderr.splitlines()]


def test_each_event_from_the_level_on_is_one_line(events):
    assert [event["event"] for event in events] == ["effect_unknown", "Failed: /search"]
    assert all(event["timestamp"].endswith("Z") for event in events)


def test_events_of_structlog_keep_their_values(events):
    assert {name: events[0][name] for name in ("effect", "level", "logger")} == {
        "effect": 7,
        "level": "warning",
        "logger": "ledger",
    }


def test_events_of_the_standard_library_come_out_alike_with_their_cause(events):
    assert (events[1]["level"], events[1]["logger"]) == ("error", "django.request")
    assert events[1]["exception"].endswith("ValueError: no such block")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("statement", "kind", "said"),
    [
        (
            "INSERT INTO auth_group (name) VALUES ('mrs-smith'), ('mrs-smith')",
            IntegrityError,
            "UniqueViolation: 23505 auth_group auth_group_name_key",
        ),
        ("SELECT 'mrs-smith'::uuid", DataError, "InvalidTextRepresentation: 22P02"),
    ],
)
def test_what_the_database_quotes_of_a_row_is_not_told(statement, kind, said):
    with pytest.raises(kind) as raised, transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
    assert "mrs-smith" in str(raised.value)

    told = tell_exception((kind, raised.value, raised.tb))

    assert said in told
    assert told.endswith(f"{kind.__name__}: as the database said")
    assert "test_log.py" in told
    assert [line for line in told.splitlines() if "mrs-smith" in line] == []


def test_an_exception_is_told_after_its_causes():
    try:
        try:
            raise KeyError("first")
        except KeyError as error:
            raise ValueError("second") from error
    except ValueError as error:
        told = tell_exception((ValueError, error, error.__traceback__))
    assert told.index("KeyError: 'first'") < told.index("ValueError: second")
