"""Words of what is held are not emptied, and not written over either: both are a loss."""

from django.db import migrations

TRIGGER = """
CREATE TRIGGER retention_held_{suffix} BEFORE UPDATE OF {columns} ON {table}
FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION {function}()
"""
BODIES = (
    "pg_trigger_depth() = 0 AND (old.body_patch IS NOT NULL AND new.body_patch IS NULL"
    " OR old.raw_request_id IS NOT NULL AND new.raw_request_id IS NULL"
    " OR old.raw_response_id IS NOT NULL AND new.raw_response_id IS NULL"
    " OR old.error_message <> '' AND new.error_message {lost})"
)
# Table, suffix, columns, condition with the comparison left open, function.
WORDS = (
    (
        "conversations_conversation",
        "title",
        "title",
        "old.title <> '' AND new.title {lost}",
        "retention_title_is_free",
    ),
    (
        "conversations_generation",
        "bytes",
        "body_patch, raw_request_id, raw_response_id, error_message",
        BODIES,
        "retention_row_is_free",
    ),
    (
        "conversations_summary",
        "bytes",
        "text",
        "pg_trigger_depth() = 0 AND old.text <> '' AND new.text {lost}",
        "retention_row_is_free",
    ),
    (
        "conversations_conversationnote",
        "bytes",
        "text",
        "old.text <> '' AND new.text {lost}",
        "retention_row_is_free",
    ),
)
COLUMN = {
    "conversations_conversation": "title",
    "conversations_generation": "error_message",
    "conversations_summary": "text",
    "conversations_conversationnote": "text",
}
ARGUMENTS = TRIGGER.format(
    suffix="arguments",
    columns="arguments",
    table="conversations_toolcall",
    when=(
        "pg_trigger_depth() = 0 AND old.arguments IS NOT NULL AND new.arguments IS DISTINCT FROM old.arguments"
    ),
    function="retention_row_is_free",
)


def ask(table: str, suffix: str, columns: str, when: str, function: str) -> migrations.RunSQL:
    drop = f"DROP TRIGGER retention_held_{suffix} ON {table}"

    def create(lost: str) -> str:
        return TRIGGER.format(
            suffix=suffix, columns=columns, table=table, when=when.format(lost=lost), function=function
        )

    return migrations.RunSQL([drop, create(f"<> old.{COLUMN[table]}")], [drop, create("= ''")])


class Migration(migrations.Migration):
    dependencies = [("retention", "0010_runs_of_jobs")]

    operations = [
        *[ask(*words) for words in WORDS],
        migrations.RunSQL([ARGUMENTS], ["DROP TRIGGER retention_held_arguments ON conversations_toolcall"]),
    ]
