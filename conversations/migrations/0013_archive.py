"""Bytes of cold conversations in a file of their own, and what the database asks of it.

No part is archived without its archive. The bytes come back within one transaction, all of them
and the very same, or not at all: the digest is taken by the database before they go and again
when the archive's row goes.
"""

import django.db.models.deletion
from django.db import migrations, models

CONTENT_DIGEST = """
CREATE FUNCTION conversations_content_digest(conversation uuid, before int) RETURNS bytea
LANGUAGE sql STABLE AS $$
SELECT sha256(coalesce(string_agg(line, '' ORDER BY seq, ordinal), '')) FROM (
    SELECT p.seq, p.ordinal, int4send(p.seq) || int2send(p.ordinal) || sha256(convert_to(p.bytes_state, 'UTF8'))
        || coalesce(sha256(convert_to(p.text, 'UTF8')), '\\x00')
        || coalesce(b.sha256, sha256(p.payload), '\\x00')
        || coalesce(sha256(convert_to(p.shell, 'UTF8')), '\\x00') || boolsend(p.is_text_copy) AS line
    FROM conversations_messagepart p LEFT JOIN conversations_blob b ON b.id = p.blob_id
    WHERE p.conversation_id = conversation AND p.seq < before AND p.bytes_state IN ('present', 'redacted')
    UNION ALL
    SELECT m.seq, -1, int4send(m.seq) || sha256(convert_to(m.shell, 'UTF8'))
    FROM conversations_message m
    WHERE m.conversation_id = conversation AND m.seq < before AND m.shell IS NOT NULL
    AND EXISTS (SELECT FROM conversations_messagepart p WHERE p.conversation_id = conversation
        AND p.seq = m.seq AND p.bytes_state IN ('present', 'redacted'))
) lines
$$
"""

IS_RETURNING = """
CREATE FUNCTION conversations_is_returning(conversation uuid) RETURNS boolean
LANGUAGE sql STABLE AS $$
SELECT coalesce((SELECT a.is_returning FROM conversations_archive a WHERE a.conversation_id = conversation), false)
$$
"""

# Everything about it is written once; it goes when nothing needs it, or when all has come back.
ARCHIVE_IS_WHOLE = """
CREATE FUNCTION conversations_archive_is_whole() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE kept conversations_archive := new;
BEGIN
    IF tg_op = 'UPDATE' THEN
        kept.is_returning := old.is_returning;
        IF kept IS DISTINCT FROM old OR old.is_returning THEN
            RAISE EXCEPTION 'the archive of conversation % was written once', old.conversation_id
                USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_archive_written_once',
                    TABLE = 'conversations_archive';
        END IF;
        RETURN new;
    END IF;
    IF NOT EXISTS (SELECT FROM conversations_conversation c WHERE c.id = old.conversation_id) THEN
        RETURN old;
    END IF;
    IF EXISTS (SELECT FROM conversations_messagepart p
        WHERE p.conversation_id = old.conversation_id AND p.bytes_state = 'archived') THEN
        RAISE EXCEPTION 'the archive of conversation % holds the only copy of its bytes', old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_archive_is_needed',
                TABLE = 'conversations_archive';
    END IF;
    IF old.is_returning AND old.content_sha256 IS DISTINCT FROM
        conversations_content_digest(old.conversation_id, old.next_seq) THEN
        RAISE EXCEPTION 'other bytes came back to conversation % than were archived', old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_archive_comes_back_whole',
                TABLE = 'conversations_archive';
    END IF;
    RETURN old;
END $$
"""

ARCHIVE_IS_WHOLE_TRIGGER = """
CREATE TRIGGER conversations_archive_is_whole BEFORE UPDATE OR DELETE ON conversations_archive
FOR EACH ROW EXECUTE FUNCTION conversations_archive_is_whole()
"""

RETURN_ENDS = """
CREATE FUNCTION conversations_archive_return_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF conversations_is_returning(new.conversation_id) THEN
        RAISE EXCEPTION 'the bytes of conversation % came back only half way', new.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_archive_return_ends',
                TABLE = 'conversations_archive';
    END IF;
    RETURN NULL;
END $$
"""

RETURN_ENDS_TRIGGER = """
CREATE CONSTRAINT TRIGGER conversations_archive_return_ends AFTER INSERT OR UPDATE ON conversations_archive
DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (new.is_returning)
EXECUTE FUNCTION conversations_archive_return_ends()
"""

MESSAGE_ONLY_LOSES_BYTES = """
CREATE OR REPLACE FUNCTION conversations_message_only_loses_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE kept conversations_message := new;
BEGIN
    -- A stored generated column is not computed yet when a BEFORE trigger runs.
    kept.shell := old.shell; kept.group_ordinal := old.group_ordinal;
    IF kept IS DISTINCT FROM old OR (new.shell IS NOT NULL AND new.shell IS DISTINCT FROM old.shell
        {back}) THEN
        RAISE EXCEPTION 'message % of conversation % was written once; only its bytes may be taken away',
            old.seq, old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_message_only_loses_bytes',
                TABLE = 'conversations_message';
    END IF;
    RETURN new;
END $$
"""
SHELL_COMES_BACK = "AND NOT (old.shell IS NULL AND conversations_is_returning(old.conversation_id))"

PART_ONLY_LOSES_BYTES = """
CREATE OR REPLACE FUNCTION conversations_part_only_loses_bytes() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kept conversations_messagepart := new;
    is_back boolean := {back};
BEGIN
    kept.text := old.text; kept.payload := old.payload; kept.shell := old.shell;
    kept.blob_id := old.blob_id; kept.is_text_copy := old.is_text_copy; kept.bytes_state := old.bytes_state;
    -- A stored generated column is not computed yet when a BEFORE trigger runs.
    kept.call_id := old.call_id;
    IF kept IS DISTINCT FROM old OR NOT is_back AND (new.bytes_state = 'present'
        -- From bytes to fewer, from fewer to none; what is gone does not come back under another name.
        OR old.bytes_state = 'erased' AND new.bytes_state <> 'erased'
        OR old.bytes_state IN ('stripped', 'archived') AND new.bytes_state = 'redacted'
        OR old.bytes_state = 'stripped' AND new.bytes_state = 'archived'
        -- Redaction puts a cut copy where bytes were, and nowhere else.
        OR new.text IS NOT NULL AND old.text IS NULL
        OR new.shell IS NOT NULL AND old.shell IS NULL
        OR new.payload IS NOT NULL AND old.payload IS NULL AND old.blob_id IS NULL
        OR new.blob_id IS NOT NULL AND old.payload IS NULL AND old.blob_id IS NULL
        OR new.is_text_copy AND NOT old.is_text_copy) THEN
        RAISE EXCEPTION 'part % of message % of conversation % was written once; it may only lose bytes',
            old.ordinal, old.seq, old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_part_only_loses_bytes',
                TABLE = 'conversations_messagepart';
    END IF;
    {archived}
    {unless_elsewhere}
    -- What was derived from bytes that are gone goes too.
    UPDATE conversations_toolcall c SET arguments = NULL
        WHERE c.conversation_id = old.conversation_id AND c.seq = old.seq AND c.call_id = old.call_id
        AND c.arguments IS NOT NULL;
    UPDATE conversations_summary s SET text = '', invalidated_at = now()
        WHERE s.conversation_id = old.conversation_id AND s.invalidated_at IS NULL
        AND old.seq BETWEEN s.from_seq AND s.to_seq;
    DELETE FROM conversations_chunk c WHERE c.conversation_id = old.conversation_id
        AND c.seq = old.seq AND c.ordinal = old.ordinal;
    RETURN new;
END $$
"""
BYTES_COME_BACK = (
    "old.bytes_state = 'archived' AND new.bytes_state IN ('present', 'redacted')"
    " AND conversations_is_returning(old.conversation_id)"
)
HAS_ITS_ARCHIVE = """
    IF new.bytes_state = 'archived' AND old.bytes_state <> 'archived' AND NOT EXISTS (
        SELECT FROM conversations_archive a WHERE a.conversation_id = old.conversation_id) THEN
        RAISE EXCEPTION 'part % of message % of conversation % has no archive to be in',
            old.ordinal, old.seq, old.conversation_id
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'conversations_part_has_its_archive',
                TABLE = 'conversations_messagepart';
    END IF;
"""
# In an archive the bytes are still there: what was derived from them stays true.
UNLESS_ELSEWHERE = "IF is_back OR new.bytes_state = 'archived' THEN RETURN new; END IF;"


def function(create: str, name: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP FUNCTION {name}"])


def trigger(create: str, name: str, table: str) -> migrations.RunSQL:
    return migrations.RunSQL([create], [f"DROP TRIGGER {name} ON {table}"])


class Migration(migrations.Migration):
    dependencies = [("conversations", "0012_search_within")]

    operations = [
        migrations.CreateModel(
            name="Archive",
            fields=[
                (
                    "conversation",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        primary_key=True,
                        related_name="archive",
                        serialize=False,
                        to="conversations.conversation",
                    ),
                ),
                ("storage_key", models.CharField(max_length=64)),
                ("sha256", models.BinaryField(help_text="Of the file as it lies.", max_length=32)),
                ("size", models.BigIntegerField(help_text="Of the file, in bytes.")),
                ("part_count", models.IntegerField()),
                (
                    "byte_count",
                    models.BigIntegerField(help_text="What was taken out of the rows, uncompressed."),
                ),
                ("next_seq", models.IntegerField(help_text="The first message that is not in it.")),
                ("content_sha256", models.BinaryField(max_length=32)),
                ("is_returning", models.BooleanField(db_default=False, default=False)),
                ("archived_at", models.DateTimeField()),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("storage_key",), name="conversations_archive_storage_key_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("byte_count__gte", 0), ("part_count__gt", 0), ("size__gt", 0)),
                        name="conversations_archive_is_not_empty",
                    ),
                ],
            },
        ),
        function(CONTENT_DIGEST, "conversations_content_digest"),
        function(IS_RETURNING, "conversations_is_returning"),
        function(ARCHIVE_IS_WHOLE, "conversations_archive_is_whole"),
        trigger(ARCHIVE_IS_WHOLE_TRIGGER, "conversations_archive_is_whole", "conversations_archive"),
        function(RETURN_ENDS, "conversations_archive_return_ends"),
        trigger(RETURN_ENDS_TRIGGER, "conversations_archive_return_ends", "conversations_archive"),
        migrations.RunSQL(
            [MESSAGE_ONLY_LOSES_BYTES.format(back=SHELL_COMES_BACK)],
            [MESSAGE_ONLY_LOSES_BYTES.format(back="")],
        ),
        migrations.RunSQL(
            [
                PART_ONLY_LOSES_BYTES.format(
                    back=BYTES_COME_BACK, archived=HAS_ITS_ARCHIVE, unless_elsewhere=UNLESS_ELSEWHERE
                )
            ],
            [PART_ONLY_LOSES_BYTES.format(back="false", archived="", unless_elsewhere="")],
        ),
    ]
