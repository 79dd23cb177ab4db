"""What retention refuses, said so that somebody can act on it: the rule, and the place."""

from conversations.errors import StoreError


class RetentionError(StoreError):
    """A refusal of retention; `rule` is a stable code."""


class PolicyError(RetentionError):
    """A setting that is unknown, or that another layer limits; `place` names that layer."""


class HeldError(RetentionError):
    """What was to go is held; `place` names it."""


class TwoPeopleError(RetentionError):
    """The second person must be another one."""
