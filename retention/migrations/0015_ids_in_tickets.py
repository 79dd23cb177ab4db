"""Holds are found by their matter, requests by what stands for a person; both by the end of their ids."""

from django.db import migrations, models
from django.db.models.functions import Cast, Right

END = Right(Cast("id", models.TextField()), 6)


class Migration(migrations.Migration):
    dependencies = [("retention", "0014_index_of_nobodys_raw_bodies")]

    operations = [
        migrations.AddIndex(
            "legalhold",
            models.Index(fields=["matter"], name="hold_matter", opclasses=["varchar_pattern_ops"]),
        ),
        migrations.AddIndex("legalhold", models.Index(END, name="hold_end")),
        migrations.AddIndex("erasurerequest", models.Index(fields=["pseudonym"], name="erasure_pseudonym")),
        migrations.AddIndex("erasurerequest", models.Index(END, name="erasure_end")),
    ]
