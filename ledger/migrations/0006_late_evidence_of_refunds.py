"""A refund that we had given up as absent may be at the processor after all, and pending there.

Evidence is never refused: it is sent again then, also where another request has taken the room
meanwhile. That one fails when it is its turn, as too little is left.
"""

from django.db import migrations

COMPENSATION_MOVES = """
CREATE OR REPLACE FUNCTION ledger_compensation_moves() RETURNS trigger LANGUAGE plpgsql AS $$
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
        ('sent', 'settled'), ('sent', 'failed'), ('settled', 'failed'), ('failed', 'settled'){after_all}) THEN
        RAISE EXCEPTION 'compensation % is %, it cannot become %', old.id, old.state, new.state
            USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_compensation_move_is_legal',
                TABLE = 'ledger_compensation';
    END IF;
    RETURN new;
END $$
"""

COMPENSATION_IS_RESERVED = """
CREATE OR REPLACE FUNCTION ledger_compensation_is_reserved() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    effect ledger_tooleffect;
    claimed bigint;
BEGIN
    IF new.origin <> 'counterfoil' OR new.state NOT IN ('requested', 'approved', 'sent'){evidence} THEN
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

AFTER_ALL = ", ('failed', 'sent')"
# Who asks has no id of the processor yet; what has one was seen there.
EVIDENCE = " OR new.external_ref <> ''"


class Migration(migrations.Migration):
    dependencies = [("ledger", "0005_versions_of_refunds")]

    operations = [
        migrations.RunSQL(
            [COMPENSATION_MOVES.format(after_all=AFTER_ALL)], [COMPENSATION_MOVES.format(after_all="")]
        ),
        migrations.RunSQL(
            [COMPENSATION_IS_RESERVED.format(evidence=EVIDENCE)],
            [COMPENSATION_IS_RESERVED.format(evidence="")],
        ),
    ]
