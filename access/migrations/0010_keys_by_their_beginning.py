"""A key is found by how its secret begins, which is all that pages show of it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0009_share_of_reads_logged")]

    operations = [
        migrations.AddIndex(
            "apikey",
            models.Index(fields=["hint"], name="apikey_hint", opclasses=["varchar_pattern_ops"]),
        ),
    ]
