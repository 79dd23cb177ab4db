"""A run's rows, newest first: a page is a few entries of an index, not a sort of the whole run."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ledger", "0007_ids_by_prefix")]

    operations = [
        AddIndexConcurrently(
            "runrow", models.Index(fields=["run", "-occurred_at", "-id"], name="runrow_moment")
        ),
    ]
