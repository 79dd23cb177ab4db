"""Importing a file of dialogues, from its bytes to committed and indexed rows; and its trees out again.

Beside it, the same file into the flat table that people start with: every line
parsed, one row of text a message, by COPY.
"""

import json
import random
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from django.db import connections

from bench import timing
from bench.corpus import SEED, Teller

MESSAGES = 40_000
LEAST_A_SECOND = 8_000
ACCOUNT = "written by the import measurement"


def main(arguments: list[str]) -> int:
    from conversations.models import Account, Conversation

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dialogues.jsonl"
        messages = _write(path)
        flat = _rate(messages, lambda: _import_flat(path))
        try:
            imported = _rate(messages, lambda: _import(path))
            again = _rate(messages, lambda: _import(path))
            exported = _rate(messages, _export)
        finally:
            Conversation.objects.filter(account__external_id=ACCOUNT).delete()
            Account.objects.filter(external_id=ACCOUNT).delete()
    sys.stdout.write(
        f"  {messages:,} messages of {path.name}: flat table {flat:,.0f} a second,"
        f" imported again {again:,.0f}, trees out {exported:,.0f}\n"
    )
    return 0 if timing.at_least("import", imported, LEAST_A_SECOND, "messages a second") else 1


def _rate(messages: int, work: Callable[[], None]) -> float:
    started = time.perf_counter()
    work()
    return messages / (time.perf_counter() - started)


def _import(path: Path) -> None:
    from access.actors import Actor, ActorKind
    from access.models import Realm
    from conversations.services.importing.importing import import_file

    now = datetime.now(UTC)
    realm, _ = Realm.objects.get_or_create(slug="bench", defaults={"name": "Bench", "created_at": now})
    report = import_file(path=path, realm=realm, actor=Actor(ActorKind.IMPORTER), now=now, account=ACCOUNT)
    if report.counts["failed"]:
        raise RuntimeError(f"the import failed: {report.failed[0]}")


def _export() -> None:
    from conversations.services.exporting import export_trees, select_conversations

    for _ in export_trees(select_conversations(account=ACCOUNT)):
        pass


def _import_flat(path: Path) -> None:
    with connections["owner"].cursor() as owner:
        owner.execute("CREATE UNLOGGED TABLE IF NOT EXISTS flat_import (chat text, role text, body text)")
        owner.execute("CREATE INDEX IF NOT EXISTS flat_import_chat ON flat_import (chat)")
    try:
        with (
            path.open(encoding="utf-8") as file,
            timing.plain_connection().cursor() as cursor,
            cursor.copy("COPY flat_import FROM STDIN") as copy,
        ):
            for line in file:
                record = json.loads(line)
                for message in record["messages"]:
                    copy.write_row((record["id"], message["role"], json.dumps(message)))
    finally:
        with connections["owner"].cursor() as owner:
            owner.execute("DROP TABLE flat_import")


def _write(path: Path) -> int:
    """Forty messages a dialogue, calls and results among them, as in the other measurements."""
    teller = Teller([])
    written = 0
    with path.open("w", encoding="utf-8") as file:
        number = 0
        while written < MESSAGES:
            rng = random.Random(f"{SEED}-import-{number}")
            messages = [message for _ in range(10) for message in _turn(teller, rng)]
            file.write(json.dumps({"id": f"bench-{number}", "messages": messages}) + "\n")
            written += len(messages)
            number += 1
    return written


def _turn(teller: Teller, rng: random.Random) -> list[dict[str, object]]:
    call_id = f"call_{rng.getrandbits(96):024x}"
    function = {"name": "get_order", "arguments": json.dumps({"note": teller.text(rng, 150, 900)})}
    call = {"id": call_id, "type": "function", "function": function}
    return [
        {"role": "user", "content": teller.text(rng, 100, 800)},
        {"role": "assistant", "content": teller.text(rng, 100, 400), "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": teller.text(rng, 200, 2000)},
        {"role": "assistant", "content": teller.text(rng, 100, 800)},
    ]
