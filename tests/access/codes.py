"""The codes that an authenticator would show now."""

import time

from django_otp.oath import TOTP
from django_otp.plugins.otp_totp.models import TOTPDevice


def code_of(device: TOTPDevice, *, steps_on: int = 0) -> str:
    """Return the code of this moment, or of so many steps of 30 seconds later."""
    totp = TOTP(device.bin_key, device.step, device.t0, device.digits, device.drift)
    totp.time = time.time() + steps_on * device.step
    return f"{totp.token():06d}"


def wrong_code(device: TOTPDevice) -> str:
    """A code that none of the neighbouring steps has."""
    near = {code_of(device, steps_on=step) for step in range(-2, 3)}
    return next(code for digit in "0123456" if (code := digit * 6) not in near)
