import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0006_word_search"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="ConversationNote",
            fields=[
                ("id", models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ("text", models.TextField(blank=True)),
                ("ticket", models.CharField(blank=True, max_length=64)),
                ("written_at", models.DateTimeField()),
                (
                    "author",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DO_NOTHING,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "conversation",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.DB_CASCADE,
                        related_name="notes",
                        to="conversations.conversation",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["conversation", "-written_at"], name="note_conversation"),
                    models.Index(
                        condition=models.Q(("ticket", ""), _negated=True),
                        fields=["ticket"],
                        name="note_ticket",
                    ),
                ],
            },
        ),
    ]
