"""The rules of placing, asked once a statement instead of once a row.

An import writes thousands of messages in one COPY; asked row by row, these two rules were a fifth of
what that cost the database. What a statement leaves open, since its answers come later in the
transaction, is asked again at its end, as before: by the deferred trigger of the call's row.
"""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("conversations.migrations.0003_tree_rules")

# The first message that goes on, below the calls of message `call_seq`, without all their results; or null.
PASSED_OVER_BY = """
CREATE FUNCTION conversations_passed_over_by(conversation uuid, call_seq int) RETURNS int
LANGUAGE sql STABLE AS $$
    WITH RECURSIVE answering AS (
        SELECT call_seq AS seq
        UNION ALL
        SELECT m.seq FROM answering a JOIN conversations_message m
            ON m.conversation_id = conversation AND m.parent_seq = a.seq AND m.answers_seq = call_seq
    )
    -- OFFSET 0: the walk is for the messages that go on, not for every pair that the join tries.
    SELECT p.seq FROM (
        SELECT m.seq, a.seq AS last_seq FROM answering a JOIN conversations_message m
        ON m.conversation_id = conversation AND m.parent_seq = a.seq AND m.answers_seq IS NULL
        OFFSET 0) p
        WHERE conversations_unanswered_call(conversation, call_seq, p.last_seq) IS NOT NULL
        LIMIT 1
$$
"""

# The subqueries with a LIMIT stay probes of an index, however many rows the statement wrote when the
# function was planned: its plan is kept for the next one, which may write a single row.
MESSAGES_ARE_PLACED = """
CREATE FUNCTION conversations_messages_are_placed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    placed_below record;
BEGIN
    -- Two writers of siblings wait for one another: else neither would see the fork that both make.
    PERFORM FROM (SELECT DISTINCT p.conversation_id FROM placed p ORDER BY 1 OFFSET 0) of,
        LATERAL (SELECT FROM conversations_conversation c WHERE c.id = of.conversation_id
            FOR NO KEY UPDATE OFFSET 0) locked;
    FOR placed_below IN
        SELECT DISTINCT of.conversation_id, of.is_fork, of.call_seq FROM (
            SELECT p.conversation_id,
                CASE WHEN p.parent_seq IS NULL THEN
                    (SELECT true FROM conversations_message s WHERE s.conversation_id = p.conversation_id
                        AND s.parent_seq IS NULL AND s.seq <> p.seq LIMIT 1)
                ELSE
                    (SELECT true FROM conversations_message s WHERE s.conversation_id = p.conversation_id
                        AND s.parent_seq = p.parent_seq AND s.seq <> p.seq LIMIT 1)
                END AS is_fork,
                CASE WHEN p.parent_seq IS NOT NULL AND p.answers_seq IS NULL THEN
                    (SELECT a.group_ordinal FROM conversations_message a
                        WHERE a.conversation_id = p.conversation_id AND a.seq = p.parent_seq
                        AND (SELECT true FROM conversations_toolcall c
                            WHERE c.conversation_id = a.conversation_id AND c.seq = a.group_ordinal
                            AND c.status <> 'unanswered' LIMIT 1)
                        AND conversations_unanswered_call(a.conversation_id, a.group_ordinal, a.seq) IS NOT NULL
                        LIMIT 1)
                END AS call_seq
            FROM placed p OFFSET 0) of
        WHERE of.is_fork OR of.call_seq IS NOT NULL
    LOOP
        IF placed_below.is_fork THEN
            UPDATE conversations_conversation SET has_fork = true
                WHERE id = placed_below.conversation_id AND NOT has_fork;
        END IF;
        -- The results may still come: touched, the calls are asked about when the transaction ends.
        UPDATE conversations_toolcall SET status = status
            WHERE conversation_id = placed_below.conversation_id AND seq = placed_below.call_seq
            AND status <> 'unanswered';
    END LOOP;
    RETURN NULL;
END $$
"""

MESSAGES_ARE_PLACED_TRIGGER = """
CREATE TRIGGER conversations_messages_are_placed AFTER INSERT ON conversations_message
REFERENCING NEW TABLE AS placed FOR EACH STATEMENT EXECUTE FUNCTION conversations_messages_are_placed()
"""

# A call that is added to a message after the path has gone on. Where every message right below holds a
# result of the call, no path passes it over; elsewhere the paths are walked.
CALLS_ARE_ANSWERED = """
CREATE FUNCTION conversations_calls_are_answered() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE conversations_toolcall t SET status = t.status FROM (
        SELECT c.conversation_id, c.seq, c.call_id FROM called c
        WHERE c.status <> 'unanswered' AND (
            SELECT true FROM conversations_message m
            WHERE m.conversation_id = c.conversation_id AND m.parent_seq = c.seq AND (
                SELECT true FROM conversations_messagepart r
                WHERE r.conversation_id = c.conversation_id AND r.answers_seq = c.seq
                AND r.tool_call_id = c.call_id AND r.seq = m.seq LIMIT 1) IS NULL
            LIMIT 1)
        OFFSET 0) open
    WHERE t.conversation_id = open.conversation_id AND t.seq = open.seq AND t.call_id = open.call_id
        AND conversations_passed_over_by(open.conversation_id, open.seq) IS NOT NULL;
    RETURN NULL;
END $$
"""

CALLS_ARE_ANSWERED_TRIGGER = """
CREATE TRIGGER conversations_calls_are_answered AFTER INSERT ON conversations_toolcall
REFERENCING NEW TABLE AS called FOR EACH STATEMENT EXECUTE FUNCTION conversations_calls_are_answered()
"""

# A call that counts again, and what the two statements above left open.
CALL_IS_ANSWERED = """
CREATE OR REPLACE FUNCTION conversations_call_is_answered() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE passed_over int;
BEGIN
    IF new.status = 'unanswered' THEN RETURN NULL; END IF;
    passed_over := conversations_passed_over_by(new.conversation_id, new.seq);
    IF passed_over IS NOT NULL THEN
        RAISE EXCEPTION 'message % of conversation % goes on without the results of the calls of message %',
            passed_over, new.conversation_id, new.seq
            USING ERRCODE = 'integrity_constraint_violation',
                CONSTRAINT = 'conversations_message_calls_are_answered',
                TABLE = 'conversations_message';
    END IF;
    RETURN NULL;
END $$
"""

CALL_IS_ANSWERED_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_call_is_answered AFTER UPDATE OF status
ON conversations_toolcall DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION conversations_call_is_answered()
"""


def replaced(create: str, name: str, table: str, before: str) -> migrations.RunSQL:
    drop = f"DROP TRIGGER {name} ON {table}"
    return migrations.RunSQL([drop, create], [drop, before])


class Migration(migrations.Migration):
    dependencies = [("conversations", "0013_archive")]

    operations = [
        BEFORE.function(PASSED_OVER_BY, "conversations_passed_over_by"),
        migrations.RunSQL(
            [CALL_IS_ANSWERED],
            [BEFORE.CALL_IS_ANSWERED.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")],
        ),
        replaced(
            CALL_IS_ANSWERED_TRIGGER,
            "conversations_call_is_answered",
            "conversations_toolcall",
            BEFORE.CALL_IS_ANSWERED_TRIGGER,
        ),
        BEFORE.function(CALLS_ARE_ANSWERED, "conversations_calls_are_answered"),
        BEFORE.trigger(
            CALLS_ARE_ANSWERED_TRIGGER, "conversations_calls_are_answered", "conversations_toolcall"
        ),
        BEFORE.function(MESSAGES_ARE_PLACED, "conversations_messages_are_placed"),
        BEFORE.trigger(
            MESSAGES_ARE_PLACED_TRIGGER, "conversations_messages_are_placed", "conversations_message"
        ),
        migrations.RunSQL(
            ["DROP TRIGGER conversations_message_is_placed ON conversations_message"],
            [BEFORE.MESSAGE_IS_PLACED_TRIGGER],
        ),
        migrations.RunSQL(["DROP FUNCTION conversations_message_is_placed"], [BEFORE.MESSAGE_IS_PLACED]),
    ]
