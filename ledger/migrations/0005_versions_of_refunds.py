"""What was known of refunds and disputes, and since when: a row for each change, by the database itself.

A run that is done again must read what the first one read. Whoever changes a refund or a dispute
cannot forget its version, add one of their own, or change one.
"""

import django.db.models.deletion
from django.db import migrations, models

KNOWN = "Since when we know it as it is. Never runs backwards; each change is kept as a version."

# Until now only the moments were kept, not when they were heard of: the two are taken as one.
VERSIONS_OF_COMPENSATIONS = """
INSERT INTO ledger_compensationversion
    (compensation_id, number, known_at, state, external_ref, settled_at, failed_at)
SELECT c.id, row_number() OVER upto, max(e.at) OVER upto, e.state,
    CASE WHEN e.state IN ('settled', 'failed', c.state) THEN c.external_ref ELSE '' END,
    max(e.at) FILTER (WHERE e.state = 'settled') OVER upto,
    max(e.at) FILTER (WHERE e.state = 'failed') OVER upto
FROM ledger_compensation c CROSS JOIN LATERAL (VALUES
    ('requested', CASE WHEN c.origin = 'counterfoil' THEN c.requested_at END, 1),
    (CASE WHEN c.state = 'rejected' THEN 'rejected' ELSE 'approved' END, c.decided_at, 2),
    ('sent', c.sent_at, 3), ('settled', c.settled_at, 4), ('failed', c.failed_at, 5)
) e (state, at, place)
WHERE e.at IS NOT NULL
WINDOW upto AS (PARTITION BY c.id ORDER BY e.state = c.state, e.at, e.place)
"""

VERSIONS_OF_DISPUTES = """
INSERT INTO ledger_disputeversion (dispute_id, number, known_at, status, amount_minor, currency, closed_at)
SELECT d.id, row_number() OVER upto, e.at, d.status, d.amount_minor, d.currency, e.closed_at
FROM ledger_dispute d CROSS JOIN LATERAL (VALUES
    (CASE WHEN d.closed_at IS NULL THEN d.seen_at ELSE d.opened_at END, NULL::timestamptz, 1),
    (CASE WHEN d.closed_at IS NOT NULL THEN greatest(d.closed_at, d.opened_at) END, d.closed_at, 2)
) e (at, closed_at, place)
WHERE e.at IS NOT NULL
WINDOW upto AS (PARTITION BY d.id ORDER BY e.place)
"""

KNOWN_SINCE = """
UPDATE ledger_{table} t SET known_at = (
    SELECT max(v.known_at) FROM ledger_{table}version v WHERE v.{table}_id = t.id)
"""

# Its owner writes: the application may not.
KEEP_COMPENSATION = """
CREATE FUNCTION ledger_keep_compensation() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO ledger_compensationversion
        (compensation_id, number, known_at, state, external_ref, settled_at, failed_at)
    SELECT new.id, 1 + coalesce(max(number), 0), new.known_at, new.state, new.external_ref, new.settled_at,
        new.failed_at
    FROM ledger_compensationversion WHERE compensation_id = new.id;
    RETURN NULL;
END $$
"""

KEEP_DISPUTE = """
CREATE FUNCTION ledger_keep_dispute() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
BEGIN
    INSERT INTO ledger_disputeversion
        (dispute_id, number, known_at, status, amount_minor, currency, closed_at)
    SELECT new.id, 1 + coalesce(max(number), 0), new.known_at, new.status, new.amount_minor, new.currency,
        new.closed_at
    FROM ledger_disputeversion WHERE dispute_id = new.id;
    RETURN NULL;
END $$
"""

KEEP_TRIGGERS = """
CREATE TRIGGER ledger_keep_new_{table} AFTER INSERT ON ledger_{table}
FOR EACH ROW EXECUTE FUNCTION ledger_keep_{table}();
CREATE TRIGGER ledger_keep_{table} AFTER UPDATE ON ledger_{table}
FOR EACH ROW WHEN (({old}) IS DISTINCT FROM ({new})) EXECUTE FUNCTION ledger_keep_{table}()
"""

DROP_TRIGGERS = """
DROP TRIGGER ledger_keep_{table} ON ledger_{table};
DROP TRIGGER ledger_keep_new_{table} ON ledger_{table}
"""

KEPT = {
    "compensation": ("state", "external_ref", "settled_at", "failed_at"),
    "dispute": ("status", "amount_minor", "currency", "closed_at"),
}

# What a run has read as known would not have been, had a later change named an earlier moment.
KNOWN_ASCENDS = """
CREATE FUNCTION ledger_known_ascends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'what is known of % cannot date from before what was known', old.id
        USING ERRCODE = 'check_violation', CONSTRAINT = 'ledger_known_ascends', TABLE = tg_table_name;
END $$
"""

KNOWN_ASCENDS_TRIGGER = """
CREATE TRIGGER ledger_known_ascends BEFORE UPDATE ON ledger_{table}
FOR EACH ROW WHEN (new.known_at < old.known_at) EXECUTE FUNCTION ledger_known_ascends()
"""

APPEND_ONLY_TRIGGER = """
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON ledger_{table}version
FOR EACH ROW EXECUTE FUNCTION ledger_append_only()
"""

TAKE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON ledger_compensationversion, ledger_disputeversion
            FROM counterfoil_app;
    END IF;
END $$
"""


def keep(table: str) -> list[migrations.RunSQL]:
    old, new = (", ".join(f"{side}.{name}" for name in KEPT[table]) for side in ("old", "new"))
    function = KEEP_COMPENSATION if table == "compensation" else KEEP_DISPUTE
    return [
        migrations.RunSQL([function], [f"DROP FUNCTION ledger_keep_{table}"]),
        migrations.RunSQL(
            [KEEP_TRIGGERS.format(table=table, old=old, new=new)], [DROP_TRIGGERS.format(table=table)]
        ),
        migrations.RunSQL(
            [KNOWN_ASCENDS_TRIGGER.format(table=table)],
            [f"DROP TRIGGER ledger_known_ascends ON ledger_{table}"],
        ),
        migrations.RunSQL(
            [APPEND_ONLY_TRIGGER.format(table=table)],
            [f"DROP TRIGGER ledger_append_only ON ledger_{table}version"],
        ),
    ]


def key(to: str) -> models.ForeignKey:
    return models.ForeignKey(
        db_index=False,
        on_delete=django.db.models.deletion.DO_NOTHING,
        related_name="versions",
        to=f"ledger.{to}",
    )


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_statement_rules")]

    operations = [
        migrations.AddField(
            model_name="compensation", name="known_at", field=models.DateTimeField(help_text=KNOWN, null=True)
        ),
        migrations.AddField(
            model_name="dispute", name="known_at", field=models.DateTimeField(help_text=KNOWN, null=True)
        ),
        migrations.CreateModel(
            name="CompensationVersion",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "compensation_id",
                        "number",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("number", models.IntegerField()),
                ("known_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("requested", "Requested"),
                            ("approved", "Approved"),
                            ("rejected", "Rejected"),
                            ("sent", "Sent"),
                            ("settled", "Settled"),
                            ("failed", "Failed"),
                        ],
                        max_length=10,
                    ),
                ),
                ("external_ref", models.CharField(blank=True, max_length=255)),
                ("settled_at", models.DateTimeField(null=True)),
                ("failed_at", models.DateTimeField(null=True)),
                ("compensation", key("compensation")),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "state__in",
                                ["requested", "approved", "rejected", "sent", "settled", "failed"],
                            )
                        ),
                        name="ledger_compensationversion_state_is_known",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="DisputeVersion",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "dispute_id", "number", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                ("number", models.IntegerField()),
                ("known_at", models.DateTimeField()),
                ("status", models.CharField(max_length=64)),
                ("amount_minor", models.BigIntegerField()),
                ("currency", models.CharField(max_length=3)),
                ("closed_at", models.DateTimeField(null=True)),
                ("dispute", key("dispute")),
            ],
        ),
        migrations.RunSQL([VERSIONS_OF_COMPENSATIONS], migrations.RunSQL.noop),
        migrations.RunSQL([VERSIONS_OF_DISPUTES], migrations.RunSQL.noop),
        migrations.RunSQL([KNOWN_SINCE.format(table="compensation")], migrations.RunSQL.noop),
        migrations.RunSQL([KNOWN_SINCE.format(table="dispute")], migrations.RunSQL.noop),
        # The keys' deferred checks come first: a table with any of them due cannot be altered.
        migrations.RunSQL(["SET CONSTRAINTS ALL IMMEDIATE"], migrations.RunSQL.noop),
        migrations.AlterField(
            model_name="compensation", name="known_at", field=models.DateTimeField(help_text=KNOWN)
        ),
        migrations.AlterField(
            model_name="dispute", name="known_at", field=models.DateTimeField(help_text=KNOWN)
        ),
        migrations.RunSQL([KNOWN_ASCENDS], ["DROP FUNCTION ledger_known_ascends"]),
        *keep("compensation"),
        *keep("dispute"),
        migrations.RunSQL([TAKE], migrations.RunSQL.noop),
    ]
