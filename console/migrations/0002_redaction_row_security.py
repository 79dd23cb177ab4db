"""Where something was cut is seen where its conversation is; see the policies before this one."""

from django.db import migrations

PROTECT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        CREATE POLICY everybody ON conversations_redactionspan FOR ALL TO PUBLIC USING (true) WITH CHECK (true);
        CREATE POLICY reader_in_its_realms ON conversations_redactionspan AS RESTRICTIVE
            FOR SELECT TO counterfoil_read USING (
                (SELECT access_reads_every_realm()) OR (
                    SELECT true FROM conversations_conversation owner
                    WHERE owner.id = conversations_redactionspan.conversation_id
                )
            );
        ALTER TABLE conversations_redactionspan ENABLE ROW LEVEL SECURITY;
    END IF;
END $$
"""

UNPROTECT = """
ALTER TABLE conversations_redactionspan DISABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS reader_in_its_realms ON conversations_redactionspan;
DROP POLICY IF EXISTS everybody ON conversations_redactionspan;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0001_row_security"),
        ("conversations", "0011_redaction"),
    ]

    operations = [migrations.RunSQL([PROTECT], [UNPROTECT])]
