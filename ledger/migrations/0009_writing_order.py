"""What a reconciliation reads is numbered in the order of writing, and a run says how far it reads."""

from django.db import migrations, models

import conversations.writing_order

NUMBERED = (
    "effectmove",
    "effectreference",
    "effectuse",
    "compensationversion",
    "disputeversion",
    "contradiction",
    "matchdecision",
)
# Runs from before there were numbers read everything that their times let them.
ALL = 2**63 - 1


def number(model: str) -> list[migrations.operations.base.Operation]:
    """First with a constant, for which no row is rewritten; then as new rows have it."""
    later = models.BigIntegerField(db_default=conversations.writing_order.NextInOrder(), editable=False)
    return [
        migrations.AddField(model, "written_order", models.BigIntegerField(db_default=0, editable=False)),
        migrations.AlterField(model, "written_order", later),
    ]


class Migration(migrations.Migration):
    dependencies = [("ledger", "0008_rows_by_moment"), ("conversations", "0018_writing_order")]

    operations = [
        *(operation for model in NUMBERED for operation in number(model)),
        migrations.AddField(
            "reconciliationrun",
            "written_before",
            models.BigIntegerField(
                default=ALL,
                help_text="What has this number or a greater one was written after the run was asked for.",
            ),
            preserve_default=False,
        ),
    ]
