"""A decision of the guard in two words."""

from ledger.services.beginning import Begun


def said(begun: Begun) -> tuple[str, str]:
    """The guard's answer, and its reason."""
    return begun.answer.value, begun.reason.value
