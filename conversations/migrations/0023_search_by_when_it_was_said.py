"""A search within a period goes by when something was said, and by when it was stored only where that is unknown.

Imported years lay in the period of their import.
"""

from importlib import import_module

from django.db import migrations

BEFORE = import_module("conversations.migrations.0012_search_within")

STATEMENT = BEFORE.STATEMENT.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION").replace(
    "m.created_at", "coalesce(m.occurred_at, m.created_at)"
)
AS_BEFORE = BEFORE.STATEMENT.replace("CREATE FUNCTION", "CREATE OR REPLACE FUNCTION")


class Migration(migrations.Migration):
    dependencies = [("conversations", "0022_ends_of_ids")]

    operations = [migrations.RunSQL([STATEMENT], [AS_BEFORE])]
