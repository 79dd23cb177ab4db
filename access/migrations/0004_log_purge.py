"""The one way by which rows leave the access log: a function of the owner's, which keeps a floor."""

from django.db import migrations, models

# Its owner deletes, not its caller. The floor is measured by the server's clock, never by an argument.
PURGE_LOG = """
CREATE FUNCTION access_purge_log(before timestamptz, most integer, OUT entries bigint, OUT reasons bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE kept integer := (SELECT days FROM access_logfloor);
BEGIN
    IF kept IS NULL OR before IS NULL OR before > now() - make_interval(days => kept) THEN
        RAISE EXCEPTION 'the access log is kept for at least % days', kept
            USING ERRCODE = 'check_violation', CONSTRAINT = 'access_log_floor', TABLE = 'access_accessentry';
    END IF;
    PERFORM set_config('access.purging', 'on', true);
    DELETE FROM access_accessentry WHERE id IN (
        SELECT id FROM access_accessentry WHERE at < before ORDER BY at, id LIMIT most
    );
    GET DIAGNOSTICS entries = ROW_COUNT;
    PERFORM set_config('access.purging', '', true);
    DELETE FROM access_statedreason WHERE id IN (
        SELECT id FROM access_statedreason WHERE valid_until < before ORDER BY id LIMIT most
    );
    GET DIAGNOSTICS reasons = ROW_COUNT;
END $$
"""

# Default privileges give a new function to the application alone; where there are none, PUBLIC has it.
ONLY_THE_APPLICATION = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        REVOKE EXECUTE ON FUNCTION access_purge_log(timestamptz, integer) FROM PUBLIC;
        GRANT EXECUTE ON FUNCTION access_purge_log(timestamptz, integer) TO counterfoil_app;
        REVOKE INSERT, UPDATE, DELETE, TRUNCATE ON access_logfloor FROM counterfoil_app;
    END IF;
END $$
"""

GIVE_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        GRANT INSERT, UPDATE, DELETE ON access_logfloor TO counterfoil_app;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("access", "0003_roles_and_rules")]

    operations = [
        migrations.CreateModel(
            name="LogFloor",
            fields=[
                ("id", models.SmallIntegerField(primary_key=True, serialize=False)),
                ("days", models.IntegerField()),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("id", 1)), name="access_logfloor_is_one_row"),
                    models.CheckConstraint(
                        condition=models.Q(("days__gte", 30)), name="access_logfloor_at_least_a_month"
                    ),
                ],
            },
        ),
        migrations.RunSQL(
            ["INSERT INTO access_logfloor (id, days) VALUES (1, 365)"], ["DELETE FROM access_logfloor"]
        ),
        migrations.RunSQL([PURGE_LOG], ["DROP FUNCTION access_purge_log"]),
        migrations.RunSQL([ONLY_THE_APPLICATION], [GIVE_BACK]),
    ]
