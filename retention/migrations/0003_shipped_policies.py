"""The policies that a new installation begins with; the privacy officer changes them on the page."""

from datetime import UTC, datetime

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
SHIPPED = [
    ("conversation", "purge", 90),
    ("conversation_bytes", "keep", None),
    ("abandoned_branches", "keep", None),
    ("tool_payloads", "keep", None),
    ("generation_detail", "purge", 30),
    ("raw_bodies", "purge", 90),
    ("blobs", "purge", 1),
    ("access_log", "purge", 730),
    ("rollups", "keep", None),
]


def ship(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    policies = apps.get_model("retention", "RetentionPolicy").objects.using(schema_editor.connection.alias)
    for data_class, action, days in SHIPPED:
        policies.create(
            data_class=data_class,
            scope="default",
            action=action,
            days=days,
            effective_from=BEGINNING,
            set_at=BEGINNING,
        )


class Migration(migrations.Migration):
    dependencies = [("retention", "0002_hold_rules")]

    operations = [migrations.RunPython(ship, migrations.RunPython.noop, elidable=False)]
