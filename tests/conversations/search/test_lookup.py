from typing import Any
from uuid import UUID

import pytest
from django.db import connection

from access.models import Realm
from conversations.models import Exchange, Generation
from conversations.search import lookup
from conversations.search.lookup import find_by_id, find_by_prefix, uuid_bounds
from conversations.services.appending import append_message
from conversations.services.generations import Attempt, Outcome, begin_generation, finish_generation
from conversations.vocabulary import Dialect, GenerationStatus
from tests.conversations.conftest import CUSTOMER, NOW
from tests.conversations.drafts import calls, results, user

pytestmark = pytest.mark.django_db


@pytest.fixture
def answered(conversation):
    """One question, one call, its result; the attempt has every id that providers give."""
    append_message(
        conversation_id=conversation.pk, message=user(client_message_id="m-app-1"), actor=CUSTOMER, now=NOW
    )
    attempt = Attempt(
        request_id="request-77",
        provider="anthropic",
        dialect=Dialect.ANTHROPIC_MESSAGES,
        requested_model="claude-sonnet-4-5",
    )
    begin_generation(conversation_id=conversation.pk, leaf_seq=1, attempt=attempt, now=NOW)
    finish_generation(
        conversation_id=conversation.pk,
        number=1,
        outcome=Outcome(
            status=GenerationStatus.COMPLETE,
            message=calls("toolu_01ABCtest"),
            provider_response_id="msg_01XYZ",
            provider_request_id="req_01XYZ",
        ),
        actor=CUSTOMER,
        now=NOW,
    )
    append_message(
        conversation_id=conversation.pk, message=results("toolu_01ABCtest"), actor=CUSTOMER, now=NOW
    )
    Generation.objects.update(hosted_conversation_id="conv_hosted1")
    Exchange.objects.create(
        realm=conversation.account.realm, exchange_id="exchange-5", conversation=conversation, number=1
    )
    return conversation


def found(term, **fields):
    hits = find_by_id(term=term, realm_ids=None, **fields)
    return [(hit.kind.value, hit.seq, hit.ordinal, hit.number) for hit in hits]


def test_a_call_id_leads_to_the_call_and_to_its_result(answered):
    assert found("toolu_01ABCtest") == [("call", 2, 0, None), ("result", 3, 0, None)]


@pytest.mark.parametrize("term", ["msg_01XYZ", "req_01XYZ", "request-77", "conv_hosted1", "exchange-5"])
def test_every_id_of_an_attempt_leads_to_it(answered, term):
    assert found(term) == [("attempt", 2, None, 1)]


def test_messages_conversations_and_accounts_are_found(answered, account):
    account.email = "Mia@Example.com"
    account.save(update_fields=["email"])

    assert found("m-app-1") == [("message", 1, None, None)]
    assert found(str(answered.pk), uuid=answered.pk) == [("conversation", None, None, None)]
    assert found(account.external_id) == [("account", None, None, None)]
    assert found("mia@example.com") == [("account", None, None, None)]


def test_ids_keep_their_case(answered):
    assert found("TOOLU_01ABCtest") == []


def test_what_lies_in_another_realm_is_not_found(answered, account):
    other = Realm.objects.create(slug="other", name="Other", created_at=NOW)

    assert find_by_id(term="toolu_01ABCtest", realm_ids=[other.pk]) == []
    assert find_by_id(term=account.external_id, realm_ids=[other.pk]) == []
    assert len(find_by_id(term="toolu_01ABCtest", realm_ids=[account.realm_id])) == 2


def test_a_prefix_finds_longer_ids_and_wildcards_are_plain_characters(answered):
    hits = find_by_prefix(prefix="toolu_01A", realm_ids=None)

    assert [(hit.kind.value, hit.matched) for hit in hits] == [
        ("call", "toolu_01ABCtest"),
        ("result", "toolu_01ABCtest"),
    ]
    assert find_by_prefix(prefix="toolu_%", realm_ids=None) == []
    assert find_by_prefix(prefix="toolu", realm_ids=None) == []


def test_a_conversation_is_found_by_the_beginning_of_its_id(answered):
    hits = find_by_prefix(prefix=str(answered.pk)[:13], realm_ids=None)

    assert [hit.conversation_id for hit in hits] == [answered.pk]


def test_the_bounds_of_a_uuid_prefix():
    assert uuid_bounds("0198-f") == (
        UUID("0198f000-0000-0000-0000-000000000000"),
        UUID("0198ffff-ffff-ffff-ffff-ffffffffffff"),
    )
    assert uuid_bounds("toolu") is None


def test_a_lookup_is_one_query(answered, django_assert_num_queries):
    with django_assert_num_queries(1):
        find_by_id(term="toolu_01ABCtest", realm_ids=None)


@pytest.mark.parametrize(
    "statement",
    [
        lookup._exact_statement(is_uuid=False, is_address=False),
        lookup._exact_statement(is_uuid=True, is_address=True),
        lookup._prefix_statement(is_uuid=True),
    ],
    ids=["id", "uuid and address", "prefix"],
)
def test_every_look_up_is_an_index_probe(answered, statement):
    values: dict[str, Any] = {
        "term": "toolu_01ABC",
        "end": "toolu_01ABD",
        "uuid": UUID(int=7),
        "realms": None,
    }
    values |= {"uuid": UUID(int=7), "lowest": UUID(int=7), "highest": UUID(int=9)}
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(f"EXPLAIN {statement}", values)
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert plan.count("Index Cond") >= len(lookup._SOURCES), plan
    # Of the realms there are few.
    scans = [line for line in plan.splitlines() if "Seq Scan" in line and "access_realm" not in line]
    assert scans == []
