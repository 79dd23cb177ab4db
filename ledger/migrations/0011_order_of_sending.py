"""That a request has left is numbered in the order of writing too: a reconciliation tells it."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0010_one_index_of_realms")]

    operations = [
        migrations.AddField(
            "tooleffect",
            "sent_order",
            models.BigIntegerField(
                help_text="When `sent_at` was written, in the order of writing.", null=True
            ),
        ),
    ]
