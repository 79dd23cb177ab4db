"""A key may log a share of its reads; the keys that there are log each one."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0008_api_keys"),
    ]

    operations = [
        migrations.AddField(
            model_name="apikey",
            name="reads_logged_percent",
            field=models.SmallIntegerField(
                default=100, help_text="Of its reads of what was said, so many are in the access log."
            ),
        ),
        migrations.AddConstraint(
            model_name="apikey",
            constraint=models.CheckConstraint(
                condition=models.Q(("reads_logged_percent__range", (1, 100))),
                name="access_apikey_some_reads_are_logged",
            ),
        ),
    ]
