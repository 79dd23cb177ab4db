"""What tests of statements share: a file in memory, imported."""

import io
from collections.abc import Callable
from typing import Any

import pytest

from access.actors import Actor, ActorKind
from ledger.models import Statement
from ledger.statements.importing import Imported, Told, import_statement
from tests.conversations.conftest import NOW
from tests.ledger.conftest import realm

__all__ = ["realm"]

IMPORTER = Actor(ActorKind.IMPORTER, "test")


@pytest.fixture
def take_in(realm: Any) -> Callable[..., Imported]:
    """Import the text of a file."""

    def make(text: str | bytes, *, name: str = "statement.csv", **told: Any) -> Imported:
        body = text if isinstance(text, bytes) else text.encode()
        return import_statement(
            realm=realm, file=io.BytesIO(body), told=Told(name=name, **told), actor=IMPORTER, now=NOW
        )

    return make


def said(statement: Statement, *fields: str) -> list[tuple[Any, ...]]:
    return list(statement.lines.order_by("number").values_list(*fields))
