"""Findings, statements, runs and what hangs on them are seen in their realm, like the effects they are about.

A webhook that no effect knows, and an alert that is about no run, are nobody's: only who sees every
realm reads them.
"""

from django.db import migrations

SEES_ALL = "(SELECT access_reads_every_realm())"
BY_REALM = "realm_id = ANY ((SELECT access_read_realms())::bigint[])"


def with_row(of: str, key: str) -> str:
    return f"(SELECT true FROM {of} owner WHERE owner.id = {{table}}.{key})"


BY_RUN = with_row("ledger_reconciliationrun", "run_id")
BY_FINDING = with_row("ledger_finding", "finding_id")

POLICIES = {
    "ledger_statement": BY_REALM,
    "ledger_statementline": with_row("ledger_statement", "statement_id"),
    "ledger_reconciliationrun": BY_REALM,
    "ledger_runinput": BY_RUN,
    "ledger_runrow": BY_RUN,
    "ledger_sighting": BY_RUN,
    "ledger_alert": BY_RUN,
    "ledger_finding": BY_REALM,
    "ledger_findingevent": BY_FINDING,
    "ledger_findingcomment": BY_FINDING,
    "ledger_matchdecision": BY_REALM,
    "ledger_reconciliationpolicy": BY_REALM,
    "ledger_toolpolicy": BY_REALM,
    "ledger_toolpolicychange": with_row("ledger_toolpolicy", "policy_id"),
    "ledger_webhookevent": with_row("ledger_tooleffect", "effect_id"),
    "ledger_compensationversion": with_row("ledger_compensation", "compensation_id"),
    "ledger_disputeversion": with_row("ledger_dispute", "dispute_id"),
    "conversations_redactionswitch": BY_REALM,
}

# Everybody passes the first policy; the reader must pass the second one too.
PROTECT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        CREATE POLICY everybody ON {table} FOR ALL TO PUBLIC USING (true) WITH CHECK (true);
        CREATE POLICY reader_in_its_realms ON {table} AS RESTRICTIVE FOR SELECT TO counterfoil_read
            USING ({sees_all} OR {condition});
        ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;
    END IF;
END $$
"""

UNPROTECT = """
ALTER TABLE {table} DISABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS reader_in_its_realms ON {table};
DROP POLICY IF EXISTS everybody ON {table};
"""


def protect(table: str, condition: str) -> migrations.RunSQL:
    forward = PROTECT.format(table=table, sees_all=SEES_ALL, condition=condition.format(table=table))
    return migrations.RunSQL([forward], [UNPROTECT.format(table=table)])


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0003_archive_row_security"),
        ("ledger", "0005_versions_of_refunds"),
    ]

    operations = [protect(table, condition) for table, condition in POLICIES.items()]
