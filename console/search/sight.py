"""Which pages whoever searches may be led to: the realms, and the kinds of things that their rights open."""

from dataclasses import dataclass

from django.contrib.auth.models import User

from access.permissions import holds
from access.reach import Reach
from access.rights import RightName


@dataclass(frozen=True, slots=True)
class Sight:
    """`effects` are also what hangs on them: statements, runs of reconciliation, findings, alerts.

    `retention` are holds and erasure requests.
    """

    reach: Reach
    effects: bool = False
    retention: bool = False
    jobs: bool = False
    keys: bool = False

    @property
    def every_realms_money(self) -> bool:
        """Events that nothing knows are of no realm; a statement may list an account that realms share."""
        return self.effects and self.reach.sees_all

    @property
    def realm_ids(self) -> list[int] | None:
        """As the statements take them: None is every realm."""
        return None if self.reach.sees_all else sorted(self.reach.realm_ids)


def sight_of(user: User, reach: Reach) -> Sight:
    return Sight(
        reach=reach,
        effects=holds(user, RightName.READ_EFFECTS),
        retention=holds(user, RightName.READ_RETENTION),
        jobs=holds(user, RightName.READ_JOBS),
        keys=holds(user, RightName.MANAGE_KEYS),
    )
