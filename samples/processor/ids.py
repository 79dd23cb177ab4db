"""Ids that look like Stripe's: opaque, of varying length, safe to paste."""

import secrets
import string

_LETTERS = string.ascii_letters + string.digits


def mint(prefix: str, length: int = 24) -> str:
    return prefix + "".join(secrets.choice(_LETTERS) for _ in range(length))
