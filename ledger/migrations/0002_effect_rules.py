"""The ledger's rules that Django cannot declare: keys over several columns, triggers, privileges."""

from django.db import migrations

KEYS = [
    # An effect names the exact call in the exact message; while it does, the call cannot go.
    (
        "ledger_tooleffect",
        "ledger_effect_call_is_recorded",
        (
            "FOREIGN KEY (conversation_id, call_seq, call_id)"
            " REFERENCES conversations_toolcall (conversation_id, seq, call_id)"
        ),
    ),
    # The state is the one that the last move ended in.
    (
        "ledger_tooleffect",
        "ledger_effect_state_has_its_move",
        (
            "FOREIGN KEY (id, move, state) REFERENCES ledger_effectmove (effect_id, number, to_state)"
            " DEFERRABLE INITIALLY DEFERRED"
        ),
    ),
    # Each move begins where the one before ended, and none is missing.
    (
        "ledger_effectmove",
        "ledger_effectmove_follows_the_one_before",
        "FOREIGN KEY (effect_id, prev, prev_state) REFERENCES ledger_effectmove (effect_id, number, to_state)",
    ),
    (
        "ledger_effectuse",
        "ledger_use_of_a_recorded_call",
        (
            "FOREIGN KEY (conversation_id, seq, call_id)"
            " REFERENCES conversations_toolcall (conversation_id, seq, call_id) ON DELETE CASCADE"
        ),
    ),
    (
        "ledger_compensation",
        "ledger_compensation_in_the_effects_currency",
        "FOREIGN KEY (effect_id, currency) REFERENCES ledger_tooleffect (id, currency)",
    ),
]

EFFECT_KEEPS_ITS_FACTS = """
CREATE FUNCTION ledger_effect_keeps_its_facts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'DELETE' THEN
        RAISE EXCEPTION 'effect % stays: money was moved or may have been', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_effect_stays',
                TABLE = 'ledger_tooleffect';
    END IF;
    IF (new.id, new.realm_id, new.conversation_id, new.call_id, new.tool_name, new.operation,
            new.idempotency_key, new.key_scope, new.key_root_seq, new.key_counter, new.request_digest,
            new.processor, new.amount_minor, new.requested_at)
        IS DISTINCT FROM (old.id, old.realm_id, old.conversation_id, old.call_id, old.tool_name, old.operation,
            old.idempotency_key, old.key_scope, old.key_root_seq, old.key_counter, old.request_digest,
            old.processor, old.amount_minor, old.requested_at)
        OR (old.currency <> '' AND new.currency <> old.currency)
        OR (old.sent_at IS NOT NULL AND new.sent_at IS DISTINCT FROM old.sent_at)
        OR (new.call_seq IS NOT NULL AND new.call_seq IS DISTINCT FROM old.call_seq)
        OR (new.external_ref = '' AND old.external_ref <> '') THEN
        RAISE EXCEPTION 'what effect % was begun with does not change', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_effect_keeps_its_facts',
                TABLE = 'ledger_tooleffect';
    END IF;
    IF new.move NOT IN (old.move, old.move + 1) THEN
        RAISE EXCEPTION 'effect % makes one move at a time', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_effect_one_move_at_a_time',
                TABLE = 'ledger_tooleffect';
    END IF;
    RETURN new;
END $$
"""

EFFECT_KEEPS_ITS_FACTS_TRIGGER = """
CREATE TRIGGER ledger_effect_keeps_its_facts BEFORE UPDATE OR DELETE ON ledger_tooleffect
FOR EACH ROW EXECUTE FUNCTION ledger_effect_keeps_its_facts()
"""

# On INSERT too: an effect begins pending, with nothing settled and nothing sent.
EFFECT_BEGINS_PENDING = """
CREATE FUNCTION ledger_effect_begins_pending() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF new.state <> 'pending' OR new.move <> 1 OR new.settled_at IS NOT NULL OR new.sent_at IS NOT NULL
        OR new.call_seq IS NULL OR new.amount_compensated_minor <> 0 OR new.amount_reserved_minor <> 0 THEN
        RAISE EXCEPTION 'effect % must begin pending, unsent and attached to its call', new.id
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_effect_begins_pending',
                TABLE = 'ledger_tooleffect';
    END IF;
    RETURN new;
END $$
"""

EFFECT_BEGINS_PENDING_TRIGGER = """
CREATE TRIGGER ledger_effect_begins_pending BEFORE INSERT ON ledger_tooleffect
FOR EACH ROW EXECUTE FUNCTION ledger_effect_begins_pending()
"""

APPEND_ONLY = """
CREATE FUNCTION ledger_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are only ever appended', tg_table_name
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_append_only', TABLE = tg_table_name;
END $$
"""

# A raw body may go before its evidence row: only that reference may be emptied.
MOVE_IS_APPENDED = """
CREATE FUNCTION ledger_move_is_appended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE kept ledger_effectmove := new;
BEGIN
    kept.raw_id := old.raw_id; kept.prev := old.prev; kept.prev_state := old.prev_state;
    IF tg_op = 'UPDATE' AND new.raw_id IS NULL AND kept IS NOT DISTINCT FROM old THEN RETURN new; END IF;
    RAISE EXCEPTION 'moves of an effect are only ever appended'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_append_only', TABLE = 'ledger_effectmove';
END $$
"""

MOVE_IS_APPENDED_TRIGGER = """
CREATE TRIGGER ledger_move_is_appended BEFORE UPDATE OR DELETE ON ledger_effectmove
FOR EACH ROW EXECUTE FUNCTION ledger_move_is_appended()
"""

APPEND_ONLY_TRIGGER = """
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION ledger_append_only()
"""

# The key holds that the state has its line; this, that no line is written without moving the state.
LAST_MOVE_IS_THE_STATE = """
CREATE FUNCTION ledger_last_move_is_the_state() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger_tooleffect e WHERE e.id = new.effect_id AND e.move < new.number) THEN
        RAISE EXCEPTION 'move % of effect % was written, but its state was not moved',
            new.number, new.effect_id
            USING ERRCODE = 'integrity_constraint_violation',
                CONSTRAINT = 'ledger_effectmove_last_is_the_state', TABLE = 'ledger_effectmove';
    END IF;
    RETURN NULL;
END $$
"""

LAST_MOVE_IS_THE_STATE_TRIGGER = """
CREATE CONSTRAINT TRIGGER ledger_last_move_is_the_state AFTER INSERT ON ledger_effectmove
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ledger_last_move_is_the_state()
"""

# Ours begins as a request and goes one way; what was asked for stays what it was.
COMPENSATION_MOVES = """
CREATE FUNCTION ledger_compensation_moves() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'INSERT' THEN
        IF new.origin = 'counterfoil' AND (new.state <> 'requested' OR new.sent_at IS NOT NULL
            OR new.settled_at IS NOT NULL OR new.external_ref <> '') THEN
            RAISE EXCEPTION 'compensation % must begin as a request', new.id
                USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_compensation_begins_as_request',
                    TABLE = 'ledger_compensation';
        END IF;
        RETURN new;
    END IF;
    IF tg_op = 'DELETE' THEN
        RAISE EXCEPTION 'compensation % stays: money was moved or may have been', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_compensation_stays',
                TABLE = 'ledger_compensation';
    END IF;
    IF (new.id, new.effect_id, new.origin, new.amount_minor, new.currency, new.reason, new.idempotency_key,
            new.requested_by_id, new.requested_at)
        IS DISTINCT FROM (old.id, old.effect_id, old.origin, old.amount_minor, old.currency, old.reason,
            old.idempotency_key, old.requested_by_id, old.requested_at)
        OR (old.decided_at IS NOT NULL AND (new.decided_by_id, new.decided_at)
            IS DISTINCT FROM (old.decided_by_id, old.decided_at))
        OR (old.sent_at IS NOT NULL AND new.sent_at IS DISTINCT FROM old.sent_at)
        OR (old.external_ref <> '' AND new.external_ref <> old.external_ref) THEN
        RAISE EXCEPTION 'what compensation % was asked for does not change', old.id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_compensation_keeps_its_facts',
                TABLE = 'ledger_compensation';
    END IF;
    IF new.state <> old.state AND (old.state, new.state) NOT IN (
        ('requested', 'approved'), ('requested', 'rejected'), ('approved', 'sent'), ('approved', 'failed'),
        ('sent', 'settled'), ('sent', 'failed'), ('settled', 'failed'), ('failed', 'settled')) THEN
        RAISE EXCEPTION 'compensation % is %, it cannot become %', old.id, old.state, new.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_compensation_move_is_legal',
                TABLE = 'ledger_compensation';
    END IF;
    RETURN new;
END $$
"""

COMPENSATION_MOVES_TRIGGER = """
CREATE TRIGGER ledger_compensation_moves BEFORE INSERT OR UPDATE OR DELETE ON ledger_compensation
FOR EACH ROW EXECUTE FUNCTION ledger_compensation_moves()
"""

# Where a path leaves the run of ascending numbers: all that a walk from a head has to look at. The
# question "which effects are on no live path" reads nothing else of the tree.
JUMPS = """
CREATE INDEX message_jump ON conversations_message (conversation_id, seq) INCLUDE (parent_seq)
WHERE coalesce(parent_seq, 0) <> seq - 1
"""

# Requests of people never add up past what was settled; evidence from the processor is never refused.
COMPENSATION_IS_RESERVED = """
CREATE FUNCTION ledger_compensation_is_reserved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    effect ledger_tooleffect;
    claimed bigint;
BEGIN
    IF new.origin <> 'counterfoil' OR new.state NOT IN ('requested', 'approved', 'sent') THEN
        RETURN new;
    END IF;
    SELECT * INTO effect FROM ledger_tooleffect WHERE id = new.effect_id FOR NO KEY UPDATE;
    SELECT coalesce(sum(amount_minor), 0) INTO claimed FROM ledger_compensation
        WHERE effect_id = new.effect_id AND id <> new.id
        AND state IN ('requested', 'approved', 'sent', 'settled');
    IF effect.state NOT IN ('applied', 'compensated')
        OR claimed + new.amount_minor > coalesce(effect.amount_settled_minor, 0) THEN
        RAISE EXCEPTION 'effect %: % of % are claimed already, % more cannot be', new.effect_id, claimed,
            coalesce(effect.amount_settled_minor, 0), new.amount_minor
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_compensation_within_the_settled',
                TABLE = 'ledger_compensation';
    END IF;
    RETURN new;
END $$
"""

COMPENSATION_IS_RESERVED_TRIGGER = """
CREATE TRIGGER ledger_compensation_is_reserved BEFORE INSERT OR UPDATE OF state, amount_minor
ON ledger_compensation FOR EACH ROW EXECUTE FUNCTION ledger_compensation_is_reserved()
"""

TAKE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        REVOKE DELETE, TRUNCATE ON ledger_tooleffect, ledger_compensation, ledger_dispute, ledger_webhookevent
            FROM counterfoil_app;
        REVOKE UPDATE, DELETE, TRUNCATE ON ledger_contradiction FROM counterfoil_app;
        REVOKE UPDATE, DELETE, TRUNCATE ON ledger_effectmove, ledger_effectreference, ledger_toolpolicychange
            FROM counterfoil_app;
        REVOKE UPDATE, DELETE, TRUNCATE ON ledger_effectuse FROM counterfoil_app;
    END IF;
END $$
"""

GIVE_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        GRANT UPDATE, DELETE ON ledger_tooleffect, ledger_compensation, ledger_dispute, ledger_webhookevent,
            ledger_effectmove, ledger_effectreference, ledger_toolpolicychange, ledger_effectuse,
            ledger_contradiction
            TO counterfoil_app;
    END IF;
END $$
"""


def key(table: str, name: str, definition: str) -> migrations.RunSQL:
    return migrations.RunSQL(
        [f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}"],
        [f"ALTER TABLE {table} DROP CONSTRAINT {name}"],
    )


def function(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP FUNCTION {name}"])


def trigger(create: str, name: str, table: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP TRIGGER {name} ON {table}"])


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_ledger"), ("conversations", "0004_tree_privileges")]

    operations = [
        *[key(table, name, definition) for table, name, definition in KEYS],
        function(EFFECT_BEGINS_PENDING, "ledger_effect_begins_pending"),
        trigger(EFFECT_BEGINS_PENDING_TRIGGER, "ledger_effect_begins_pending", "ledger_tooleffect"),
        function(EFFECT_KEEPS_ITS_FACTS, "ledger_effect_keeps_its_facts"),
        trigger(EFFECT_KEEPS_ITS_FACTS_TRIGGER, "ledger_effect_keeps_its_facts", "ledger_tooleffect"),
        function(MOVE_IS_APPENDED, "ledger_move_is_appended"),
        trigger(MOVE_IS_APPENDED_TRIGGER, "ledger_move_is_appended", "ledger_effectmove"),
        function(APPEND_ONLY, "ledger_append_only"),
        *[
            trigger(APPEND_ONLY_TRIGGER.format(table=table), "ledger_append_only", table)
            for table in ("ledger_toolpolicychange", "ledger_contradiction", "ledger_effectreference")
        ],
        function(LAST_MOVE_IS_THE_STATE, "ledger_last_move_is_the_state"),
        trigger(LAST_MOVE_IS_THE_STATE_TRIGGER, "ledger_last_move_is_the_state", "ledger_effectmove"),
        function(COMPENSATION_MOVES, "ledger_compensation_moves"),
        trigger(COMPENSATION_MOVES_TRIGGER, "ledger_compensation_moves", "ledger_compensation"),
        function(COMPENSATION_IS_RESERVED, "ledger_compensation_is_reserved"),
        trigger(COMPENSATION_IS_RESERVED_TRIGGER, "ledger_compensation_is_reserved", "ledger_compensation"),
        migrations.RunSQL([JUMPS], ["DROP INDEX message_jump"]),
        migrations.RunSQL([TAKE], [GIVE_BACK]),
    ]
