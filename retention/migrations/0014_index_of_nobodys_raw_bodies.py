"""An index that the purge reads: webhooks, answers and lines of statements by age.

Without it each batch sorted all raw bodies anew, those of conversations too, which are nearly all.
"""

from django.db import migrations

DEFINITION = "conversations_rawbody (created_at, id) WHERE conversation_id IS NULL"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("retention", "0013_index_of_an_attempts_calls")]

    operations = [
        migrations.RunSQL(
            [f"CREATE INDEX CONCURRENTLY IF NOT EXISTS rawbody_nobodys ON {DEFINITION}"],
            ["DROP INDEX CONCURRENTLY IF EXISTS rawbody_nobodys"],
        )
    ]
