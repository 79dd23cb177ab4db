"""The rules of the tree that no key can hold, as triggers.

Those that look at more than their own row are deferred: a message, its parts
and its calls are judged together, when the transaction ends.
"""

from django.db import migrations

# Computes what conversations/digests.py computes.
CHAIN = """
CREATE FUNCTION conversations_chain(previous bytea, units bytea[]) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT AS $$
DECLARE unit bytea;
BEGIN
    FOREACH unit IN ARRAY units LOOP
        previous := substring(sha256(previous || unit) FROM 1 FOR 16);
    END LOOP;
    RETURN previous;
END $$
"""

# What a writer must know of the place that it writes to. A function's queries see what was committed
# before they run; the statement that calls it, and had to wait for the lock, may be older than that.
PLACE_BELOW = """
CREATE FUNCTION conversations_place_below(
    conversation uuid, below int, move int,
    OUT seq int, OUT group_ordinal int, OUT path_digest bytea, OUT role text, OUT moved_at timestamptz)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    IF below IS NOT NULL THEN
        SELECT m.seq, m.group_ordinal, m.path_digest, m.role INTO seq, group_ordinal, path_digest, role
            FROM conversations_message m WHERE m.conversation_id = conversation AND m.seq = below;
    END IF;
    IF move IS NOT NULL THEN
        SELECT h.moved_at INTO moved_at
            FROM conversations_headmove h WHERE h.conversation_id = conversation AND h.number = move;
    END IF;
END $$
"""

# A call of message `call_seq` that no result answers on the way down to `last_seq`, or null.
UNANSWERED_CALL = """
CREATE FUNCTION conversations_unanswered_call(conversation uuid, call_seq int, last_seq int) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE found_call text;
BEGIN
    PERFORM FROM conversations_toolcall c
        WHERE c.conversation_id = conversation AND c.seq = call_seq AND c.status <> 'unanswered';
    IF NOT FOUND THEN RETURN NULL; END IF;
    WITH RECURSIVE answers AS (
        SELECT m.seq, m.parent_seq FROM conversations_message m
            WHERE m.conversation_id = conversation AND m.seq = last_seq AND m.seq > call_seq
        UNION ALL
        SELECT m.seq, m.parent_seq FROM answers a
            JOIN conversations_message m ON m.conversation_id = conversation AND m.seq = a.parent_seq
            WHERE m.seq > call_seq
    )
    SELECT c.call_id INTO found_call FROM conversations_toolcall c
        WHERE c.conversation_id = conversation AND c.seq = call_seq AND c.status <> 'unanswered'
        AND NOT EXISTS (
            SELECT FROM conversations_messagepart r
                WHERE r.conversation_id = conversation AND r.answers_seq = call_seq
                AND r.tool_call_id = c.call_id AND r.seq IN (SELECT a.seq FROM answers a))
        LIMIT 1;
    RETURN found_call;
END $$
"""

MESSAGE_IS_PLACED = """
CREATE FUNCTION conversations_message_is_placed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    answered_group int;
    call text;
    has_sibling boolean;
BEGIN
    IF new.parent_seq IS NULL THEN
        has_sibling := EXISTS (SELECT FROM conversations_message m
            WHERE m.conversation_id = new.conversation_id AND m.parent_seq IS NULL AND m.seq <> new.seq);
    ELSE
        has_sibling := EXISTS (SELECT FROM conversations_message m
            WHERE m.conversation_id = new.conversation_id AND m.parent_seq = new.parent_seq
            AND m.seq <> new.seq);
    END IF;
    IF has_sibling THEN
        UPDATE conversations_conversation SET has_fork = true WHERE id = new.conversation_id AND NOT has_fork;
    END IF;
    IF new.parent_seq IS NULL OR new.answers_seq IS NOT NULL THEN RETURN NULL; END IF;

    SELECT group_ordinal INTO answered_group FROM conversations_message
        WHERE conversation_id = new.conversation_id AND seq = new.parent_seq;
    call := conversations_unanswered_call(new.conversation_id, answered_group, new.parent_seq);
    IF call IS NOT NULL THEN
        RAISE EXCEPTION 'message % of conversation % goes on without the result of call % of message %',
            new.seq, new.conversation_id, call, answered_group
            USING ERRCODE = 'integrity_constraint_violation',
                CONSTRAINT = 'conversations_message_calls_are_answered',
                TABLE = 'conversations_message';
    END IF;
    RETURN NULL;
END $$
"""

MESSAGE_IS_PLACED_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_message_is_placed AFTER INSERT ON conversations_message
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION conversations_message_is_placed()
"""

# A call that is added to a message, or counts again, after the path has gone on.
CALL_IS_ANSWERED = """
CREATE FUNCTION conversations_call_is_answered() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE passed_over int;
BEGIN
    IF new.status = 'unanswered' THEN RETURN NULL; END IF;
    WITH RECURSIVE answering AS (
        SELECT new.seq AS seq
        UNION ALL
        SELECT m.seq FROM answering a JOIN conversations_message m
            ON m.conversation_id = new.conversation_id AND m.parent_seq = a.seq AND m.answers_seq = new.seq
    )
    -- OFFSET 0: the walk is for the messages that go on, not for every pair that the join tries.
    SELECT p.seq INTO passed_over FROM (
        SELECT m.seq, a.seq AS last_seq FROM answering a JOIN conversations_message m
        ON m.conversation_id = new.conversation_id AND m.parent_seq = a.seq AND m.answers_seq IS NULL
        OFFSET 0) p
        WHERE conversations_unanswered_call(new.conversation_id, new.seq, p.last_seq) IS NOT NULL
        LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'call % of message % of conversation % was passed over by message %',
            new.call_id, new.seq, new.conversation_id, passed_over
            USING ERRCODE = 'integrity_constraint_violation',
                CONSTRAINT = 'conversations_message_calls_are_answered',
                TABLE = 'conversations_toolcall';
    END IF;
    RETURN NULL;
END $$
"""

CALL_IS_ANSWERED_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_call_is_answered AFTER INSERT OR UPDATE OF status
ON conversations_toolcall DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION conversations_call_is_answered()
"""

RESULT_IS_THE_ONLY_ONE = """
CREATE FUNCTION conversations_result_is_the_only_one() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    other record;
    walked int;
BEGIN
    FOR other IN SELECT seq, ordinal FROM conversations_messagepart r
        WHERE r.conversation_id = new.conversation_id AND r.answers_seq = new.answers_seq
        AND r.tool_call_id = new.tool_call_id AND (r.seq, r.ordinal) <> (new.seq, new.ordinal)
    LOOP
        walked := greatest(other.seq, new.seq);
        WHILE walked > least(other.seq, new.seq) LOOP
            SELECT parent_seq INTO walked FROM conversations_message
                WHERE conversation_id = new.conversation_id AND seq = walked;
        END LOOP;
        IF walked = least(other.seq, new.seq) THEN
            RAISE EXCEPTION 'call % of message % of conversation % has two results on its path: % and %',
                new.tool_call_id, new.answers_seq, new.conversation_id,
                least(other.seq, new.seq), greatest(other.seq, new.seq)
                USING ERRCODE = 'integrity_constraint_violation',
                    CONSTRAINT = 'conversations_part_one_result_per_path',
                    TABLE = 'conversations_messagepart';
        END IF;
    END LOOP;
    RETURN NULL;
END $$
"""

RESULT_IS_THE_ONLY_ONE_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_result_is_the_only_one AFTER INSERT ON conversations_messagepart
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.answers_seq IS NOT NULL)
EXECUTE FUNCTION conversations_result_is_the_only_one()
"""

MESSAGE_ONLY_LOSES_BYTES = """
CREATE FUNCTION conversations_message_only_loses_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE kept conversations_message := new;
BEGIN
    -- A stored generated column is not computed yet when a BEFORE trigger runs.
    kept.shell := old.shell; kept.group_ordinal := old.group_ordinal;
    IF kept IS DISTINCT FROM old OR (new.shell IS NOT NULL AND new.shell IS DISTINCT FROM old.shell) THEN
        RAISE EXCEPTION 'message % of conversation % was written once; only its bytes may be taken away',
            old.seq, old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_message_only_loses_bytes',
                TABLE = 'conversations_message';
    END IF;
    RETURN new;
END $$
"""

MESSAGE_ONLY_LOSES_BYTES_TRIGGER = """
CREATE TRIGGER conversations_message_only_loses_bytes BEFORE UPDATE ON conversations_message
FOR EACH ROW EXECUTE FUNCTION conversations_message_only_loses_bytes()
"""

PART_ONLY_LOSES_BYTES = """
CREATE FUNCTION conversations_part_only_loses_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE kept conversations_messagepart := new;
BEGIN
    kept.text := old.text; kept.payload := old.payload; kept.shell := old.shell;
    kept.blob_id := old.blob_id; kept.is_text_copy := old.is_text_copy; kept.bytes_state := old.bytes_state;
    -- A stored generated column is not computed yet when a BEFORE trigger runs.
    kept.call_id := old.call_id;
    IF kept IS DISTINCT FROM old OR new.bytes_state = 'present'
        -- From bytes to fewer, from fewer to none; what is gone does not come back under another name.
        OR old.bytes_state = 'erased' AND new.bytes_state <> 'erased'
        OR old.bytes_state IN ('stripped', 'archived') AND new.bytes_state = 'redacted'
        OR old.bytes_state = 'stripped' AND new.bytes_state = 'archived'
        -- Redaction puts a cut copy where bytes were, and nowhere else.
        OR new.text IS NOT NULL AND old.text IS NULL
        OR new.shell IS NOT NULL AND old.shell IS NULL
        OR new.payload IS NOT NULL AND old.payload IS NULL AND old.blob_id IS NULL
        OR new.blob_id IS NOT NULL AND old.payload IS NULL AND old.blob_id IS NULL
        OR new.is_text_copy AND NOT old.is_text_copy THEN
        RAISE EXCEPTION 'part % of message % of conversation % was written once; it may only lose bytes',
            old.ordinal, old.seq, old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_part_only_loses_bytes',
                TABLE = 'conversations_messagepart';
    END IF;
    -- What was derived from bytes that are gone goes too.
    UPDATE conversations_toolcall c SET arguments = NULL
        WHERE c.conversation_id = old.conversation_id AND c.seq = old.seq AND c.call_id = old.call_id
        AND c.arguments IS NOT NULL;
    UPDATE conversations_summary s SET text = '', invalidated_at = now()
        WHERE s.conversation_id = old.conversation_id AND s.invalidated_at IS NULL
        AND old.seq BETWEEN s.from_seq AND s.to_seq;
    DELETE FROM conversations_chunk c WHERE c.conversation_id = old.conversation_id
        AND c.seq = old.seq AND c.ordinal = old.ordinal;
    RETURN new;
END $$
"""

PART_ONLY_LOSES_BYTES_TRIGGER = """
CREATE TRIGGER conversations_part_only_loses_bytes BEFORE UPDATE ON conversations_messagepart
FOR EACH ROW EXECUTE FUNCTION conversations_part_only_loses_bytes()
"""

HEAD_MOVES_ARE_APPENDED = """
CREATE FUNCTION conversations_head_moves_are_appended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE previous_at timestamptz;
BEGIN
    IF tg_op = 'INSERT' THEN
        IF new.number <= 1 THEN RETURN new; END IF;
        SELECT moved_at INTO previous_at FROM conversations_headmove
            WHERE conversation_id = new.conversation_id AND number = new.number - 1;
        -- The key says so too, but only when the statement ends: lines written in
        -- reverse order would have nothing to be later than.
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the log of conversation % has no move %', new.conversation_id, new.number - 1
                USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'conversations_headmove_no_gap',
                    TABLE = 'conversations_headmove';
        END IF;
        IF new.moved_at < previous_at THEN
            RAISE EXCEPTION 'move % of the head of conversation % is earlier than the move before it',
                new.number, new.conversation_id
                USING ERRCODE = 'check_violation', CONSTRAINT = 'conversations_headmove_times_ascend',
                    TABLE = 'conversations_headmove';
        END IF;
        RETURN new;
    END IF;
    IF tg_op = 'DELETE'
        AND NOT EXISTS (SELECT FROM conversations_conversation WHERE id = old.conversation_id) THEN
        RETURN old;
    END IF;
    RAISE EXCEPTION 'head moves are only ever appended'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_headmove_append_only',
            TABLE = 'conversations_headmove';
END $$
"""

HEAD_MOVES_ARE_APPENDED_TRIGGER = """
CREATE TRIGGER conversations_head_moves_are_appended
BEFORE INSERT OR UPDATE OR DELETE ON conversations_headmove
FOR EACH ROW EXECUTE FUNCTION conversations_head_moves_are_appended()
"""

# The key holds that the head has its line; this, that no line is written without moving the head.
LAST_MOVE_IS_THE_HEAD = """
CREATE FUNCTION conversations_last_move_is_the_head() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM conversations_conversation c WHERE c.id = new.conversation_id
        AND coalesce(c.head_move, 0) < new.number) THEN
        RAISE EXCEPTION 'move % of conversation % was logged, but the head was not moved',
            new.number, new.conversation_id
            USING ERRCODE = 'integrity_constraint_violation',
                CONSTRAINT = 'conversations_headmove_last_is_the_head', TABLE = 'conversations_headmove';
    END IF;
    RETURN NULL;
END $$
"""

LAST_MOVE_IS_THE_HEAD_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_last_move_is_the_head AFTER INSERT ON conversations_headmove
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION conversations_last_move_is_the_head()
"""

COUNTERS_ONLY_GROW = """
CREATE FUNCTION conversations_counters_only_grow() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.id <> old.id OR new.head_move < old.head_move
        OR (new.head_move IS NULL AND old.head_move IS NOT NULL)
        OR new.next_seq < old.next_seq OR new.next_generation < old.next_generation
        OR (old.has_fork AND NOT new.has_fork) THEN
        RAISE EXCEPTION 'conversation %: counters only grow, and a fork stays a fork', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_conversation_counters_grow',
                TABLE = 'conversations_conversation';
    END IF;
    RETURN new;
END $$
"""

COUNTERS_ONLY_GROW_TRIGGER = """
CREATE TRIGGER conversations_counters_only_grow
BEFORE UPDATE OF id, head_move, next_seq, next_generation, has_fork ON conversations_conversation
FOR EACH ROW EXECUTE FUNCTION conversations_counters_only_grow()
"""

# An attempt that has ended stays ended; a late usage report may still correct its tokens and cost.
GENERATION_ENDS_ONCE = """
CREATE FUNCTION conversations_generation_ends_once() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF old.status NOT IN ('queued', 'streaming') AND new.status <> old.status
        OR old.status = 'streaming' AND new.status = 'queued' THEN
        RAISE EXCEPTION 'attempt % of conversation % is %, it cannot become %',
            old.number, old.conversation_id, old.status, new.status
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_generation_ends_once',
                TABLE = 'conversations_generation';
    END IF;
    RETURN new;
END $$
"""

GENERATION_ENDS_ONCE_TRIGGER = """
CREATE TRIGGER conversations_generation_ends_once BEFORE UPDATE OF status ON conversations_generation
FOR EACH ROW EXECUTE FUNCTION conversations_generation_ends_once()
"""

SUMMARY_IS_ON_ONE_PATH = """
CREATE FUNCTION conversations_summary_is_on_one_path() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE walked int := new.to_seq;
BEGIN
    WHILE walked > new.from_seq LOOP
        SELECT parent_seq INTO walked FROM conversations_message
            WHERE conversation_id = new.conversation_id AND seq = walked;
    END LOOP;
    IF walked IS DISTINCT FROM new.from_seq THEN
        RAISE EXCEPTION 'message % is not on the path to message % of conversation %',
            new.from_seq, new.to_seq, new.conversation_id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'conversations_summary_is_on_one_path',
                TABLE = 'conversations_summary';
    END IF;
    RETURN new;
END $$
"""

SUMMARY_IS_ON_ONE_PATH_TRIGGER = """
CREATE TRIGGER conversations_summary_is_on_one_path
BEFORE INSERT OR UPDATE OF from_seq, to_seq, conversation_id ON conversations_summary
FOR EACH ROW EXECUTE FUNCTION conversations_summary_is_on_one_path()
"""


def function(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP FUNCTION {name}"])


def trigger(create: str, name: str, table: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP TRIGGER {name} ON {table}"])


class Migration(migrations.Migration):
    dependencies = [("conversations", "0002_tree_keys")]

    operations = [
        function(CHAIN, "conversations_chain"),
        function(PLACE_BELOW, "conversations_place_below"),
        function(UNANSWERED_CALL, "conversations_unanswered_call"),
        function(MESSAGE_IS_PLACED, "conversations_message_is_placed"),
        trigger(MESSAGE_IS_PLACED_TRIGGER, "conversations_message_is_placed", "conversations_message"),
        function(CALL_IS_ANSWERED, "conversations_call_is_answered"),
        trigger(CALL_IS_ANSWERED_TRIGGER, "conversations_call_is_answered", "conversations_toolcall"),
        function(RESULT_IS_THE_ONLY_ONE, "conversations_result_is_the_only_one"),
        trigger(
            RESULT_IS_THE_ONLY_ONE_TRIGGER,
            "conversations_result_is_the_only_one",
            "conversations_messagepart",
        ),
        function(MESSAGE_ONLY_LOSES_BYTES, "conversations_message_only_loses_bytes"),
        trigger(
            MESSAGE_ONLY_LOSES_BYTES_TRIGGER,
            "conversations_message_only_loses_bytes",
            "conversations_message",
        ),
        function(PART_ONLY_LOSES_BYTES, "conversations_part_only_loses_bytes"),
        trigger(
            PART_ONLY_LOSES_BYTES_TRIGGER, "conversations_part_only_loses_bytes", "conversations_messagepart"
        ),
        function(HEAD_MOVES_ARE_APPENDED, "conversations_head_moves_are_appended"),
        trigger(
            HEAD_MOVES_ARE_APPENDED_TRIGGER, "conversations_head_moves_are_appended", "conversations_headmove"
        ),
        function(LAST_MOVE_IS_THE_HEAD, "conversations_last_move_is_the_head"),
        trigger(
            LAST_MOVE_IS_THE_HEAD_TRIGGER, "conversations_last_move_is_the_head", "conversations_headmove"
        ),
        function(COUNTERS_ONLY_GROW, "conversations_counters_only_grow"),
        trigger(COUNTERS_ONLY_GROW_TRIGGER, "conversations_counters_only_grow", "conversations_conversation"),
        function(GENERATION_ENDS_ONCE, "conversations_generation_ends_once"),
        trigger(
            GENERATION_ENDS_ONCE_TRIGGER, "conversations_generation_ends_once", "conversations_generation"
        ),
        function(SUMMARY_IS_ON_ONE_PATH, "conversations_summary_is_on_one_path"),
        trigger(
            SUMMARY_IS_ON_ONE_PATH_TRIGGER, "conversations_summary_is_on_one_path", "conversations_summary"
        ),
    ]
