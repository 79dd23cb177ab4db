from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    """Runs that only the process which asked for them can do: imports and exports at a terminal."""

    dependencies = [("jobs", "0001_runs")]

    operations = [
        migrations.AddField(
            model_name="jobrun",
            name="is_foreground",
            field=models.BooleanField(
                db_default=False,
                default=False,
                help_text="Only the process that asked for it can do it.",
            ),
        ),
        migrations.AddConstraint(
            model_name="jobrun",
            constraint=models.CheckConstraint(
                condition=Q(is_foreground=False) | ~Q(state="queued"),
                name="jobs_jobrun_foreground_is_not_queued",
            ),
        ),
    ]
