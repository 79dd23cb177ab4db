"""`script/evidence erasure`: a person with traces in every store is erased, and looked for byte by byte.

The sample company is loaded; one more customer gets traces in every place that can hold words:
texts, tool payloads, a large file, titles, notes, stated reasons, job parameters, the admin's log, a
failed sign-in, webhooks, statement and import files, a summary, an error text, an archive. Then the desk
erases the person. Every table as the server copies it out, every raw body, every file (archives opened) and
what waits in the broker are searched for the names, byte by byte; money totals and everybody else's rows
are compared with their digests from before.
"""

import argparse
import base64
import json
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import redis
import zstandard
from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.test import override_settings

from conversations.models import Account
from evidence.traces import NAMES, leave_traces
from retention.erasure.job import erase
from retention.models import ErasureRequest
from retention.services import erasing, taking_in
from retention.vocabulary import IdentityCheck
from samples.company.load import load_company

MONEY = """
SELECT currency, state, count(*), sum(amount_minor), sum(amount_settled_minor), sum(amount_compensated_minor)
FROM ledger_tooleffect GROUP BY 1, 2 ORDER BY 1, 2
"""
# Everybody else's rows, by table: those that lead to a conversation or an account of another person.
OTHERS = {
    "conversations_account": "id <> %(account)s",
    "conversations_conversation": "account_id <> %(account)s",
    **{
        f"conversations_{name}": "conversation_id IN"
        " (SELECT id FROM conversations_conversation WHERE account_id <> %(account)s)"
        for name in ("message", "messagepart", "toolcall", "headmove", "generation", "summary", "chunk")
    },
    "ledger_tooleffect": "account_id IS NOT NULL AND account_id <> %(account)s",
    "ledger_effectmove": "true",
}


def main(arguments: list[str]) -> int:
    argparse.ArgumentParser(prog="script/evidence erasure").parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        blobs = {
            "BACKEND": "django.core.files.storage.FileSystemStorage",
            "OPTIONS": {"location": folder},
        }
        with override_settings(STORAGES={**settings.STORAGES, "blobs": blobs}):
            return _prove(Path(folder))


def _prove(folder: Path) -> int:
    now = datetime.now(UTC)
    load_company(today=now, crowd_size=20)
    person = leave_traces(now=now)
    traced = _found(folder)
    print(f"traces before: {sum(traced.values())} in {len(traced)} places")
    money, others = _rows(MONEY), _others(person.pk)
    request = _erase(person, now)
    left = _found(folder)
    wrong = [f"found again in {place}: {number}" for place, number in sorted(left.items())]
    if not traced:
        wrong.append("no trace was left to begin with")
    if request.state != "done":
        wrong.append(f"the request is {request.state}")
    for step in request.steps.order_by("place"):
        print(
            f"  {step.name:<14} {step.state:<10} {step.erased or ''} {step.pseudonymised or ''} {step.cause}"
        )
    if _rows(MONEY) != money:
        wrong.append("money totals have changed")
    for table, digest in _others(person.pk).items():
        if digest != others[table]:
            wrong.append(f"somebody else's rows of {table} have changed")
    print(f"found after: {sum(left.values())}; money totals and {len(others)} tables of others compared")
    for line in wrong:
        print(f"WRONG: {line}")
    return 1 if wrong else 0


def _erase(person: Account, now: datetime) -> ErasureRequest:
    first, second = (User.objects.create_user(name) for name in ("evidence-ann", "evidence-ben"))
    request = taking_in.take_in(
        realm_id=person.realm_id, account_ids=[person.pk], aliases=NAMES, received_at=now, now=now, user=first
    )
    erasing.check_identity(request_id=request.pk, how=IdentityCheck.DOCUMENT, user=first, now=now)
    erasing.prepare_preview(request_id=request.pk, user=first, now=now)
    run = erasing.approve_erasure(request_id=request.pk, user=second, now=now)
    erase(run_id=run.pk)
    request.refresh_from_db()
    return request


def _rows(query: str) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        return list(cursor.fetchall())


def _others(account_id: UUID) -> dict[str, str]:
    digests = {}
    for table, whose in OTHERS.items():
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT md5(coalesce(string_agg(t::text, '|' ORDER BY t::text), '')) FROM {table} t"
                f" WHERE {whose}",
                {"account": account_id},
            )
            digests[table] = cursor.fetchone()[0]
    return digests


def _found(folder: Path) -> dict[str, int]:
    """Count the names' occurrences, case aside, in tables, raw bodies and files."""
    found: dict[str, int] = {}
    with psycopg.connect(os.environ["MIGRATION_DATABASE_URL"]) as dump:
        tables = dump.execute(
            "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace"
        ).fetchall()
        for (table,) in tables:
            with dump.cursor().copy(f'COPY "{table}" TO STDOUT (FORMAT binary)') as rows:
                _count(found, table, b"".join(bytes(piece) for piece in rows))
        for compressed, size in dump.execute("SELECT compressed, size FROM conversations_rawbody"):
            opened = zstandard.ZstdDecompressor().decompress(compressed, max_output_size=max(size, 1))
            _count(found, "raw bodies, opened", opened)
    _count_in_broker(found)
    for path in folder.rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            _count(found, "files", content + str(path).encode())
            if content.startswith(zstandard.FRAME_HEADER):
                opened = zstandard.ZstdDecompressor().stream_reader(content, read_across_frames=True).read()
                _count(found, "archive files, opened", opened)
    return found


def _count_in_broker(found: dict[str, int]) -> None:
    """Look at every message that waits: keys, and lists of messages with their bodies opened."""
    broker: Any = redis.Redis.from_url(settings.CELERY_BROKER_URL)
    for key in broker.scan_iter():
        _count(found, "broker keys", key)
        for message in broker.lrange(key, 0, -1) if broker.type(key) == b"list" else ():
            _count(found, "broker messages", message + base64.b64decode(json.loads(message)["body"]))


def _count(found: dict[str, int], place: str, content: bytes) -> None:
    lowered = content.lower()
    number = sum(lowered.count(form) for name in NAMES for form in _forms(name))
    if number:
        found[place] = found.get(place, 0) + number


def _forms(name: str) -> set[bytes]:
    """The ways of writing it that this proof knows, of its own and not the product's."""
    escaped = "".join(char if ord(char) < 128 else f"\\u{ord(char):04x}" for char in name.lower())
    return {name.lower().encode(), escaped.encode(), name.lower().replace("@", "%40").encode()}
