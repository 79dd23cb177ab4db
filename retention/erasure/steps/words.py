"""Notes, stated reasons, comments: what staff typed about the person, wherever it stands."""

from typing import Any

from retention.erasure.emptying import Words, count_held, empty_all
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject

_OF_THE_EFFECTS = "effect_id = ANY(%(effects)s::uuid[])"
# Staff's notes are a part of the conversation that they stand on; holds keep them with it.
_HELD = (
    "retention_hold_on(conversation_id,"
    " (SELECT c.account_id FROM conversations_conversation c WHERE c.id = conversation_id)) IS NOT NULL"
)
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
            held=_HELD,
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
    outcome = Outcome(erased=empty_all(subject, STORES))
    for store, several in STORES.items():
        held = sum(count_held(subject, one) for one in several)
        if held:
            outcome.kept[store] = held
            outcome.cause = f"{held} {store} stand on conversations that are held"
    return outcome
