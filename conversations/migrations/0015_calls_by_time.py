"""Calls of every tool, newest first: a page is a few entries of an index, not a sort of the period."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0014_rules_by_statement")]

    operations = [
        AddIndexConcurrently("toolcall", models.Index(fields=["-requested_at"], name="toolcall_time")),
    ]
