"""Which realms the present transaction may read: the policies of every app's tables ask these two.

`counterfoil.realms` is set with SET LOCAL, so it ends with its transaction: `*` is every realm,
ids with commas between are those, and nothing is none.
"""

from django.db import migrations

EVERY_REALM = """
CREATE FUNCTION access_reads_every_realm() RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT coalesce(current_setting('counterfoil.realms', true), '') = '*'
$$
"""

REALMS = """
CREATE FUNCTION access_read_realms() RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
    SELECT CASE WHEN coalesce(current_setting('counterfoil.realms', true), '') IN ('', '*') THEN '{}'
        ELSE string_to_array(current_setting('counterfoil.realms'), ',')::bigint[] END
$$
"""

# A function that runs as its owner sees every row; it asks here what its caller may see.
LIMITED = """
CREATE FUNCTION access_realms_within(wanted bigint[]) RETURNS bigint[]
LANGUAGE sql STABLE PARALLEL SAFE SET search_path = pg_catalog, public, pg_temp AS $$
    SELECT CASE
        WHEN 'counterfoil_read' NOT IN (current_setting('role'), session_user) OR access_reads_every_realm()
            THEN wanted
        WHEN wanted IS NULL THEN access_read_realms()
        ELSE ARRAY(SELECT unnest(wanted) INTERSECT SELECT unnest(access_read_realms()))
    END
$$
"""

GRANT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        GRANT EXECUTE ON FUNCTION access_reads_every_realm(), access_read_realms(), access_realms_within(bigint[])
            TO counterfoil_read;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("access", "0005_log_by_action")]

    operations = [
        migrations.RunSQL([EVERY_REALM], ["DROP FUNCTION access_reads_every_realm"]),
        migrations.RunSQL([REALMS], ["DROP FUNCTION access_read_realms"]),
        migrations.RunSQL([LIMITED], ["DROP FUNCTION access_realms_within"]),
        migrations.RunSQL([GRANT], migrations.RunSQL.noop),
    ]
