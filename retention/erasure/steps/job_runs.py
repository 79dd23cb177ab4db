"""What jobs were told and what they reported, where it names the person; counts and times stay."""

from typing import Any

from retention.erasure.emptying import Words, empty_all
from retention.erasure.outcome import Outcome
from retention.erasure.subject import Subject

STORES = {
    "job runs": [
        Words("jobs_jobrun", {"reason": "''"}),
        Words("jobs_jobrun", {"parameters": "'{}'::jsonb"}),
        Words("jobs_jobrun", {"report": "NULL::jsonb"}),
        Words("jobs_jobrun", {"error": "''", "error_place": "''"}),
    ],
    "alerts": [Words("ledger_alert", {"payload": "'{}'::jsonb", "trouble": "''"})],
}


def run(subject: Subject, after: Any) -> Outcome:
    return Outcome(erased=empty_all(subject, STORES))
