"""Calls are asked about once a message and not once a call: of a hundred at once, each asked of them all.

A call that goes from requested to its end changes nothing about who answered: only one that counts again,
or that was touched to be asked about when the transaction ends, is looked at.
"""

from importlib import import_module

from django.db import migrations

STATEMENTS = import_module("conversations.migrations.0014_rules_by_statement")
BEFORE = import_module("conversations.migrations.0016_fewer_keys")

CALLS_ARE_ANSWERED = """
CREATE OR REPLACE FUNCTION conversations_calls_are_answered() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE lost record;
BEGIN
    SELECT c.* INTO lost FROM called c WHERE (
        SELECT true FROM conversations_messagepart p
        WHERE p.conversation_id = c.conversation_id AND p.seq = c.seq AND p.ordinal = c.ordinal
        AND p.type = 'tool_use' AND NOT p.orphan AND p.tool_call_id = c.call_id LIMIT 1) IS NULL LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'part % of message % of conversation % is no call %',
            lost.ordinal, lost.seq, lost.conversation_id, lost.call_id
            USING ERRCODE = 'foreign_key_violation',
                CONSTRAINT = 'conversations_toolcall_has_its_part', TABLE = 'conversations_toolcall';
    END IF;
    UPDATE conversations_toolcall t SET status = t.status FROM (
        SELECT asked.conversation_id, asked.seq FROM (
            SELECT DISTINCT c.conversation_id, c.seq FROM called c
            WHERE c.status <> 'unanswered' AND (
                SELECT true FROM conversations_message m
                WHERE m.conversation_id = c.conversation_id AND m.parent_seq = c.seq AND (
                    SELECT true FROM conversations_messagepart r
                    WHERE r.conversation_id = c.conversation_id AND r.answers_seq = c.seq
                    AND r.tool_call_id = c.call_id AND r.seq = m.seq LIMIT 1) IS NULL
                LIMIT 1)
            OFFSET 0) asked
        WHERE conversations_passed_over_by(asked.conversation_id, asked.seq) IS NOT NULL
        OFFSET 0) open
    WHERE t.conversation_id = open.conversation_id AND t.seq = open.seq AND t.status <> 'unanswered';
    RETURN NULL;
END $$
"""

CALL_IS_ANSWERED_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_call_is_answered AFTER UPDATE OF status
ON conversations_toolcall DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (old.status = 'unanswered' OR old.status = new.status)
EXECUTE FUNCTION conversations_call_is_answered()
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0020_head_log_without_a_second_key")]

    operations = [
        migrations.RunSQL([CALLS_ARE_ANSWERED], [BEFORE.CALLS_ARE_ANSWERED]),
        STATEMENTS.replaced(
            CALL_IS_ANSWERED_TRIGGER,
            "conversations_call_is_answered",
            "conversations_toolcall",
            STATEMENTS.CALL_IS_ANSWERED_TRIGGER,
        ),
    ]
