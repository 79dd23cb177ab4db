"""Who looks at the console: what the header says of them, and whether single keys work for them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Q
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from access.models import StaffMember


@dataclass(frozen=True, slots=True)
class StaffStanding:
    """`realms` are names to show, not to filter by: "every realm" is one of them."""

    realms: tuple[str, ...] = ()
    roles: str = ""
    uses_single_keys: bool = True


def standing_of(user: AbstractBaseUser | AnonymousUser) -> StaffStanding:
    """Return what the header says of `user`, in one query."""
    if not user.is_authenticated:
        return StaffStanding()
    row = (
        StaffMember.objects.filter(user_id=user.pk)
        .values(
            "sees_all_realms",
            "uses_single_keys",
            slugs=_names("realms__realm__slug"),
            groups=_names("user__groups__name"),
        )
        .first()
    )
    return StaffStanding() if row is None else _standing(row)


def switch_single_keys(*, user: AbstractBaseUser, is_on: bool) -> None:
    """Keep whether single keys work for `user`, on whichever browser."""
    StaffMember.objects.update_or_create(user_id=user.pk, defaults={"uses_single_keys": is_on})


def staff(request: HttpRequest) -> dict[str, Any]:
    """A context processor: `staff` in every template, asked of the database only where it is shown."""
    return {"staff": SimpleLazyObject(lambda: standing_of(request.user))}


def _names(path: str) -> ArrayAgg:
    return ArrayAgg(path, distinct=True, filter=Q(**{f"{path}__isnull": False}), default=[])


def _standing(row: Mapping[str, Any]) -> StaffStanding:
    realms = ("every realm",) if row["sees_all_realms"] else tuple(row["slugs"])
    roles = ", ".join(name.replace("_", " ") for name in row["groups"])
    return StaffStanding(realms, roles[:1].upper() + roles[1:], row["uses_single_keys"])
