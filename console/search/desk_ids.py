"""Places at the desks: runs, statements, holds, erasure requests, alerts, questions, notes.

All kinds are asked in one statement for each term, each kind one probe of an index. What the rights
of whoever looks do not open is not asked for; what lies outside their realms is left out, as if it
were not there.
"""

from functools import cache
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.db import connection
from django.urls import reverse

from console.job_pages.kinds import kind_of
from console.search import desks
from console.search.desks import COLUMNS, Desk, Probe
from console.search.place import Place
from console.search.sight import Sight
from console.thread.links import conversation_url, message_url
from conversations.search.lookup import MOST, SHORTEST_PREFIX, prefix_end, uuid_bounds
from ledger.reconciliation.vocabulary import AlertKind, FindingKind

_DIGITS: Final = frozenset("0123456789abcdef")
_WHOLE_DIGEST: Final = 64
_WIDEST_KEY: Final = 36
SHORTEST_BEFORE_A_TAIL: Final = 3
_SELECT: Final = "(SELECT {number}, {matched}, {columns} FROM {of_it} LIMIT {most})"
_SLUG: Final = "SELECT slug FROM access_realm WHERE access_realm.id = {}"
# Each opens by the key in its row.
_PAGES: Final = {
    desks.JOB.kind: "console:job-run",
    desks.RUN.kind: "console:reconciliation",
    desks.STATEMENT.kind: "console:statement",
    desks.LINE.kind: "console:statement",
    desks.FINDING.kind: "console:finding",
    # An alert has no page; it tells of a run.
    desks.ALERT.kind: "console:reconciliation",
    desks.HOLD.kind: "console:hold",
    desks.REQUEST.kind: "console:erasure",
}


def desk_places(*, term: str, uuid: UUID | None, sight: Sight, is_effects: bool = False) -> list[Place]:
    """Return what stands at a desk under exactly this id.

    `is_effects` where effects were found by it: what their pages tell too is left out.
    """
    digest = term if len(term) == _WHOLE_DIGEST and set(term) <= _DIGITS else None
    probes: tuple[Probe, ...] = desks.BY_TEXT
    if uuid is not None:
        probes += desks.BY_UUID
    if digest is not None:
        probes += desks.BY_DIGEST
    asked = {"term": term, "uuid": uuid, "digest": digest}
    rows = _rows(_open(probes, sight, is_effects=is_effects), asked, sight)
    return [_place(probe, row, term) for probe, row in rows]


def begun_desk_places(*, prefix: str, sight: Sight, has_tail: bool = False) -> list[Place]:
    """Return what stands at a desk under an id that begins so; each says the whole id.

    Of a digest whose end is known too, the three digits that a narrow column shows are enough.
    """
    is_digest = len(prefix) <= _WHOLE_DIGEST and set(prefix) <= _DIGITS
    is_long = len(prefix) >= SHORTEST_PREFIX
    if not is_long and not (has_tail and is_digest and len(prefix) >= SHORTEST_BEFORE_A_TAIL):
        return []
    probes: tuple[Probe, ...] = desks.BEGUN_TEXT if is_long else ()
    asked: dict[str, Any] = {"term": prefix, "end": prefix_end(prefix)}
    bounds = uuid_bounds(prefix)
    if is_long and bounds is not None:
        probes += desks.BEGUN_UUID
        asked |= {"lowest": bounds[0], "highest": bounds[1]}
    if is_digest:
        probes += desks.BEGUN_DIGEST
        asked |= {
            "first_digest": prefix.ljust(_WHOLE_DIGEST, "0"),
            "last_digest": prefix.ljust(_WHOLE_DIGEST, "f"),
        }
    rows = _rows(_open(probes, sight, is_effects=True), asked, sight)
    return [_place(probe, row, row["matched"]) for probe, row in rows]


def _open(probes: tuple[Probe, ...], sight: Sight, *, is_effects: bool) -> tuple[Probe, ...]:
    return tuple(
        probe
        for probe in probes
        if (not probe.desk.sight or getattr(sight, probe.desk.sight))
        and not (is_effects and probe.is_fallback)
    )


def _rows(
    probes: tuple[Probe, ...], asked: dict[str, Any], sight: Sight
) -> list[tuple[Probe, dict[str, Any]]]:
    if not probes:
        return []
    with connection.cursor() as cursor:
        cursor.execute(statement(probes), asked | {"realms": sight.realm_ids})
        names = ("probe", "matched", *COLUMNS)
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    # The newest of each kind first: keys are numbers, or ids that begin with a time.
    rows.sort(key=lambda row: row["key"].zfill(_WIDEST_KEY), reverse=True)
    rows.sort(key=lambda row: row["probe"])
    return [(probes[row["probe"]], row) for row in rows]


@cache
def statement(probes: tuple[Probe, ...]) -> str:
    """Return one statement for these probes; a test looks at its plan."""
    return " UNION ALL ".join(_select(number, probe) for number, probe in enumerate(probes))


def _select(number: int, probe: Probe) -> str:
    desk = probe.desk
    given = dict(desk.columns)
    if desk.realm:
        given |= {"realm_id": desk.realm, "realm": _SLUG.format(desk.realm)}
    columns = ", ".join(f"({given.get(name, 'NULL')})::{kind}" for name, kind in COLUMNS.items())
    of_it = f"{desk.tables} WHERE {probe.asks.format(probe.column)}{_within(desk)}"
    return _SELECT.format(number=number, matched=_matched(probe), columns=columns, of_it=of_it, most=MOST)


def _matched(probe: Probe) -> str:
    is_bytes = probe.column.endswith("sha256")
    return f"encode({probe.column}, 'hex')" if is_bytes else f"({probe.column})::text"


def _within(desk: Desk) -> str:
    if not desk.realm:
        return ""
    return f" AND (%(realms)s::bigint[] IS NULL OR {desk.realm} = ANY(%(realms)s::bigint[]))"


def _place(probe: Probe, row: dict[str, Any], ident: str) -> Place:
    desk = probe.desk
    is_note, is_question = desk.kind == desks.NOTE.kind, desk.kind == desks.QUESTION.kind
    return Place(
        kind=desk.kind,
        by=probe.by,
        ident=ident,
        url=_url(desk, row),
        realm_id=row["realm_id"],
        record_id="" if is_note or is_question else row["key"],
        label="" if is_note or is_question else _label(desk, row),
        realm="" if row["account"] else row["realm"] or "",
        name=row["label"] if is_question else "",
        title=row["label"] if is_note else "",
        state=row["state"] or "",
        seq=row["seq"] if is_question else None,
        effect_id=row["effect_id"],
        conversation_id=row["conversation_id"],
        account=row["account"] or "",
        account_id=row["account_id"],
        minor=row["minor"],
        currency=row["currency"] or "",
    )


def _url(desk: Desk, row: dict[str, Any]) -> str:
    if desk.kind == desks.NOTE.kind:
        return f"{conversation_url(row['conversation_id'])}#note-{row['key']}"
    if desk.kind == desks.QUESTION.kind:
        return message_url(row["conversation_id"], row["seq"])
    if desk.kind == desks.EVENT.kind:
        return f"{reverse('console:events')}?{urlencode({'event_id': row['key']})}"
    page = reverse(_PAGES[desk.kind], args=[row["key"]])
    return f"{page}?line={row['seq']}#line" if desk.kind == desks.LINE.kind else page


def _label(desk: Desk, row: dict[str, Any]) -> str:
    """Return what the row is called where it is listed."""
    if desk.kind == desks.JOB.kind:
        return kind_of(row["label"]).title
    if desk.kind == desks.RUN.kind:
        return f"Until {row['label']}"
    if desk.kind == desks.LINE.kind:
        return f"{row['label']}, line {row['seq']}"
    if desk.kind == desks.FINDING.kind:
        return f"F-{row['key']}, {FindingKind(row['label']).label.lower()}"
    return AlertKind(row["label"]).label if desk.kind == desks.ALERT.kind else row["label"]
