"""Sealed totals say what failed attempts cost too, as the pages of cost do."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("retention", "0007_archive")]

    operations = [
        migrations.AddField(
            model_name="generationrollup",
            name="failed_cost_usd",
            field=models.DecimalField(
                db_default=0,
                decimal_places=9,
                default=0,
                help_text="Of the cost: of failed attempts.",
                max_digits=24,
            ),
        ),
    ]
