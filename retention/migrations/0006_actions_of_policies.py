"""What a policy may do: delete, take the bytes, keep, or inherit."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retention", "0005_erasure")]

    operations = [
        migrations.RemoveConstraint(
            model_name="retentionpolicy",
            name="retention_policy_action_fits_the_class",
        ),
        migrations.RemoveConstraint(
            model_name="retentionpolicy",
            name="retention_policy_days_of_an_action",
        ),
        migrations.AlterField(
            model_name="retentionpolicy",
            name="action",
            field=models.CharField(
                choices=[
                    ("purge", "Delete"),
                    ("strip", "Take the bytes, keep the rows"),
                    ("keep", "Keep"),
                    ("inherit", "As the wider layer says"),
                ],
                max_length=8,
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("action__in", ["purge"]), ("data_class", "conversation")),
                    models.Q(("action__in", ["strip"]), ("data_class", "conversation_bytes")),
                    models.Q(("action__in", ["purge"]), ("data_class", "abandoned_branches")),
                    models.Q(("action__in", ["strip"]), ("data_class", "tool_payloads")),
                    models.Q(("action__in", ["purge"]), ("data_class", "generation_detail")),
                    models.Q(("action__in", ["purge"]), ("data_class", "raw_bodies")),
                    models.Q(("action__in", ["purge"]), ("data_class", "blobs")),
                    models.Q(("action__in", ["purge"]), ("data_class", "access_log")),
                    models.Q(("action__in", ["purge"]), ("data_class", "rollups")),
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
                            ],
                        ),
                        models.Q(("scope", "default"), _negated=True),
                    ),
                    _connector="OR",
                ),
                name="retention_policy_action_fits_the_class",
            ),
        ),
        migrations.AddConstraint(
            model_name="retentionpolicy",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("action__in", ["keep", "inherit"]), ("days__isnull", True)),
                    models.Q(("action__in", ["purge", "strip"]), ("days__gte", 1), ("days__isnull", False)),
                    _connector="OR",
                ),
                name="retention_policy_days_of_an_action",
            ),
        ),
    ]
