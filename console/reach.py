"""Whose accounts a member of staff sees: see `access.reach`."""

from access.reach import Reach, reach_of

__all__ = ["Reach", "reach_of"]
