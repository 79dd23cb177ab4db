"""Conversations and accounts are found by the end of their ids, which is what screens show of a long one."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Cast, Right

END = Right(Cast("id", models.TextField()), 6)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("conversations", "0021_calls_asked_by_message")]

    operations = [
        AddIndexConcurrently("account", models.Index(END, name="account_end")),
        AddIndexConcurrently("conversation", models.Index(END, name="conversation_end")),
    ]
