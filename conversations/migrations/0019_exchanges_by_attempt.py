"""An attempt that goes finds its exchange by key, where it looked at all those of its conversation."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0018_writing_order")]

    operations = [
        AddIndexConcurrently(
            "exchange", models.Index(fields=["conversation", "number"], name="exchange_attempt")
        ),
        migrations.AlterField(
            model_name="exchange",
            name="conversation",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.DB_CASCADE,
                related_name="+",
                to="conversations.conversation",
            ),
        ),
    ]
