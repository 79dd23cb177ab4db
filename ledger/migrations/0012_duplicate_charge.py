"""A duplicate is a charge made again on one path too: the kind's words no longer name branches."""

from django.db import migrations, models

KIND = models.CharField(
    choices=[
        ("abandoned", "Abandoned charge"),
        ("duplicate", "Duplicate charge"),
        ("stale_pending", "Sent, answer unknown"),
        ("missing_in_ledger", "Missing in the ledger"),
        ("missing_at_processor", "Missing at the processor"),
        ("amount_differs", "Amount differs"),
        ("currency_differs", "Currency differs"),
        ("state_differs", "State differs"),
        ("refund_failed_later", "Refund failed later"),
        ("dispute_open", "Dispute open"),
        ("contradiction", "Contradiction"),
    ],
    max_length=24,
)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0011_order_of_sending")]

    operations = [
        migrations.AlterField("finding", "kind", KIND),
        migrations.AlterField("sighting", "kind", KIND.clone()),
    ]
