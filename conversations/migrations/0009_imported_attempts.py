"""An imported answer has an attempt that names its model, also where no API's dialect was spoken.

And a large import settles the search's pending entries itself, at its end, so
that no search and no customer's message has to.
"""

from django.db import migrations, models

DIALECTS = [
    ("anthropic_messages", "Anthropic Messages"),
    ("openai_chat", "Openai Chat"),
    ("openai_responses", "Openai Responses"),
]

SETTLE = """
CREATE FUNCTION conversations_settle_search() RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT gin_clean_pending_list(i.indexrelid::regclass)
    FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
    JOIN pg_catalog.pg_am a ON a.oid = c.relam
    WHERE i.indrelid = 'conversations_messagepart'::regclass AND a.amname = 'gin'
$$
"""

# Cleaning an index is its owner's right; the application may ask for it.
GRANT = """
DO $$ BEGIN
    REVOKE EXECUTE ON FUNCTION conversations_settle_search() FROM PUBLIC;
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'counterfoil_app') THEN
        GRANT EXECUTE ON FUNCTION conversations_settle_search() TO counterfoil_app;
    END IF;
END $$
"""


class Migration(migrations.Migration):
    dependencies = [("conversations", "0008_search_past_row_security")]

    operations = [
        migrations.AlterField(
            model_name="generation",
            name="dialect",
            field=models.CharField(
                blank=True,
                choices=DIALECTS,
                help_text="Empty for an answer from a foreign export.",
                max_length=20,
            ),
        ),
        migrations.RemoveConstraint(
            model_name="generation", name="conversations_generation_dialect_is_known"
        ),
        migrations.AddConstraint(
            model_name="generation",
            constraint=models.CheckConstraint(
                condition=models.Q(("dialect__in", ["", *(name for name, _ in DIALECTS)])),
                name="conversations_generation_dialect_is_known",
            ),
        ),
        migrations.RunSQL([SETTLE], ["DROP FUNCTION conversations_settle_search"]),
        migrations.RunSQL([GRANT], migrations.RunSQL.noop),
    ]
