"""What jobs were told and what they reported, where it names the person; counts and times stay."""

from typing import Any

from retention.erasure.emptying import Words, empty_all
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject

# An import into the person's account, or an export of it: its places and reasons are theirs, and
# the account's id may be too short to be searched for.
_THEIR_FILES = (
    "(parameters->>'account' = ANY(%(said)s) AND coalesce(parameters->>'realm_id', %(realm)s) = %(realm)s)"
)

STORES = {
    "job runs": [
        Words("jobs_jobrun", {"reason": "''"}),
        Words("jobs_jobrun", {"report": "NULL::jsonb"}, linked=_THEIR_FILES),
        Words("jobs_jobrun", {"error": "''", "error_place": "''"}, linked=_THEIR_FILES),
        # Last, as the others go by them.
        Words("jobs_jobrun", {"parameters": "'{}'::jsonb"}, linked=_THEIR_FILES),
    ],
    "alerts": [Words("ledger_alert", {"payload": "'{}'::jsonb", "trouble": "''"})],
}


def run(subject: Subject, after: Any) -> Outcome:
    return Outcome(erased=empty_all(subject, STORES))
