"""Keys of applications, and what was answered under their idempotency keys."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

TABLES = "access_apikey, access_storedanswer"

TAKE = f"""
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') AND current_user <> 'counterfoil_read' THEN
        REVOKE SELECT ON {TABLES} FROM counterfoil_read;
    END IF;
END $$
"""

GIVE_BACK = f"""
DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_read') AND current_user <> 'counterfoil_read' THEN
        GRANT SELECT ON {TABLES} TO counterfoil_read;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0007_secrets_are_not_read"),
    ]

    operations = [
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("application", models.CharField(max_length=100)),
                (
                    "hint",
                    models.CharField(help_text="How the secret begins, to tell keys apart.", max_length=16),
                ),
                ("secret_digest", models.BinaryField(max_length=32, unique=True)),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("read", "Read conversations, usage and statistics"),
                                ("write", "Record exchanges and write conversations"),
                                ("effects", "Begin and settle effects of tools"),
                                ("privacy", "Place holds and ask for erasure"),
                            ],
                            max_length=16,
                        )
                    ),
                ),
                ("requests_per_minute", models.IntegerField(default=6000)),
                ("created_at", models.DateTimeField()),
                ("created_by_id", models.CharField(help_text="The user who made it.", max_length=64)),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("revoked_by_id", models.CharField(blank=True, max_length=64)),
                ("last_used_at", models.DateTimeField(help_text="To the minute.", null=True)),
                (
                    "realm",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.DO_NOTHING, related_name="+", to="access.realm"
                    ),
                ),
                (
                    "replaces",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="replaced_by",
                        to="access.apikey",
                    ),
                ),
            ],
            options={
                "verbose_name": "API key",
            },
        ),
        migrations.CreateModel(
            name="StoredAnswer",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("idempotency_key", models.CharField(max_length=255)),
                (
                    "request_digest",
                    models.BinaryField(
                        help_text="SHA-256 over method, path and body: one key is for one request.",
                        max_length=32,
                    ),
                ),
                ("claimed_at", models.DateTimeField()),
                ("answered_at", models.DateTimeField(null=True)),
                ("status", models.SmallIntegerField(null=True)),
                ("headers", models.JSONField(default=dict)),
                ("body", models.BinaryField(default=bytes)),
                (
                    "account_id",
                    models.UUIDField(
                        help_text="Whom the answer speaks of; erasure takes it by this.", null=True
                    ),
                ),
                (
                    "api_key",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="+",
                        to="access.apikey",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("scopes__contained_by", ["read", "write", "effects", "privacy"]), ("scopes__len__gt", 0)
                ),
                name="access_apikey_scopes_are_known",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("requests_per_minute__gt", 0)), name="access_apikey_rate_is_positive"
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("expires_at__isnull", True), ("expires_at__gt", models.F("created_at")), _connector="OR"
                ),
                name="access_apikey_expires_after_it_was_made",
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("revoked_at__isnull", True), ("revoked_by_id", "")),
                    models.Q(("revoked_at__isnull", False), models.Q(("revoked_by_id", ""), _negated=True)),
                    _connector="OR",
                ),
                name="access_apikey_revoked_by_somebody",
            ),
        ),
        migrations.AddIndex(
            model_name="storedanswer",
            index=models.Index(fields=["claimed_at"], name="stored_answer_claimed"),
        ),
        migrations.AddIndex(
            model_name="storedanswer",
            index=models.Index(
                condition=models.Q(("account_id__isnull", False)),
                fields=["account_id"],
                name="stored_answer_account",
            ),
        ),
        migrations.AddConstraint(
            model_name="storedanswer",
            constraint=models.UniqueConstraint(
                fields=("api_key", "idempotency_key"), name="access_storedanswer_once_per_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="storedanswer",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("answered_at__isnull", True), ("status__isnull", True)),
                    models.Q(("answered_at__isnull", False), ("status__isnull", False)),
                    _connector="OR",
                ),
                name="access_storedanswer_has_a_status",
            ),
        ),
        # Nobody who reads customers' data reads how applications sign in, or what they were told.
        migrations.RunSQL([TAKE], [GIVE_BACK]),
    ]
