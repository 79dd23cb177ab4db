"""Plans that a connection keeps, and the size of what they were made for."""

from typing import Final

from django.db import connection

# Of fewer, the worst plan costs less than planning anew is worth.
_MANY: Final = 1_000


def plan_anew_for_many(messages: int) -> None:
    """Let the connection's plans go before so many messages are written into one conversation.

    The rules of the tree ask for each message's parent, in statements that a connection plans once
    and keeps. Planned while conversations were short, any index that begins with the
    conversation looks as good as the key: each message then reads the whole conversation (8,000
    of them took 13 s instead of 0.4). Planned when the rows are there, the key is taken.
    """
    if messages >= _MANY:
        with connection.cursor() as cursor:
            cursor.execute("DISCARD PLANS")
