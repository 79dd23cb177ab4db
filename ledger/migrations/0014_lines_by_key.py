"""Lines are found by the key in their metadata: two charges under one key are one effect's."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ledger", "0013_ids_in_tickets")]

    operations = [
        AddIndexConcurrently(
            "statementline",
            models.Index(fields=["key_mark"], name="line_key", condition=~models.Q(key_mark="")),
        ),
    ]
