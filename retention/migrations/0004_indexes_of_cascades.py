"""Indexes that a delete reads: without one, each raw body that goes would scan a table of the ledger."""

from django.db import migrations

INDEXES = [
    # The key that forgets a raw body, once for each that goes.
    ("effectmove_raw", "ledger_effectmove (raw_id) WHERE raw_id IS NOT NULL"),
    # The purge of closed accounts.
    ("account_closed", "conversations_account (closed_at) WHERE closed_at IS NOT NULL"),
]


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("retention", "0003_shipped_policies")]

    operations = [
        migrations.RunSQL(
            [f"CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {definition}"],
            [f"DROP INDEX CONCURRENTLY IF EXISTS {name}"],
        )
        for name, definition in INDEXES
    ]
