from django.db import migrations, models

KINDS = [
    ("second_charge", "Second Charge"),
    ("failed_after_applied", "Failed After Applied"),
    ("other_currency", "Other Currency"),
    ("key_reused", "Key Reused"),
    ("sent_unmarked", "Sent Unmarked"),
    ("refunded_past_settled", "Refunded Past Settled"),
]


class Migration(migrations.Migration):
    """A charge that settles after it failed is a move of its state; no contradiction was ever written for it."""

    dependencies = [("ledger", "0014_lines_by_key")]

    operations = [
        migrations.AlterField(
            model_name="contradiction",
            name="kind",
            field=models.CharField(choices=KINDS, max_length=24),
        ),
        migrations.RemoveConstraint(model_name="contradiction", name="ledger_contradiction_kind_is_known"),
        migrations.AddConstraint(
            model_name="contradiction",
            constraint=models.CheckConstraint(
                condition=models.Q(("kind__in", [kind for kind, _ in KINDS])),
                name="ledger_contradiction_kind_is_known",
            ),
        ),
    ]
