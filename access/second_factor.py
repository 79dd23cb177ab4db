"""The second factor: codes of an authenticator, and recovery codes for when it is lost.

The secrets are devices of django-otp, which also slows down whoever tries codes: after each
wrong one it waits twice as long.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django_otp import verify_token
from django_otp.middleware import is_verified
from django_otp.models import Device
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from access.permissions import holds
from access.rights import NEEDS_SECOND_FACTOR

RECOVERY_CODES: Final = 10
# Without letters and digits that are read for one another.
_ALPHABET: Final = "23456789abcdefghjkmnpqrstuvwxyz"
_HALF: Final = 5


@dataclass(frozen=True, slots=True)
class CodeCheck:
    """`device` is what accepted the code; `waits_until`, before when none is looked at."""

    device: Device | None
    waits_until: datetime | None = None


def must_enrol(user: User | AnonymousUser) -> bool:
    """Tell whether `user` is signed in without the second factor that the role demands."""
    return bool(user.is_authenticated) and not is_verified(user) and is_demanded_of(user)


def is_demanded_of(user: User | AnonymousUser) -> bool:
    """Tell whether the setting asks a second factor of this user, for what the roles may do."""
    return settings.REQUIRE_SECOND_FACTOR and any(holds(user, right) for right in NEEDS_SECOND_FACTOR)


def has_second_factor(user: User) -> bool:
    return TOTPDevice.objects.filter(user=user, confirmed=True).exists()


def check_code(*, user: User, code: str) -> CodeCheck:
    """Look at one code: six digits of the authenticator, or a recovery code, which is then used up."""
    plain = code.replace(" ", "").replace("-", "").lower()
    is_of_authenticator = plain.isdecimal() and len(plain) == 6
    kind = TOTPDevice if is_of_authenticator else StaticDevice
    device = kind.objects.filter(user=user, confirmed=True).first()
    if device is None:
        return CodeCheck(None)
    is_allowed, why = device.verify_is_allowed()
    if not is_allowed:
        return CodeCheck(None, why["locked_until"])
    token = plain if is_of_authenticator else _digest(plain)
    return CodeCheck(verify_token(user, device.persistent_id, token))


@transaction.atomic
def begin_enrolment(*, user: User) -> TOTPDevice:
    """Make a new authenticator that waits for its first code; the one in use stays until then.

    A secret that was shown before and never confirmed goes: somebody else may have seen it.
    """
    _lock(user)
    TOTPDevice.objects.filter(user=user, confirmed=False).delete()
    return TOTPDevice.objects.create(user=user, name="authenticator", confirmed=False)


def waiting_authenticator(*, user: User) -> TOTPDevice | None:
    return TOTPDevice.objects.filter(user=user, confirmed=False).first()


def finish_enrolment(*, user: User, code: str) -> tuple[TOTPDevice, list[str]] | None:
    """Take the waiting authenticator into use, in place of any other, if the code is its own.

    Returns it with new recovery codes, which are kept as digests and cannot be shown again.
    """
    waiting = waiting_authenticator(user=user)
    device = waiting and verify_token(user, waiting.persistent_id, code.replace(" ", ""))
    if not isinstance(device, TOTPDevice):
        return None
    with transaction.atomic():
        _lock(user)
        device.confirmed = True
        device.save(update_fields=["confirmed"])
        TOTPDevice.objects.filter(user=user).exclude(pk=device.pk).delete()
        return device, renew_recovery_codes(user=user)


@transaction.atomic
def renew_recovery_codes(*, user: User) -> list[str]:
    """Make new recovery codes; the old ones no longer work."""
    _lock(user)
    device, _ = StaticDevice.objects.get_or_create(user=user, name="recovery", confirmed=True)
    device.token_set.all().delete()
    codes = [_new_code() for _ in range(RECOVERY_CODES)]
    for code in codes:
        device.token_set.create(token=_digest(code.replace("-", "")))
    return codes


def recovery_codes_left(*, user: User) -> int:
    device = StaticDevice.objects.filter(user=user, confirmed=True).first()
    return device.token_set.count() if device else 0


@transaction.atomic
def remove_second_factor(*, user: User) -> bool:
    """Take authenticator and recovery codes away; tell if there were any.

    Sessions that were begun with them end at their next request.
    """
    _lock(user)
    removed, _ = TOTPDevice.objects.filter(user=user).delete()
    StaticDevice.objects.filter(user=user).delete()
    return bool(removed)


def _lock(user: User) -> None:
    """Two browsers of one person enrol one after the other."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)


def _new_code() -> str:
    halves = ("".join(secrets.choice(_ALPHABET) for _ in range(_HALF)) for _ in range(2))
    return "-".join(halves)


def _digest(code: str) -> str:
    keyed = hmac.new(settings.DIGEST_KEY.encode(), f"recovery code {code}".encode(), hashlib.sha256)
    return keyed.hexdigest()[:16]
