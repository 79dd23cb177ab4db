"""The path of one conversation: through the product's read, and from flat tables, in turn."""

from collections.abc import Callable
from uuid import UUID

from bench import corpus, plans, timing

ROUNDS = 400
# What reference measurements say can be had; above it the measurement fails.
MOST_TIMES_FLAT = 2.5


def main(arguments: list[str]) -> int:
    there = corpus.ensure(corpus.wanted(arguments))
    if "--plans" in arguments:
        return plans.show(reads())
    timing.pin()
    ids = [corpus.conversation_id(number) for number in range(there)]
    found = timing.in_turn(
        {
            "flat text": lambda n: read_flat("flat_text", ids[n]),
            "flat bytes": lambda n: read_flat("flat_bytes", ids[n]),
            "path": lambda n: read_path(ids[n]),
            "path's numbers": lambda n: read_seqs(ids[n]),
        },
        choices=there,
        rounds=ROUNDS,
    )
    timing.table(found, beside=("flat text", "flat bytes"))
    return 0 if timing.ratio_within(found, "path", "flat text", MOST_TIMES_FLAT) else 1


def read_flat(table: str, chat_id: UUID) -> list[tuple]:
    return _flat(table)(chat_id)


def _flat(table: str) -> Callable[[UUID], list[tuple]]:
    connection = timing.plain_connection()
    return lambda chat_id: connection.execute(
        f"SELECT role, content FROM bench.{table} WHERE chat_id = %s ORDER BY id", [chat_id], prepare=True
    ).fetchall()


def read_path(conversation_id: UUID) -> int:
    from conversations.reads import path

    return len(path.read_path(conversation_id=conversation_id, leaf_seq=40))


def read_seqs(conversation_id: UUID) -> int:
    from conversations.reads import path

    return len(path.path_seqs(conversation_id=conversation_id, leaf_seq=40))


def reads() -> dict[str, Callable[[], object]]:
    """The hot reads, for `--plans`."""
    return {
        "path": lambda: read_path(corpus.conversation_id(7)),
        "path's numbers": lambda: read_seqs(corpus.conversation_id(7)),
    }
