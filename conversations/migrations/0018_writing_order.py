"""Head moves are numbered in the order of writing, whatever time they carry."""

from django.db import migrations, models

import conversations.writing_order


class Migration(migrations.Migration):
    dependencies = [("conversations", "0017_rare_attempts")]

    operations = [
        migrations.RunSQL(
            ["CREATE SEQUENCE conversations_writing_order"], ["DROP SEQUENCE conversations_writing_order"]
        ),
        # First with a constant, for which no row is rewritten; then as new rows have it.
        migrations.AddField(
            "headmove", "written_order", models.BigIntegerField(db_default=0, editable=False)
        ),
        migrations.AlterField(
            "headmove",
            "written_order",
            models.BigIntegerField(db_default=conversations.writing_order.NextInOrder(), editable=False),
        ),
    ]
