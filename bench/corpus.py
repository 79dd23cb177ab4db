"""Workload W: conversations as support desks have them, the same ones on every machine.

A conversation has 40 messages on its path and about 107 parts; texts of 100 to 800
bytes, tool payloads of 200 to 2,000; three in twenty have an edit or another answer.
It is written by COPY, under all the rules of the database. Beside it stand two flat
tables with the same conversations: what people start with (`flat_text`: one row of
text a message), and the same with all the bytes (`flat_bytes`).

Path digests are random here: only recording reads them, and it brings its own.
"""

import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from uuid import UUID

from psycopg.types.json import Jsonb

SEED = 3
DEFAULT_CONVERSATIONS = 2_000
FULL_CONVERSATIONS = 10_000
BATCH = 100
TURNS = 10
START = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
TOOLS = ("get_order", "find_customer", "list_payments", "refund_payment", "track_parcel")

FLAT_TABLES = """
CREATE SCHEMA bench;
CREATE TABLE bench.flat_text (
    id bigserial PRIMARY KEY, chat_id uuid NOT NULL, role text NOT NULL, content text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now());
CREATE INDEX ON bench.flat_text (chat_id, id);
CREATE TABLE bench.flat_bytes (LIKE bench.flat_text INCLUDING ALL);
CREATE SEQUENCE bench.flat_bytes_id OWNED BY bench.flat_bytes.id;
ALTER TABLE bench.flat_bytes ALTER id SET DEFAULT nextval('bench.flat_bytes_id');
GRANT USAGE ON SCHEMA bench TO counterfoil_app;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA bench TO counterfoil_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA bench TO counterfoil_app;
"""

COLUMNS = {
    "conversations_conversation": (
        "id, account_id, title, source, external_ref, parent_call_id, head_seq, head_move, next_seq,"
        " next_generation, has_fork, created_at, last_activity_at"
    ),
    "conversations_message": (
        "conversation_id, seq, parent_seq, answers_seq, role, dialect, path_digest, branch_reason, created_at"
    ),
    "conversations_messagepart": (
        "conversation_id, seq, ordinal, type, text, payload, tool_call_id, tool_name, answers_seq, status"
    ),
    "conversations_toolcall": (
        "conversation_id, seq, ordinal, call_id, name, status, arguments, generation_number, requested_at"
    ),
    "conversations_headmove": (
        "conversation_id, number, head_seq, moved_at, moved_by_kind, moved_by_id, reason"
    ),
    "conversations_generation": (
        "conversation_id, number, request_id, attempt, provider, dialect, requested_model, served_model,"
        " match, leaf_seq, message_seq, status, stop_reason, notes, uncached_input_tokens, output_tokens,"
        " usage, cost_usd, price_rule, cost_confidence, provider_response_id, provider_request_id,"
        " created_at, finished_at, body_proof, body_style, body_renderer, body_sha256, body_size"
    ),
    "bench.flat_text": "chat_id, role, content, created_at",
    "bench.flat_bytes": "chat_id, role, content, created_at",
}


@dataclass
class Batch:
    """The rows of some conversations, by table."""

    rows: dict[str, list[tuple]] = field(default_factory=lambda: {table: [] for table in COLUMNS})

    def add(self, table: str, *row: object) -> None:
        self.rows[table].append(row)


class Teller:
    """Makes up one conversation after another; number n is the same in every corpus."""

    def __init__(self, account_ids: list[UUID]) -> None:
        pool = random.Random(SEED)
        words = ["".join(pool.choices("etaoinshrdlucmfw", k=pool.randint(2, 9))) for _ in range(3000)]
        self.pool = " ".join(pool.choices(words, k=200_000))
        self.account_ids = account_ids

    def text(self, rng: random.Random, low: int, high: int) -> str:
        at = rng.randrange(len(self.pool) - high)
        return self.pool[at : at + rng.randint(low, high)]

    def tell(self, number: int, batch: Batch) -> None:
        Telling(self, number, batch).write()


class Telling:
    """One conversation on its way into a batch."""

    def __init__(self, teller: Teller, number: int, batch: Batch) -> None:
        self.rng = random.Random(f"{SEED}-{number}")
        self.teller, self.batch = teller, batch
        self.account_id = teller.account_ids[number % len(teller.account_ids)]
        self.at = START + timedelta(minutes=2 * number)
        self.id = conversation_id(number)
        self.seq = self.moves = self.attempts = 0
        self.head: int | None = None
        self.has_fork = False

    def write(self, *, turns: int = TURNS) -> None:
        for _ in range(turns):
            self.turn()
        if self.rng.random() < 0.15:
            self.has_fork = True
            self.another_version()
        last = self.at
        self.batch.add(
            "conversations_conversation",
            *(self.id, self.account_id, self.teller.text(self.rng, 20, 60), "recorded", "", ""),
            *(self.head, self.moves, self.seq + 1, self.attempts + 1, self.has_fork, last, last),
        )

    def turn(self) -> None:
        self.message("user", texts=2)
        calls = self.rng.choice((2, 2, 3))
        asked = self.message("assistant", texts=self.rng.randint(1, 2), calls=calls)
        self.message("user", answers=asked)
        self.message("assistant", texts=self.rng.randint(2, 3))

    def another_version(self) -> None:
        """The last question again, in other words, with another answer."""
        self.head = self.seq - 4
        self.message("user", texts=2, reason="user_edit")
        self.message("assistant", texts=2)

    def message(
        self,
        role: str,
        *,
        texts: int = 0,
        calls: int = 0,
        answers: tuple[int, list[str]] | None = None,
        reason: str = "continue",
    ) -> tuple[int, list[str]]:
        self.seq += 1
        self.at += timedelta(seconds=self.rng.randint(1, 40))
        parent, self.head = self.head, self.seq
        if role == "assistant":
            self.attempt(parent)
        self.batch.add(
            "conversations_message",
            *(self.id, self.seq, parent, answers[0] if answers else None, role, "anthropic_messages"),
            *(self.rng.randbytes(16), reason, self.at),
        )
        blocks = [self.text_part(ordinal) for ordinal in range(texts)]
        ids = [f"toolu_{self.rng.randbytes(12).hex()}" for _ in range(calls)]
        blocks += [self.call_part(texts + place, call_id) for place, call_id in enumerate(ids)]
        if answers:
            blocks += [
                self.result_part(place, answers[0], call_id) for place, call_id in enumerate(answers[1])
            ]
        self.flat(role, blocks)
        self.moves += 1
        self.batch.add(
            "conversations_headmove", self.id, self.moves, self.seq, self.at, "application", "7", "append"
        )
        return self.seq, ids

    def flat(self, role: str, blocks: list[tuple[str, str]]) -> None:
        said = "\n".join(text for kind, text in blocks if kind == "text")
        self.batch.add("bench.flat_text", self.id, role, said, self.at)
        self.batch.add("bench.flat_bytes", self.id, role, "\n".join(text for _, text in blocks), self.at)

    def text_part(self, ordinal: int) -> tuple[str, str]:
        text = self.teller.text(self.rng, 100, 800)
        self.part(ordinal, "text", text, None, None, None, None, None)
        return "text", text

    def call_part(self, ordinal: int, call_id: str) -> tuple[str, str]:
        from conversations.arguments import derived_arguments
        from conversations.drafts import PartDraft
        from conversations.vocabulary import PartType

        name = self.rng.choice(TOOLS)
        said = self.teller.text(self.rng, 40, 1840)
        payload = (
            f'{{"type":"tool_use","id":"{call_id}","name":"{name}",'
            f'"input":{{"order":{self.rng.randrange(10**6)},"note":"{said}"}}}}'
        )
        self.part(ordinal, "tool_use", None, payload.encode(), call_id, name, None, None)
        draft = PartDraft(PartType.TOOL_USE, payload=payload.encode(), tool_call_id=call_id, tool_name=name)
        self.batch.add(
            "conversations_toolcall",
            *(self.id, self.seq, ordinal, call_id, name, "succeeded"),
            *(derived_arguments(draft), self.attempts, self.at),
        )
        return "tool_use", payload

    def result_part(self, ordinal: int, answers: int, call_id: str) -> tuple[str, str]:
        said = self.teller.text(self.rng, 110, 1910)
        payload = f'{{"type":"tool_result","tool_use_id":"{call_id}","content":"{said}"}}'
        self.part(ordinal, "tool_result", None, payload.encode(), call_id, None, answers, "ok")
        return "tool_result", payload

    def part(self, ordinal: int, *columns: object) -> None:
        self.batch.add("conversations_messagepart", self.id, self.seq, ordinal, *columns)

    def attempt(self, leaf: int | None) -> None:
        self.attempts += 1
        usage = {"input_tokens": self.rng.randint(400, 9000), "output_tokens": self.rng.randint(20, 400)}
        self.batch.add(
            "conversations_generation",
            *(self.id, self.attempts, f"req-{self.rng.randbytes(8).hex()}", 1, "anthropic"),
            *("anthropic_messages", "claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "continued"),
            *(leaf, self.seq, "complete", "end_turn", Jsonb([]), *usage.values(), Jsonb(usage)),
            *("0.012345678", "anthropic/claude-sonnet-4-5/2025-09-29", "exact"),
            *(f"msg_{self.rng.randbytes(12).hex()}", f"req_{self.rng.randbytes(12).hex()}"),
            *(self.at, self.at, "exact", 0, 1, self.rng.randbytes(32), 40_000),
        )


def conversation_id(number: int) -> UUID:
    """The id of conversation `number`, by its start, the same in every corpus."""
    milliseconds = int((START + timedelta(minutes=2 * number)).timestamp() * 1000)
    tail = random.Random(f"{SEED}-id-{number}").getrandbits(74)
    return UUID(int=milliseconds << 80 | 0x7 << 76 | (tail >> 62) << 64 | 0b10 << 62 | (tail & (1 << 62) - 1))


def wanted(arguments: list[str]) -> int:
    """Return the number of conversations: `--conversations=N`, or `--full`."""
    for argument in arguments:
        if argument.startswith("--conversations="):
            return int(argument.partition("=")[2])
    return FULL_CONVERSATIONS if "--full" in arguments else DEFAULT_CONVERSATIONS


def ensure(conversations: int) -> int:
    """Fill the database up to so many conversations; return how many there are (never fewer)."""
    from django.db import connection

    _make_flat_tables()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT chat_id) FROM bench.flat_text")
        there = int(cursor.fetchone()[0])
    if there >= conversations:
        return there
    began = time.monotonic()
    teller = Teller(_accounts())
    for batch in _batches(teller, there, conversations):
        copy_batch(batch)
    settle()
    sys.stdout.write(f"{conversations - there} conversations made in {time.monotonic() - began:.0f} s\n")
    return conversations


def _batches(teller: Teller, first: int, end: int) -> Iterator[Batch]:
    for start in range(first, end, BATCH):
        batch = Batch()
        for number in range(start, min(start + BATCH, end)):
            teller.tell(number, batch)
        yield batch


def copy_batch(batch: Batch) -> None:
    from django.db import connection, transaction

    with transaction.atomic(), connection.cursor() as cursor:
        for table, columns in COLUMNS.items():
            with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
                for row in batch.rows[table]:
                    copy.write_row(row)


def _accounts() -> list[UUID]:
    from access.models import Realm
    from conversations.services.accounts import ensure_account

    realm, _ = Realm.objects.get_or_create(slug="bench", defaults={"name": "Bench", "created_at": START})
    return [ensure_account(realm=realm, external_id=f"customer-{n}", now=START).pk for n in range(500)]


def _make_flat_tables() -> None:
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT to_regnamespace('bench')")
        if cursor.fetchone()[0] is None:
            for statement in filter(str.strip, FLAT_TABLES.split(";")):
                cursor.execute(statement)


def settle() -> None:
    """Leave the tables as a quiet night would: visible pages, fresh statistics."""
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        for table in COLUMNS:
            cursor.execute(f"VACUUM (ANALYZE) {table}")
