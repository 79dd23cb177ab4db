"""PostgreSQL refuses, to the application's role, whatever would take away what is held."""

import pytest
from django.db import transaction

from retention.services.holds import approve_release, place_hold, request_release
from tests.conversations.schema.conftest import add_text, empty, tree
from tests.conversations.schema.rows import PRIVILEGE, execute, fetch, insert, refused
from tests.ledger.made_rows import make_dispute
from tests.retention.conftest import NOW
from tests.retention.desk import release

__all__ = ["add_text", "empty", "tree"]

pytestmark = [pytest.mark.schema, pytest.mark.django_db(transaction=True)]

SOME_ID = "019cd2e8-8620-745a-943e-d7568a45ad62"

# Each statement would take something of the conversation away.
LOSSES = {
    "the conversation": "DELETE FROM conversations_conversation",
    "the account": "DELETE FROM conversations_account",
    "a message": "DELETE FROM conversations_message WHERE seq = 6",
    "an attempt": "DELETE FROM conversations_generation",
    "its once-only key": "DELETE FROM conversations_exchange",
    "a raw body": "DELETE FROM conversations_rawbody",
    "a summary": "DELETE FROM conversations_summary",
    "a summary's text": "UPDATE conversations_summary SET text = '', invalidated_at = now()",
    "a chunk": "DELETE FROM conversations_chunk",
    "the bytes of a part": (
        "UPDATE conversations_messagepart SET text = NULL, payload = NULL, bytes_state = 'erased'"
    ),
    "a body's patch": "UPDATE conversations_generation SET body_proof = 'lost', body_patch = NULL",
    "the title": "UPDATE conversations_conversation SET title = ''",
    "a title for another": "UPDATE conversations_conversation SET title = 'x'",
    "a summary's text for another": "UPDATE conversations_summary SET text = 'x'",
    "the words of an error": "UPDATE conversations_generation SET error_message = 'x'",
    "what was derived of a call": "UPDATE conversations_toolcall SET arguments = NULL",
    "a note's words for others": "UPDATE conversations_conversationnote SET text = 'x'",
    "a note": "DELETE FROM conversations_conversationnote",
    "a note's words": "UPDATE conversations_conversationnote SET text = ''",
}


@pytest.fixture
def full(tree, account, realm, officer):
    """Something in every table that a held conversation could lose."""
    attempt = {"leaf_seq": 4, "message_seq": 5, "body_patch": b"patch", "error_message": "no such order"}
    insert("generation", conversation_id=tree, number=1, **attempt)
    execute("UPDATE conversations_toolcall SET arguments = '{\"order\": 7}'")
    insert("exchange", realm_id=realm.pk, exchange_id="x-1", conversation_id=tree, number=1)
    insert("summary", id=SOME_ID, conversation_id=tree, from_seq=1, to_seq=5)
    insert("chunk", id=SOME_ID, conversation_id=tree, seq=5, ordinal=0)
    insert("rawbody", id=SOME_ID, raw_class="stream", conversation_id=tree, account_id=account.pk)
    execute("UPDATE conversations_conversation SET title = 'An order'")
    execute(
        "INSERT INTO conversations_conversationnote"
        " (id, conversation_id, author_id, text, ticket, written_at)"
        " VALUES (%s, %s, %s, 'called back', '', now())",
        SOME_ID,
        tree,
        officer.pk,
    )
    return tree


@pytest.mark.parametrize("loss", LOSSES)
def test_a_conversation_on_hold_loses_nothing(full, officer, loss):
    place_hold(conversation_id=full, matter="M-7", user=officer, now=NOW)

    with refused("retention_held_stays"):
        execute(LOSSES[loss])


@pytest.mark.parametrize("loss", LOSSES)
def test_an_account_on_hold_loses_nothing(full, account, officer, loss):
    place_hold(account_id=account.pk, matter="M-7", user=officer, now=NOW)

    with refused("retention_held_stays"):
        execute(LOSSES[loss])


@pytest.mark.parametrize("loss", sorted(LOSSES.keys() - {"the account", "the conversation"}))
def test_what_nothing_holds_may_go(full, loss):
    execute(LOSSES[loss])


def test_the_name_of_an_account_on_hold_stays(full, account, officer):
    execute("UPDATE conversations_account SET email = 'q@example.org'")
    place_hold(account_id=account.pk, matter="M-7", user=officer, now=NOW)

    with refused("retention_held_stays"):
        execute("UPDATE conversations_account SET email = ''")


def test_with_two_matters_it_stays_until_both_have_ended(full, officer, second):
    holds = [
        place_hold(conversation_id=full, matter=matter, user=officer, now=NOW) for matter in ("M-7", "M-8")
    ]
    for hold in holds:
        request_release(hold_id=hold.pk, user=officer, now=NOW)

    approve_release(hold_id=holds[0].pk, user=second, now=NOW)
    with refused("retention_held_stays"):
        execute("DELETE FROM conversations_conversation")
    approve_release(hold_id=holds[1].pk, user=second, now=NOW)
    execute("DELETE FROM conversations_conversation")

    assert fetch("SELECT count(*) FROM conversations_message") == [(0,)]


def test_a_disputed_charge_holds_its_conversation(bought):
    make_dispute(bought, "dp_1", charge="ch_1")

    with refused("retention_held_stays"):
        execute("UPDATE conversations_messagepart SET text = NULL, payload = NULL, bytes_state = 'stripped'")


def test_an_effect_on_hold_is_not_cut_from_its_call(bought, officer):
    place_hold(effect_id=bought.pk, matter="M-7", user=officer, now=NOW)

    with refused("retention_held_stays"):
        execute(
            "UPDATE ledger_tooleffect SET call_seq = NULL, detached_at = now(), detached_standing = 'live'"
        )


def test_a_hold_begins_open(conversation, officer):
    with refused("retention_hold_begins_open"):
        execute(
            "INSERT INTO retention_legalhold (id, target_kind, conversation_id, matter, placed_by_id,"
            " placed_at, release_requested_by_id, release_requested_at)"
            " VALUES (%s, 'conversation', %s, 'M-7', %s, now(), %s, now())",
            SOME_ID,
            conversation.pk,
            officer.pk,
            officer.pk,
        )


def test_one_person_cannot_release(conversation, officer):
    place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)
    execute(
        "UPDATE retention_legalhold SET release_requested_by_id = %s, release_requested_at = now()",
        officer.pk,
    )

    with refused("retention_hold_released_by_two_people"):
        execute("UPDATE retention_legalhold SET released_by_id = %s, released_at = now()", officer.pk)


def test_nobody_releases_what_was_not_asked_for(conversation, officer):
    place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)

    with refused("retention_hold_release_was_asked_for"):
        execute("UPDATE retention_legalhold SET released_by_id = %s, released_at = now()", officer.pk)


def test_a_released_hold_does_not_change_again(conversation, officer, second):
    hold = place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)
    release(hold, officer, second)

    with refused("retention_hold_only_ends"):
        execute("UPDATE retention_legalhold SET released_by_id = NULL, released_at = NULL")


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM retention_legalhold",
        "UPDATE retention_legalhold SET matter = 'M-8'",
        "DELETE FROM retention_holdevent",
        "UPDATE retention_holdevent SET step = 'released'",
        "DELETE FROM retention_retentionpolicy",
        "UPDATE retention_retentionpolicy SET days = 1",
    ],
)
def test_history_is_only_appended(conversation, officer, statement):
    place_hold(conversation_id=conversation.pk, matter="M-7", user=officer, now=NOW)

    with refused(PRIVILEGE):
        execute(statement)


def test_an_account_goes_when_its_hold_was_released(full, account, officer, second):
    hold = place_hold(account_id=account.pk, matter="M-7", user=officer, now=NOW)
    release(hold, officer, second)

    with transaction.atomic():
        execute("DELETE FROM conversations_account")

    assert fetch("SELECT count(*) FROM conversations_conversation") == [(0,)]


def test_every_key_that_a_delete_follows_has_its_index():
    """A delete without one reads the whole table for each row that goes."""
    missing = fetch(
        """
        SELECT k.conrelid::regclass::text, k.conname FROM pg_constraint k
        JOIN pg_class target ON target.oid = k.confrelid
        WHERE k.contype = 'f' AND target.relname LIKE 'conversations\\_%%'
        AND target.relname NOT IN ('conversations_fragment', 'conversations_blob')
        AND NOT EXISTS (
            SELECT FROM pg_index i WHERE i.indrelid = k.conrelid AND k.conkey[1] = i.indkey[0]
        )
        ORDER BY 1, 2
    """.replace("%%", "%")
    )

    assert missing == []


# Rows beside a conversation that hold none of it: what staff asked or noted, ids, times, closed choices.
HOLD_NONE_OF_IT = {
    "access_statedreason",
    "conversations_redactionspan",
    "ledger_guardquestion",
    "retention_archivereturn",
}
_GUARDED = """
SELECT c.relname, has_table_privilege('counterfoil_app', c.oid, 'DELETE'), EXISTS (
    SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal
    AND (t.tgname LIKE 'retention\\_held%' OR t.tgname = 'conversations_archive_is_whole'))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
AND a.attname = 'conversation_id' AND NOT a.attisdropped
"""


def test_every_table_of_a_conversation_has_a_rule_for_holds(conversation):
    """A new one is guarded by a trigger, is not deleted from by the application, or stands above."""
    tables = fetch(_GUARDED)

    unguarded = {name for name, may_delete, is_guarded in tables if may_delete and not is_guarded}
    assert len(tables) > 15
    assert unguarded == HOLD_NONE_OF_IT
