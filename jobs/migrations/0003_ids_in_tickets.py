"""A run is found by the end of its id, and by the digest of the file that went in or out."""

from django.db import migrations, models
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Right


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_foreground_runs")]

    operations = [
        migrations.AddIndex(
            "jobrun", models.Index(Right(Cast("id", models.TextField()), 6), name="jobrun_end")
        ),
        migrations.AddIndex(
            "jobrun",
            models.Index(
                KeyTextTransform("sha256", "report"),
                name="jobrun_file",
                condition=models.Q(is_foreground=True),
            ),
        ),
    ]
