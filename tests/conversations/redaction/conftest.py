"""The switch, and a look into every table for what should be nowhere."""

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User

from conversations.models import Account, RedactionSwitch
from conversations.redaction.switch import set_kinds
from conversations.vocabulary import SecretKind
from tests.conversations.conftest import NOW
from tests.conversations.schema.rows import fetch


@pytest.fixture
def switch(account: Account, django_user_model: type[User]) -> Callable[..., RedactionSwitch]:
    def turn(*kinds: SecretKind, account_id=account.pk) -> RedactionSwitch:
        return set_kinds(
            realm_id=account.realm_id,
            account_id=account_id,
            kinds=frozenset(kinds),
            user=django_user_model.objects.get_or_create(username="petra")[0],
            now=NOW,
        )

    return turn


def everywhere(text: str) -> list[str]:
    tables = fetch("SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'conversations\\_%'")
    return [
        table
        for (table,) in tables
        if fetch(f'SELECT 1 FROM "{table}" t WHERE position(%s IN t::text) > 0 LIMIT 1', text)
    ]
