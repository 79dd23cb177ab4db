"""What is only ever appended: lines of statements, rows of runs, decisions, what happened to findings."""

from django.db import migrations

# Retention may take a raw body: only the way to it may be emptied.
LINE_IS_APPENDED = """
CREATE FUNCTION ledger_line_is_appended() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE kept ledger_statementline := new;
BEGIN
    kept.raw_id := old.raw_id;
    IF tg_op = 'UPDATE' AND new.raw_id IS NULL AND kept IS NOT DISTINCT FROM old THEN RETURN new; END IF;
    RAISE EXCEPTION 'lines of a statement are only ever appended'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_append_only', TABLE = 'ledger_statementline';
END $$
"""

LINE_IS_APPENDED_TRIGGER = """
CREATE TRIGGER ledger_line_is_appended BEFORE UPDATE OR DELETE ON ledger_statementline
FOR EACH ROW EXECUTE FUNCTION ledger_line_is_appended()
"""

APPEND_ONLY_TRIGGER = """
CREATE TRIGGER ledger_append_only BEFORE UPDATE OR DELETE ON {table}
FOR EACH ROW EXECUTE FUNCTION ledger_append_only()
"""

APPENDED = ("ledger_runrow", "ledger_runinput", "ledger_matchdecision", "ledger_findingevent")

# A finished run is frozen; before that, only its job and its end are written.
RUN_IS_FROZEN = """
CREATE FUNCTION ledger_run_is_frozen() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE kept ledger_reconciliationrun := new;
BEGIN
    IF tg_op = 'UPDATE' THEN
        kept.job_id := old.job_id; kept.finished_at := old.finished_at;
        kept.report := old.report; kept.report_sha256 := old.report_sha256;
        IF kept IS NOT DISTINCT FROM old AND (old.finished_at IS NULL OR
            (new.finished_at, new.report, new.report_sha256) IS NOT DISTINCT FROM
            (old.finished_at, old.report, old.report_sha256)) THEN
            RETURN new;
        END IF;
    END IF;
    RAISE EXCEPTION 'run % is frozen', old.id
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'ledger_run_is_frozen',
            TABLE = 'ledger_reconciliationrun';
END $$
"""

RUN_IS_FROZEN_TRIGGER = """
CREATE TRIGGER ledger_run_is_frozen BEFORE UPDATE OR DELETE ON ledger_reconciliationrun
FOR EACH ROW EXECUTE FUNCTION ledger_run_is_frozen()
"""

TAKE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        REVOKE UPDATE, DELETE, TRUNCATE ON ledger_statement, ledger_statementline, ledger_runrow,
            ledger_runinput, ledger_matchdecision, ledger_findingevent FROM counterfoil_app;
        REVOKE DELETE, TRUNCATE ON ledger_reconciliationrun, ledger_sighting, ledger_finding, ledger_alert
            FROM counterfoil_app;
    END IF;
END $$
"""

GIVE_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        GRANT UPDATE, DELETE ON ledger_statement, ledger_statementline, ledger_runrow, ledger_runinput,
            ledger_matchdecision, ledger_findingevent, ledger_reconciliationrun, ledger_sighting,
            ledger_finding, ledger_alert TO counterfoil_app;
    END IF;
END $$
"""


def function(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP FUNCTION {name}"])


def trigger(create: str, name: str, table: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP TRIGGER {name} ON {table}"])


class Migration(migrations.Migration):
    dependencies = [("ledger", "0003_statements_and_findings")]

    operations = [
        function(LINE_IS_APPENDED, "ledger_line_is_appended"),
        trigger(LINE_IS_APPENDED_TRIGGER, "ledger_line_is_appended", "ledger_statementline"),
        function(RUN_IS_FROZEN, "ledger_run_is_frozen"),
        trigger(RUN_IS_FROZEN_TRIGGER, "ledger_run_is_frozen", "ledger_reconciliationrun"),
        *[
            trigger(APPEND_ONLY_TRIGGER.format(table=table), "ledger_append_only", table)
            for table in APPENDED
        ],
        migrations.RunSQL([TAKE], [GIVE_BACK]),
    ]
