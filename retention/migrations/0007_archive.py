"""Archiving: a policy's action, holds before it, and files that go when no row names them."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# Row first, file after, on every way that a row can go: cascades, jobs, a statement typed by hand.
DOOM_FILE = """
CREATE FUNCTION retention_doom_archive() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO retention_doomedfile (storage_key, doomed_at) VALUES (old.storage_key, now())
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""

DOOM_FILE_TRIGGER = """
CREATE TRIGGER retention_doom_archive AFTER DELETE ON conversations_archive
FOR EACH ROW EXECUTE FUNCTION retention_doom_archive()
"""

# As retention_rows_are_free, but for bytes on their way back: whether these are whole is asked
# when the archive's row goes.
BYTES_ARE_FREE = """
CREATE FUNCTION retention_bytes_are_free() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE one uuid;
BEGIN
    FOR one IN SELECT DISTINCT g.conversation_id FROM gone g ORDER BY 1
    LOOP
        IF NOT conversations_is_returning(one) THEN
            PERFORM retention_refuse_if_held(one, tg_table_name);
        END IF;
    END LOOP;
    RETURN NULL;
END $$
"""

HELD_BYTES_TRIGGER = """
CREATE TRIGGER retention_held_bytes AFTER UPDATE ON {table} REFERENCING OLD TABLE AS gone
FOR EACH STATEMENT WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION {function}()
"""


# Without the table nothing says any more which file holds what, and files of nobody are swept.
NOTHING_IS_ARCHIVED = """
DO $$ BEGIN
    IF EXISTS (SELECT FROM conversations_archive) THEN
        RAISE EXCEPTION 'conversations are archived: bring their bytes back before you go behind the archive';
    END IF;
END $$
"""


def function(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP FUNCTION {name}"])


def trigger(create: str, name: str, table: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP TRIGGER {name} ON {table}"])


def ask_before_bytes(table: str) -> migrations.RunSQL:
    drop = f"DROP TRIGGER retention_held_bytes ON {table}"
    return migrations.RunSQL(
        [drop, HELD_BYTES_TRIGGER.format(table=table, function="retention_bytes_are_free")],
        [drop, HELD_BYTES_TRIGGER.format(table=table, function="retention_rows_are_free")],
    )


class Migration(migrations.Migration):
    dependencies = [
        ("retention", "0006_actions_of_policies"),
        ("conversations", "0013_archive"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

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
                    ("archive", "Put the bytes into a file, keep the rows"),
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
                    models.Q(("action__in", ["archive", "strip"]), ("data_class", "conversation_bytes")),
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
                    models.Q(
                        ("action__in", ["purge", "strip", "archive"]),
                        ("days__gte", 1),
                        ("days__isnull", False),
                    ),
                    _connector="OR",
                ),
                name="retention_policy_days_of_an_action",
            ),
        ),
        migrations.CreateModel(
            name="ArchiveReturn",
            fields=[
                (
                    "conversation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        primary_key=True,
                        related_name="+",
                        serialize=False,
                        to="conversations.conversation",
                    ),
                ),
                ("returned_at", models.DateTimeField()),
                (
                    "returned_by",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
        ),
        function(DOOM_FILE, "retention_doom_archive"),
        trigger(DOOM_FILE_TRIGGER, "retention_doom_archive", "conversations_archive"),
        function(BYTES_ARE_FREE, "retention_bytes_are_free"),
        ask_before_bytes("conversations_messagepart"),
        ask_before_bytes("conversations_message"),
        migrations.RunSQL(migrations.RunSQL.noop, [NOTHING_IS_ARCHIVED]),
    ]
