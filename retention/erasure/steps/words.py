"""Notes, stated reasons, comments: what staff typed about the person, wherever it stands."""

from typing import Any

from retention.erasure.emptying import Words, empty_all
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject

_OF_THE_EFFECTS = "effect_id = ANY(%(effects)s::uuid[])"
STORES = {
    "stated reasons": [
        Words(
            "access_statedreason",
            {"ticket": "''", "words": "''"},
            "conversation_id = ANY(%(conversations)s::uuid[])",
        ),
    ],
    "notes": [
        Words(
            "conversations_conversationnote",
            {"text": "''", "ticket": "''"},
            "conversation_id = ANY(%(conversations)s::uuid[])",
        ),
        Words(
            "ledger_compensationnote",
            {"text": "''"},
            f"compensation_id IN (SELECT id FROM ledger_compensation WHERE {_OF_THE_EFFECTS})",
        ),
        Words(
            "retention_holdnote",
            {"text": "''"},
            "hold_id IN (SELECT id FROM retention_legalhold WHERE released_at IS NOT NULL"
            " AND (account_id = ANY(%(accounts)s::uuid[])"
            " OR conversation_id = ANY(%(conversations)s::uuid[])))",
        ),
        Words("retention_erasurenote", {"text": "''"}, "request_id = %(request)s::uuid"),
    ],
    "comments": [
        Words(
            "ledger_findingcomment",
            {"text": "''"},
            f"finding_id IN (SELECT id FROM ledger_finding WHERE {_OF_THE_EFFECTS}"
            " OR account_id = ANY(%(accounts)s::uuid[]))",
        ),
    ],
}


def run(subject: Subject, after: Any) -> Outcome:
    return Outcome(erased=empty_all(subject, STORES))
