"""What a processor answered is evidence too, and money is held with its account when its story is gone.

Until now only webhooks were asked about, and an account only by way of a conversation that was there.
"""

import importlib

from django.db import migrations

_BEFORE = importlib.import_module("retention.migrations.0002_hold_rules").EVIDENCE_IS_FREE

# Locks as retention_refuse_if_held does, and knows the account also where the conversation is gone.
REFUSE_IF_EITHER_HELD = """
CREATE FUNCTION retention_refuse_if_either_held(conversation uuid, account uuid, what text) RETURNS void
LANGUAGE plpgsql VOLATILE AS $$
DECLARE holder text;
BEGIN
    PERFORM FROM conversations_account a WHERE a.id = account FOR SHARE;
    PERFORM FROM conversations_conversation c WHERE c.id = conversation FOR SHARE;
    holder := retention_hold_on(conversation, account);
    IF holder IS NOT NULL THEN
        RAISE EXCEPTION '% of conversation %, account %, stays: %', what, conversation, account, holder
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'retention_held_stays', TABLE = what;
    END IF;
END $$
"""

EVIDENCE_IS_FREE = """
CREATE OR REPLACE FUNCTION retention_evidence_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE one record;
BEGIN
    PERFORM retention_refuse_if_either_held(NULL, old.account_id, tg_table_name);
    FOR one IN
        SELECT e.conversation_id, e.account_id FROM ledger_webhookevent w
            JOIN ledger_tooleffect e ON e.id = w.effect_id WHERE w.raw_id = old.id
        UNION
        SELECT e.conversation_id, e.account_id FROM ledger_effectmove m
            JOIN ledger_tooleffect e ON e.id = m.effect_id WHERE m.raw_id = old.id
        ORDER BY 2, 1
    LOOP
        PERFORM retention_refuse_if_either_held(one.conversation_id, one.account_id, tg_table_name);
    END LOOP;
    RETURN old;
END $$
"""

EFFECT_IS_FREE = """
CREATE FUNCTION retention_effect_is_free() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM retention_refuse_if_either_held(old.conversation_id, old.account_id, tg_table_name);
    RETURN new;
END $$
"""

ATTACHED_TRIGGER = """
CREATE TRIGGER retention_held_attached BEFORE UPDATE OF call_seq, account_id ON ledger_tooleffect
FOR EACH ROW WHEN (old.call_seq IS NOT NULL AND new.call_seq IS NULL
    OR old.account_id IS NOT NULL AND new.account_id IS NULL)
EXECUTE FUNCTION {function}()
"""
_DROP_ATTACHED = "DROP TRIGGER retention_held_attached ON ledger_tooleffect"


class Migration(migrations.Migration):
    dependencies = [("retention", "0011_held_words_are_not_replaced")]

    operations = [
        migrations.RunSQL([REFUSE_IF_EITHER_HELD], ["DROP FUNCTION retention_refuse_if_either_held"]),
        migrations.RunSQL(
            [EVIDENCE_IS_FREE], [_BEFORE.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")]
        ),
        migrations.RunSQL([EFFECT_IS_FREE], ["DROP FUNCTION retention_effect_is_free"]),
        migrations.RunSQL(
            [_DROP_ATTACHED, ATTACHED_TRIGGER.format(function="retention_effect_is_free")],
            [_DROP_ATTACHED, ATTACHED_TRIGGER.format(function="retention_row_is_free")],
        ),
    ]
