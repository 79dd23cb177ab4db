"""Runs of jobs go by their age: beat starts thousands of them a day."""

from datetime import UTC, datetime

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
DAYS = 30


def ship(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    policies = apps.get_model("retention", "RetentionPolicy").objects.using(schema_editor.connection.alias)
    policies.create(
        data_class="job_runs",
        scope="default",
        action="purge",
        days=DAYS,
        effective_from=BEGINNING,
        set_at=BEGINNING,
    )


def take_back(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Going back there is no such class any more: its rules go, though rules are never deleted else."""
    policies = apps.get_model("retention", "RetentionPolicy").objects.using(schema_editor.connection.alias)
    schema_editor.execute("ALTER TABLE retention_retentionpolicy DISABLE TRIGGER retention_append_only")
    policies.filter(data_class="job_runs").delete()
    schema_editor.execute("ALTER TABLE retention_retentionpolicy ENABLE TRIGGER retention_append_only")


class Migration(migrations.Migration):
    dependencies = [("retention", "0009_application_actors")]

    operations = [
        migrations.RemoveConstraint(
            model_name="retentionpolicy", name="retention_policy_action_fits_the_class"
        ),
        migrations.AlterField(
            model_name="retentionpolicy",
            name="data_class",
            field=models.CharField(
                choices=[
                    ("conversation", "Conversations"),
                    ("conversation_bytes", "What was said in them"),
                    ("abandoned_branches", "Abandoned branches"),
                    ("tool_payloads", "What tools were given and gave back"),
                    ("generation_detail", "Attempts in detail"),
                    ("raw_bodies", "Raw bodies"),
                    ("blobs", "Files and fragments that nothing names"),
                    ("access_log", "The access log"),
                    ("rollups", "Sealed totals by day"),
                    ("job_runs", "Runs of jobs that have ended"),
                ],
                max_length=20,
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("action__in", ["purge"]), ("data_class", "conversation")),
                    models.Q(("action__in", ["archive", "strip"]), ("data_class", "conversation_bytes")),
                    models.Q(("action__in", ["purge"]), ("data_class", "abandoned_branches")),
                    models.Q(("action__in", ["strip"]), ("data_class", "tool_payloads")),
                    models.Q(("action__in", ["purge"]), ("data_class", "generation_detail")),
                    models.Q(("action__in", ["purge"]), ("data_class", "raw_bodies")),
                    models.Q(("action__in", ["purge"]), ("data_class", "blobs")),
                    models.Q(("action__in", ["purge"]), ("data_class", "access_log")),
                    models.Q(("action__in", ["purge"]), ("data_class", "rollups")),
                    models.Q(("action__in", ["purge"]), ("data_class", "job_runs")),
                    models.Q(
                        ("action", "keep"),
                        (
                            "data_class__in",
                            [
                                "conversation",
                                "conversation_bytes",
                                "abandoned_branches",
                                "tool_payloads",
                                "generation_detail",
                                "raw_bodies",
                                "blobs",
                                "access_log",
                                "rollups",
                                "job_runs",
                            ],
                        ),
                    ),
                    models.Q(
                        ("action", "inherit"),
                        (
                            "data_class__in",
                            [
                                "conversation",
                                "conversation_bytes",
                                "abandoned_branches",
                                "tool_payloads",
                                "generation_detail",
                                "raw_bodies",
                                "blobs",
                                "access_log",
                                "rollups",
                                "job_runs",
                            ],
                        ),
                        models.Q(("scope", "default"), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="retention_policy_action_fits_the_class",
            ),
        ),
        migrations.RunPython(ship, take_back, elidable=False),
    ]
