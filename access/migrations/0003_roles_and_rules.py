"""The roles as groups; and what nobody may do to the access log."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

RIGHTS_OF_ROLE = {
    "support": [
        "answer_questions",
        "read_bodies",
        "read_conversations",
        "read_effects",
        "read_tools",
        "request_compensation",
        "reveal_personal",
        "write_notes",
    ],
    "finance": [
        "export",
        "read_bodies",
        "read_conversations",
        "read_costs",
        "read_effects",
        "read_jobs",
        "read_tools",
        "reconcile",
        "reprocess_events",
        "request_compensation",
        "resolve_findings",
        "write_notes",
    ],
    "finance_approver": [
        "approve_compensation",
        "export",
        "read_bodies",
        "read_conversations",
        "read_costs",
        "read_effects",
        "read_jobs",
        "read_tools",
        "reconcile",
        "reprocess_events",
        "request_compensation",
        "resolve_findings",
        "write_notes",
    ],
    "privacy_officer": [
        "approve_erasures",
        "edit_policies",
        "export",
        "export_person",
        "handle_erasures",
        "place_holds",
        "read_access_log",
        "read_bodies",
        "read_bodies_freely",
        "read_conversations",
        "read_effects",
        "read_jobs",
        "read_retention",
        "release_holds",
        "reveal_personal",
        "write_notes",
    ],
    "auditor": [
        "export",
        "read_access_log",
        "read_bodies",
        "read_conversations",
        "read_costs",
        "read_effects",
        "read_jobs",
        "read_raw",
        "read_retention",
        "read_tools",
    ],
    "administrator": [
        "edit_tools",
        "manage_keys",
        "manage_staff",
        "read_access_log",
        "read_bodies",
        "read_conversations",
        "read_costs",
        "read_effects",
        "read_jobs",
        "read_raw",
        "read_retention",
        "read_tools",
        "reprocess_events",
        "start_jobs",
        "stop_jobs",
    ],
}

RIGHT_LABELS = {
    "read_conversations": "Can see conversations without their texts",
    "read_bodies": "Can read what was said, for a stated reason",
    "read_bodies_freely": "Can read what was said without stating a reason",
    "read_raw": "Can see raw payloads and replay bodies",
    "reveal_personal": "Can reveal masked personal details",
    "export": "Can export lists and conversations",
    "write_notes": "Can write notes on a conversation",
    "read_costs": "Can see costs",
    "read_tools": "Can see tool statistics",
    "read_effects": "Can see effects and what the processor says of them",
    "edit_tools": "Can edit the tool registry",
    "answer_questions": "Can allow or refuse a call that the guard asks about",
    "request_compensation": "Can ask for a refund",
    "approve_compensation": "Can approve a refund that another asked for",
    "reprocess_events": "Can work on a processor's event again",
    "reconcile": "Can import statements and run a reconciliation",
    "resolve_findings": "Can assign and resolve findings",
    "read_retention": "Can see policies, holds and erasure requests",
    "edit_policies": "Can change retention policies",
    "place_holds": "Can place a legal hold and ask for its release",
    "release_holds": "Can approve the release that another asked for",
    "handle_erasures": "Can take in and run erasure requests",
    "approve_erasures": "Can approve an erasure that another prepared",
    "export_person": "Can export a person's data",
    "read_access_log": "Can read the access log",
    "manage_staff": "Can give staff roles and realms",
    "manage_keys": "Can make and revoke API keys",
    "start_jobs": "Can start jobs",
    "stop_jobs": "Can stop and resume jobs",
    "read_jobs": "Can see jobs",
}


def make_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Permissions are usually made after all migrations; the groups need them now."""
    content_types = apps.get_model("contenttypes", "ContentType").objects.using(
        schema_editor.connection.alias
    )
    permissions = apps.get_model("auth", "Permission").objects.using(schema_editor.connection.alias)
    groups = apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias)
    content_type, _ = content_types.get_or_create(app_label="access", model="right")
    for role, rights in RIGHTS_OF_ROLE.items():
        group, _ = groups.get_or_create(name=role)
        for right in rights:
            permission, _ = permissions.get_or_create(
                content_type=content_type, codename=right, defaults={"name": RIGHT_LABELS[right]}
            )
            group.permissions.add(permission)


def drop_roles(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    groups = apps.get_model("auth", "Group").objects.using(schema_editor.connection.alias)
    groups.filter(name__in=RIGHTS_OF_ROLE).delete()


LOG_IS_APPENDED = """
CREATE FUNCTION access_log_is_appended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'DELETE' AND current_setting('access.purging', true) = 'on' THEN RETURN old; END IF;
    RAISE EXCEPTION 'the access log is only ever appended'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'access_log_append_only', TABLE = 'access_accessentry';
END $$
"""

LOG_IS_APPENDED_TRIGGER = """
CREATE TRIGGER access_log_is_appended BEFORE UPDATE OR DELETE ON access_accessentry
FOR EACH ROW EXECUTE FUNCTION access_log_is_appended()
"""

TAKE = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        REVOKE UPDATE, DELETE, TRUNCATE ON access_accessentry FROM counterfoil_app;
        REVOKE SELECT ON access_accessentry, access_statedreason FROM counterfoil_read;
    END IF;
END $$
"""

GIVE_BACK = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app')
        AND current_user <> 'counterfoil_app' THEN
        GRANT UPDATE, DELETE ON access_accessentry TO counterfoil_app;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0002_access_log"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [
        migrations.RunPython(make_roles, drop_roles),
        migrations.RunSQL([LOG_IS_APPENDED], ["DROP FUNCTION access_log_is_appended"]),
        migrations.RunSQL(
            [LOG_IS_APPENDED_TRIGGER], ["DROP TRIGGER access_log_is_appended ON access_accessentry"]
        ),
        migrations.RunSQL([TAKE], [GIVE_BACK]),
    ]
