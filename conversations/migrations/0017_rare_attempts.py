"""Attempts by status and by model: a list narrowed to a value that few have does not ask all of them."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0016_fewer_keys")]

    operations = [
        AddIndexConcurrently("generation", models.Index(fields=[name], name=f"generation_{name}"))
        for name in ("status", "requested_model", "served_model")
    ]
