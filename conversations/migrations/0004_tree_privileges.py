"""What the application's role may not do to the tree.

Cascades run as the owner of the tables and pass. Where the role does not exist
(a database that was set up without roles) only the triggers guard; the health
page says so.
"""

from django.db import migrations

TAKE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        REVOKE UPDATE, DELETE, TRUNCATE ON conversations_headmove FROM counterfoil_app;
        REVOKE UPDATE, TRUNCATE ON conversations_message FROM counterfoil_app;
        GRANT UPDATE (shell) ON conversations_message TO counterfoil_app;
        REVOKE UPDATE, DELETE, TRUNCATE ON conversations_messagepart FROM counterfoil_app;
        GRANT UPDATE (text, payload, shell, blob_id, is_text_copy, bytes_state)
            ON conversations_messagepart TO counterfoil_app;
        REVOKE UPDATE, DELETE, TRUNCATE ON conversations_toolcall FROM counterfoil_app;
        GRANT UPDATE (status, error_code, duration_ms, arguments, generation_number)
            ON conversations_toolcall TO counterfoil_app;
    END IF;
END $$
"""

GIVE_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        GRANT UPDATE, DELETE ON conversations_headmove, conversations_messagepart, conversations_toolcall
            TO counterfoil_app;
        GRANT UPDATE ON conversations_message TO counterfoil_app;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0003_tree_rules")]

    operations = [migrations.RunSQL([TAKE], [GIVE_BACK])]
