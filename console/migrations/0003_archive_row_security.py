"""An archive is seen where its conversation is; see the policies before this one."""

from django.db import migrations

PROTECT = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') THEN
        CREATE POLICY everybody ON conversations_archive FOR ALL TO PUBLIC USING (true) WITH CHECK (true);
        CREATE POLICY reader_in_its_realms ON conversations_archive AS RESTRICTIVE
            FOR SELECT TO counterfoil_read USING (
                (SELECT access_reads_every_realm()) OR (
                    SELECT true FROM conversations_conversation owner
                    WHERE owner.id = conversations_archive.conversation_id
                )
            );
        ALTER TABLE conversations_archive ENABLE ROW LEVEL SECURITY;
    END IF;
END $$
"""

UNPROTECT = """
ALTER TABLE conversations_archive DISABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS reader_in_its_realms ON conversations_archive;
DROP POLICY IF EXISTS everybody ON conversations_archive;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("console", "0002_redaction_row_security"),
        ("conversations", "0013_archive"),
    ]

    operations = [migrations.RunSQL([PROTECT], [UNPROTECT])]
