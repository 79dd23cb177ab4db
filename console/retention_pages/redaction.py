"""The switches of redaction, reported false hits, and what the detectors make of samples."""

from dataclasses import dataclass, field
from datetime import datetime

from access.models import Realm
from access.reach import Reach
from conversations.models import RedactionSpan, RedactionSwitch
from conversations.redaction.cutting import cut_text
from conversations.redaction.finding import find_secrets
from conversations.vocabulary import SecretKind

MOST_ACCOUNTS = 200


@dataclass(frozen=True, slots=True)
class RealmSwitch:
    """What is cut for a realm's accounts that have no setting of their own."""

    realm_id: int
    slug: str
    name: str
    kinds: list[str] = field(default_factory=list)
    set_at: datetime | None = None
    set_by: str = ""

    @property
    def labels(self) -> list[str]:
        return labels_of(self.kinds)


@dataclass(frozen=True, slots=True)
class Switches:
    """The realms of a reach, and accounts that say something else than their realm."""

    realms: list[RealmSwitch]
    accounts: list[RedactionSwitch]


@dataclass(frozen=True, slots=True)
class Tried:
    """One sample as redaction would leave it."""

    before: str
    after: str
    kinds: list[str]


def read_switches(reach: Reach) -> Switches:
    """Return the switches that the reach may know of; three queries at most."""
    rows = RedactionSwitch.objects.filter(reach.within("realm_id")).select_related("set_by", "account")
    of_realms = {row.realm_id: row for row in rows.filter(account=None)}
    realms = [
        _of_realm(realm, of_realms.get(realm.pk))
        for realm in Realm.objects.filter(reach.within("id")).order_by("name")
    ]
    return Switches(realms, list(rows.exclude(account=None).order_by("-set_at", "-pk")[:MOST_ACCOUNTS]))


def reported_within(reach: Reach, *, limit: int) -> list[RedactionSpan]:
    """Return the latest false hits that were reported, newest first."""
    spans = RedactionSpan.objects.filter(
        reach.within("conversation__account__realm_id"), reported_false_at__isnull=False
    ).select_related("conversation", "reported_false_by")
    return list(spans.order_by("-reported_false_at", "-pk")[:limit])


def try_detectors(samples: str) -> list[Tried]:
    """Look at each line as redaction would, with every detector."""
    every = frozenset(SecretKind)
    return [
        Tried(
            line,
            cut_text(line, kinds=every).text,
            labels_of([span.kind for span in find_secrets(line, kinds=every)]),
        )
        for line in samples.splitlines()
        if line.strip()
    ]


def labels_of(kinds: list[str]) -> list[str]:
    return [str(SecretKind(kind).label) for kind in kinds]


def _of_realm(realm: Realm, row: RedactionSwitch | None) -> RealmSwitch:
    if row is None:
        return RealmSwitch(realm.pk, realm.slug, realm.name)
    by = row.set_by.get_username() if row.set_by else ""
    return RealmSwitch(realm.pk, realm.slug, realm.name, list(row.kinds), row.set_at, by)
