"""What of the desks is found by id: the tables, whose their rows are, and one probe for each sort of id."""

from typing import Final, NamedTuple

# A row of the answer; what a desk does not have is null.
COLUMNS: Final = {
    "key": "text",
    "label": "text",
    "state": "text",
    "conversation_id": "uuid",
    "seq": "int",
    "effect_id": "uuid",
    "account_id": "uuid",
    "account": "text",
    "realm_id": "bigint",
    "realm": "text",
    "minor": "bigint",
    "currency": "text",
}


class Desk(NamedTuple):
    """`sight` is the right that opens its page, by its name in `Sight`; none where every searcher has it."""

    kind: str
    sight: str
    tables: str
    realm: str
    columns: tuple[tuple[str, str], ...]


class Probe(NamedTuple):
    """One sort of id of a desk: the column that holds it, and what the statement asks of it.

    `is_fallback` is told only where no effect has the id: the effect's own page tells it too.
    """

    desk: Desk
    by: str
    column: str
    asks: str
    is_fallback: bool = False


# What was held may be gone: then only who sees every realm is told.
_REALM_OF_HOLD: Final = (
    "coalesce((SELECT a.realm_id FROM conversations_account a WHERE a.id = h.account_id),"
    " (SELECT e.realm_id FROM ledger_tooleffect e WHERE e.id = h.effect_id),"
    " (SELECT a.realm_id FROM conversations_conversation c JOIN conversations_account a"
    " ON a.id = c.account_id WHERE c.id = h.conversation_id))"
)
_TALK: Final = (
    " JOIN conversations_conversation c ON c.id = {0}.conversation_id"
    " JOIN conversations_account a ON a.id = c.account_id"
)
_OF_TALK: Final = {"conversation_id": "c.id", "account_id": "a.id", "account": "a.external_id"}


def _desk(kind: str, sight: str, tables: str, realm: str = "", **columns: str) -> Desk:
    return Desk(kind, sight, tables, realm, tuple(columns.items()))


NOTE: Final = _desk(
    "Staff note",
    "",
    "conversations_conversationnote t" + _TALK.format("t"),
    "a.realm_id",
    key="t.id",
    label="c.title",
    **_OF_TALK,
)
# A run over everything is nobody's; its page shows whose file it was about to whom that is for.
JOB: Final = _desk("Job run", "jobs", "jobs_jobrun j", key="j.id", label="j.kind", state="j.state")
_FILE: Final = JOB._replace(realm="(j.parameters ->> 'realm_id')::bigint")
RUN: Final = _desk(
    "Reconciliation run",
    "effects",
    "ledger_reconciliationrun n",
    "n.realm_id",
    key="n.id",
    label="to_char(n.until AT TIME ZONE 'UTC', 'YYYY-MM-DD')",
)
STATEMENT: Final = _desk(
    "Statement", "effects", "ledger_statement s", "s.realm_id", key="s.id", label="s.name"
)
# A statement may list the whole account at the processor, with other realms' money in it.
LINE: Final = _desk(
    "Statement line",
    "every_realms_money",
    "ledger_statementline l JOIN ledger_statement s ON s.id = l.statement_id",
    "s.realm_id",
    key="s.id",
    label="s.name",
    seq="l.number",
    minor="l.amount_minor",
    currency="l.currency",
)
FINDING: Final = _desk(
    "Finding",
    "effects",
    "ledger_finding f",
    "f.realm_id",
    key="f.id",
    label="f.kind",
    effect_id="f.effect_id",
    account_id="f.account_id",
    minor="f.amount_minor",
    currency="f.currency",
)
ALERT: Final = _desk(
    "Alert",
    "effects",
    "ledger_alert w JOIN ledger_reconciliationrun n ON n.id = w.run_id",
    "n.realm_id",
    key="n.id",
    label="w.kind",
)
QUESTION: Final = _desk(
    "Question",
    "effects",
    "ledger_guardquestion g" + _TALK.format("g"),
    "g.realm_id",
    key="g.id",
    label="g.tool_name",
    seq="g.seq",
    **_OF_TALK,
)
# Of no realm: for who sees them all, as on the page of events.
EVENT: Final = _desk("Event", "every_realms_money", "ledger_webhookevent v", key="v.event_id", label="v.type")
HOLD: Final = _desk(
    "Legal hold", "retention", "retention_legalhold h", _REALM_OF_HOLD, key="h.id", label="h.matter"
)
REQUEST: Final = _desk(
    "Erasure request",
    "retention",
    "retention_erasurerequest q",
    "q.realm_id",
    key="q.id",
    label="q.number",
)

_OWN: Final = ((JOB, "j.id"), (RUN, "n.id"), (STATEMENT, "s.id"), (HOLD, "h.id"), (REQUEST, "q.id"))
_IS_UUID, _IS_TEXT, _IS_DIGEST = "{0} = %(uuid)s", "{0} = %(term)s", "{0} = decode(%(digest)s, 'hex')"
_BEGINS: Final = "{0} ~>=~ %(term)s AND {0} ~<~ %(end)s"
_DIGESTS: Final = "{0} BETWEEN decode(%(first_digest)s, 'hex') AND decode(%(last_digest)s, 'hex')"

BY_UUID: Final = (
    *(Probe(desk, desk.kind.lower(), column, _IS_UUID) for desk, column in _OWN),
    Probe(ALERT, "alert", "w.id", _IS_UUID),
    Probe(QUESTION, "question of the guard", "g.id", _IS_UUID),
)
BY_TEXT: Final = (
    Probe(NOTE, "ticket of a note", "t.ticket", _IS_TEXT + " AND {0} <> ''"),
    Probe(STATEMENT, "file name", "s.name", _IS_TEXT),
    Probe(HOLD, "matter", "h.matter", _IS_TEXT),
    Probe(REQUEST, "number", "q.number", "{0} = upper(%(term)s)"),
    Probe(REQUEST, "pseudonym", "q.pseudonym", _IS_TEXT),
    Probe(FINDING, "what it is about", "f.reference", _IS_TEXT + " AND {0} <> ''", is_fallback=True),
    Probe(LINE, "line of a statement", "l.reference", _IS_TEXT + " AND {0} <> ''", is_fallback=True),
    Probe(EVENT, "event", "v.event_id", _IS_TEXT + " AND v.effect_id IS NULL", is_fallback=True),
)
BY_DIGEST: Final = (
    Probe(STATEMENT, "SHA-256 of the file", "s.sha256", _IS_DIGEST),
    Probe(RUN, "SHA-256 of the report", "n.report_sha256", _IS_DIGEST + " AND {0} IS NOT NULL"),
    Probe(_FILE, "SHA-256 of the file", "j.report ->> 'sha256'", "({0}) = %(digest)s AND j.is_foreground"),
)
BEGUN_UUID: Final = tuple(
    Probe(desk, desk.kind.lower(), column, "{0} BETWEEN %(lowest)s AND %(highest)s") for desk, column in _OWN
)
BEGUN_TEXT: Final = (
    Probe(STATEMENT, "file name", "s.name", _BEGINS),
    Probe(HOLD, "matter", "h.matter", _BEGINS),
)
BEGUN_DIGEST: Final = (
    Probe(STATEMENT, "SHA-256 of the file", "s.sha256", _DIGESTS),
    Probe(RUN, "SHA-256 of the report", "n.report_sha256", _DIGESTS + " AND {0} IS NOT NULL"),
)
# What a term is looked up as, in words.
DESKS_TRIED: Final = {
    "": ("ticket of a note",),
    "effects": (
        "statement or reconciliation run (its id, its file’s name, a SHA-256)",
        "alert",
        "question of the guard",
    ),
    "every_realms_money": ("line of a statement", "event of no effect"),
    "retention": ("legal hold (its id, its matter)", "erasure request (its id, its number, a pseudonym)"),
    "jobs": ("job run (its id, its file’s SHA-256)",),
    "keys": ("API key (how it begins)",),
}
