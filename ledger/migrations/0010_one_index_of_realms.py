"""The index of keys begins with the realm: a second one of the realm alone had no reader."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("access", "0008_api_keys"), ("ledger", "0009_writing_order")]

    operations = [
        migrations.AlterField(
            model_name="tooleffect",
            name="realm",
            field=models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.DO_NOTHING,
                related_name="+",
                to="access.realm",
            ),
        )
    ]
