"""What is held does not go: not by a job, not by a page, not by a statement typed by hand.

Lock first, ask second, in two statements: each function locks the account and
the conversation as a purge does, and only then asks for holds. A hold that was
committed before we had the lock is seen; one that comes later finds the row
gone, or waits for us.

Cascades of the database (depth 1 and more) are not asked again: the statement
that began them was.
"""

from django.db import migrations

HOLD_ON = """
CREATE FUNCTION retention_hold_on(conversation uuid, account uuid) RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE holder text;
BEGIN
    SELECT 'hold ' || h.matter INTO holder FROM retention_legalhold h
        WHERE h.released_at IS NULL AND h.conversation_id = conversation LIMIT 1;
    IF FOUND THEN RETURN holder; END IF;
    SELECT 'hold ' || h.matter INTO holder FROM retention_legalhold h
        WHERE h.released_at IS NULL AND h.account_id = account LIMIT 1;
    IF FOUND THEN RETURN holder; END IF;
    SELECT 'dispute ' || d.external_ref INTO holder
        FROM ledger_tooleffect e JOIN ledger_dispute d ON d.effect_id = e.id
        WHERE e.conversation_id = conversation AND d.closed_at IS NULL LIMIT 1;
    RETURN holder;
END $$
"""

REFUSE_IF_HELD = """
CREATE FUNCTION retention_refuse_if_held(conversation uuid, what text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    account uuid;
    holder text;
BEGIN
    SELECT c.account_id INTO account FROM conversations_conversation c WHERE c.id = conversation;
    PERFORM FROM conversations_account a WHERE a.id = account FOR SHARE;
    PERFORM FROM conversations_conversation c WHERE c.id = conversation FOR SHARE;
    holder := retention_hold_on(conversation, account);
    IF holder IS NOT NULL THEN
        RAISE EXCEPTION '% of conversation % stays: %', what, conversation, holder
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'retention_held_stays', TABLE = what;
    END IF;
END $$
"""

# For statements: `gone` are the rows as they were.
ROWS_ARE_FREE = """
CREATE FUNCTION retention_rows_are_free() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE one uuid;
BEGIN
    FOR one IN SELECT DISTINCT g.conversation_id FROM gone g WHERE g.conversation_id IS NOT NULL ORDER BY 1
    LOOP
        PERFORM retention_refuse_if_held(one, tg_table_name);
    END LOOP;
    RETURN NULL;
END $$
"""

ROW_IS_FREE = """
CREATE FUNCTION retention_row_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM retention_refuse_if_held(old.conversation_id, tg_table_name);
    IF tg_op = 'DELETE' THEN RETURN old; END IF;
    RETURN new;
END $$
"""

# By sets, because a purge deletes many. The rows themselves are locked by the DELETE.
CONVERSATIONS_ARE_FREE = """
CREATE FUNCTION retention_conversations_are_free() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE held record;
BEGIN
    PERFORM FROM conversations_account a WHERE a.id IN (SELECT g.account_id FROM gone g)
        ORDER BY a.id FOR SHARE;
    SELECT g.id, 'hold ' || h.matter AS why INTO held FROM gone g JOIN retention_legalhold h
        ON h.conversation_id = g.id AND h.released_at IS NULL LIMIT 1;
    IF NOT FOUND THEN
        SELECT g.id, 'hold ' || h.matter AS why INTO held FROM gone g JOIN retention_legalhold h
            ON h.account_id = g.account_id AND h.released_at IS NULL LIMIT 1;
    END IF;
    IF NOT FOUND THEN
        SELECT g.id, 'dispute ' || d.external_ref AS why INTO held FROM gone g
            JOIN ledger_tooleffect e ON e.conversation_id = g.id
            JOIN ledger_dispute d ON d.effect_id = e.id AND d.closed_at IS NULL LIMIT 1;
    END IF;
    IF FOUND THEN
        RAISE EXCEPTION 'conversation % stays: %', held.id, held.why
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'retention_held_stays',
                TABLE = 'conversations_conversation';
    END IF;
    RETURN NULL;
END $$
"""

# Deleted, or made unrecognisable: a hold on a person is also one on who they are.
ACCOUNT_IS_FREE = """
CREATE FUNCTION retention_account_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE holder text;
BEGIN
    SELECT 'hold ' || h.matter INTO holder FROM retention_legalhold h
        WHERE h.released_at IS NULL AND h.account_id = old.id LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'account % stays: %', old.id, holder
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'retention_held_stays',
                TABLE = 'conversations_account';
    END IF;
    IF tg_op = 'DELETE' THEN RETURN old; END IF;
    RETURN new;
END $$
"""

# What the processor sent about a charge is the evidence of its effect.
EVIDENCE_IS_FREE = """
CREATE FUNCTION retention_evidence_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE one uuid;
BEGIN
    FOR one IN SELECT e.conversation_id FROM ledger_webhookevent w JOIN ledger_tooleffect e
        ON e.id = w.effect_id WHERE w.raw_id = old.id
    LOOP
        PERFORM retention_refuse_if_held(one, tg_table_name);
    END LOOP;
    RETURN old;
END $$
"""

# Facts of a hold do not change, and a release is for ever.
HOLD_ONLY_ENDS = """
CREATE FUNCTION retention_hold_only_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        IF new.release_requested_at IS NOT NULL OR new.released_at IS NOT NULL THEN
            RAISE EXCEPTION 'a hold begins open'
                USING ERRCODE = 'check_violation', CONSTRAINT = 'retention_hold_begins_open',
                    TABLE = 'retention_legalhold';
        END IF;
        RETURN new;
    END IF;
    IF tg_op = 'DELETE' OR old.released_at IS NOT NULL
        OR (new.id, new.target_kind, new.account_id, new.conversation_id, new.effect_id, new.matter,
            new.placed_by_id, new.placed_at) IS DISTINCT FROM (old.id, old.target_kind, old.account_id,
            old.conversation_id, old.effect_id, old.matter, old.placed_by_id, old.placed_at)
        OR new.released_at IS NOT NULL AND (new.release_requested_by_id, new.release_requested_at)
            IS DISTINCT FROM (old.release_requested_by_id, old.release_requested_at) THEN
        RAISE EXCEPTION 'hold % may only be released, by a second person, once', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'retention_hold_only_ends',
                TABLE = 'retention_legalhold';
    END IF;
    RETURN new;
END $$
"""

HOLD_ONLY_ENDS_TRIGGER = """
CREATE TRIGGER retention_hold_only_ends BEFORE INSERT OR UPDATE OR DELETE ON retention_legalhold
FOR EACH ROW EXECUTE FUNCTION retention_hold_only_ends()
"""

APPEND_ONLY = """
CREATE FUNCTION retention_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are only ever appended', tg_table_name
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'retention_append_only', TABLE = tg_table_name;
END $$
"""

APPEND_ONLY_TRIGGER = """
CREATE TRIGGER retention_append_only BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION retention_append_only()
"""

STATEMENT = """
CREATE TRIGGER retention_held_{suffix} AFTER {event} ON {table} REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION retention_rows_are_free()
"""

ROW = """
CREATE TRIGGER retention_held_{suffix} BEFORE {event} ON {table}
FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION {function}()
"""

CONVERSATIONS_TRIGGER = """
CREATE TRIGGER retention_held_gone AFTER DELETE ON conversations_conversation
REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION retention_conversations_are_free()
"""

# Whole rows, and bytes: every update of parts and messages takes bytes away, their own triggers see to it.
STATEMENT_RULES = [
    ("conversations_generation", "gone", "DELETE"),
    ("conversations_rawbody", "gone", "DELETE"),
    ("conversations_summary", "gone", "DELETE"),
    ("conversations_chunk", "gone", "DELETE"),
    ("conversations_exchange", "gone", "DELETE"),
    ("conversations_conversationnote", "gone", "DELETE"),
    ("conversations_messagepart", "bytes", "UPDATE"),
    ("conversations_message", "bytes", "UPDATE"),
]
# A message by the row: a cascade deletes them one statement each, and must not pay for transition tables.
ROW_RULES = [
    ("conversations_message", "gone", "DELETE", "pg_trigger_depth() = 0", "retention_row_is_free"),
    (
        "conversations_conversation",
        "title",
        "UPDATE OF title",
        "old.title <> '' AND new.title = ''",
        "retention_title_is_free",
    ),
    (
        "conversations_generation",
        "bytes",
        "UPDATE OF body_patch, raw_request_id, raw_response_id, error_message",
        (
            "pg_trigger_depth() = 0 AND (old.body_patch IS NOT NULL AND new.body_patch IS NULL"
            " OR old.raw_request_id IS NOT NULL AND new.raw_request_id IS NULL"
            " OR old.raw_response_id IS NOT NULL AND new.raw_response_id IS NULL"
            " OR old.error_message <> '' AND new.error_message = '')"
        ),
        "retention_row_is_free",
    ),
    (
        "conversations_summary",
        "bytes",
        "UPDATE OF text",
        "pg_trigger_depth() = 0 AND old.text <> '' AND new.text = ''",
        "retention_row_is_free",
    ),
    (
        "conversations_conversationnote",
        "bytes",
        "UPDATE OF text",
        "old.text <> '' AND new.text = ''",
        "retention_row_is_free",
    ),
    (
        "conversations_rawbody",
        "evidence",
        "DELETE",
        "old.conversation_id IS NULL",
        "retention_evidence_is_free",
    ),
    (
        "ledger_tooleffect",
        "attached",
        "UPDATE OF call_seq, account_id",
        (
            "old.call_seq IS NOT NULL AND new.call_seq IS NULL"
            " OR old.account_id IS NOT NULL AND new.account_id IS NULL"
        ),
        "retention_row_is_free",
    ),
    ("conversations_account", "gone", "DELETE", "true", "retention_account_is_free"),
    (
        "conversations_account",
        "bytes",
        "UPDATE OF external_id, label, email",
        (
            "old.external_id <> new.external_id OR old.label <> '' AND new.label = ''"
            " OR old.email <> '' AND new.email = ''"
        ),
        "retention_account_is_free",
    ),
]

TITLE_IS_FREE = """
CREATE FUNCTION retention_title_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM retention_refuse_if_held(old.id, tg_table_name);
    RETURN new;
END $$
"""

TAKE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        REVOKE UPDATE, DELETE, TRUNCATE ON retention_holdevent, retention_retentionpolicy FROM counterfoil_app;
        REVOKE UPDATE, DELETE, TRUNCATE ON retention_legalhold FROM counterfoil_app;
        GRANT UPDATE (release_requested_by_id, release_requested_at, released_by_id, released_at)
            ON retention_legalhold TO counterfoil_app;
        REVOKE UPDATE, TRUNCATE ON retention_generationrollup, retention_toolrollup FROM counterfoil_app;
    END IF;
END $$
"""

GIVE_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        GRANT UPDATE, DELETE ON retention_holdevent, retention_retentionpolicy, retention_legalhold
            TO counterfoil_app;
        GRANT UPDATE ON retention_generationrollup, retention_toolrollup TO counterfoil_app;
    END IF;
END $$
"""


def function(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP FUNCTION {name}"])


def trigger(create: str, name: str, table: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP TRIGGER {name} ON {table}"])


class Migration(migrations.Migration):
    dependencies = [
        ("retention", "0001_policies_and_holds"),
        ("ledger", "0002_effect_rules"),
        ("conversations", "0007_conversation_notes"),
    ]

    operations = [
        function(HOLD_ON, "retention_hold_on"),
        function(REFUSE_IF_HELD, "retention_refuse_if_held"),
        function(ROWS_ARE_FREE, "retention_rows_are_free"),
        function(ROW_IS_FREE, "retention_row_is_free"),
        function(TITLE_IS_FREE, "retention_title_is_free"),
        function(CONVERSATIONS_ARE_FREE, "retention_conversations_are_free"),
        function(ACCOUNT_IS_FREE, "retention_account_is_free"),
        function(EVIDENCE_IS_FREE, "retention_evidence_is_free"),
        trigger(CONVERSATIONS_TRIGGER, "retention_held_gone", "conversations_conversation"),
        *[
            trigger(
                STATEMENT.format(suffix=suffix, event=event, table=table), f"retention_held_{suffix}", table
            )
            for table, suffix, event in STATEMENT_RULES
        ],
        *[
            trigger(
                ROW.format(suffix=suffix, event=event, table=table, when=when, function=name),
                f"retention_held_{suffix}",
                table,
            )
            for table, suffix, event, when, name in ROW_RULES
        ],
        function(HOLD_ONLY_ENDS, "retention_hold_only_ends"),
        trigger(HOLD_ONLY_ENDS_TRIGGER, "retention_hold_only_ends", "retention_legalhold"),
        function(APPEND_ONLY, "retention_append_only"),
        *[
            trigger(APPEND_ONLY_TRIGGER.format(table=table), "retention_append_only", table)
            for table in ("retention_holdevent", "retention_retentionpolicy")
        ],
        migrations.RunSQL([TAKE], [GIVE_BACK]),
    ]
