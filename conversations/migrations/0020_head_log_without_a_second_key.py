"""A gap in the head log is refused by the trigger that looks at the line before; no key asks it again.

The lines are only ever appended, and go with their conversation alone: nothing that the key looked for
when one went could be there. Asking it made the deletion of a long conversation take twice the time.
"""

from importlib import import_module

from django.db import migrations

KEYS = import_module("conversations.migrations.0016_fewer_keys")


class Migration(migrations.Migration):
    dependencies = [("conversations", "0019_exchanges_by_attempt")]

    operations = [
        KEYS.key_goes("conversations_headmove_no_gap"),
        migrations.RemoveField("headmove", "prev"),
    ]
