"""What the store refuses, said so that the caller can mend it: the rule, and the place."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DataError, IntegrityError
from psycopg import Error as DriverError


class StoreError(Exception):
    """A refusal. `rule` is a stable code, `place` names conversation, message or block."""

    def __init__(self, rule: str, explanation: str, *, place: str = "") -> None:
        super().__init__(f"{place}: {explanation}" if place else explanation)
        self.rule = rule
        self.explanation = explanation
        self.place = place


class NotFoundError(StoreError):
    """What was named does not exist, or not where the caller may look."""


class ConflictError(StoreError):
    """The state has moved on, or the same key was used for something else."""


# The database's own rules, by the name of the constraint that speaks.
EXPLANATIONS = {
    "conversations_message_answers_the_one_before": (
        "answers-another-turn",
        "a message with results must follow the message that made the calls, or another answer to it",
    ),
    "conversations_message_parent_in_conversation": (
        "parent-elsewhere",
        "the parent is no message of this conversation",
    ),
    "conversations_message_parent_comes_before": (
        "parent-after-child",
        "a message's parent must have been written before it",
    ),
    "conversations_message_calls_are_answered": (
        "call-unanswered",
        "a call must be answered before the conversation goes on",
    ),
    "conversations_message_client_id_once": (
        "client-id-used",
        "this client message id was used for another message of the conversation",
    ),
    "conversations_part_result_has_its_call": (
        "result-without-call",
        "the result names a call that the message it answers does not hold",
    ),
    "conversations_part_result_answers_a_call": (
        "result-without-call",
        "the message holds a result, but the message before it holds no call",
    ),
    "conversations_part_one_result_per_path": (
        "call-answered-twice",
        "the call has a result on this path already",
    ),
    "conversations_toolcall_pkey": ("call-id-repeated", "one message holds the same call id twice"),
    "conversations_part_call_is_identified": ("call-without-id", "a call and a result need the call's id"),
    "conversations_part_call_is_named": ("call-without-name", "a call needs the tool's name"),
    "conversations_conversation_head_is_its_own": (
        "head-elsewhere",
        "the head must be a message of this conversation",
    ),
    "conversations_summary_is_on_one_path": ("range-not-a-path", "the range is no stretch of one path"),
    "conversations_summary_begins_in_conversation": (
        "range-elsewhere",
        "the range lies outside the conversation",
    ),
    "conversations_summary_ends_in_conversation": (
        "range-elsewhere",
        "the range lies outside the conversation",
    ),
    "conversations_generation_ends_once": (
        "attempt-ended",
        "the attempt has ended; its status cannot change",
    ),
    "conversations_generation_attempt_once": ("attempt-exists", "this attempt of the request exists already"),
    "conversations_generation_counts_from_one": ("attempt-below-one", "attempts are numbered from 1"),
    "conversations_generation_reasoning_is_output": (
        "reasoning-above-output",
        "the output tokens include the reasoning tokens, so these cannot be more",
    ),
    "conversations_conversation_external_ref_once": (
        "external-ref-used",
        "the account has a conversation with this external reference",
    ),
    "conversations_account_external_id_once_per_realm": (
        "external-id-used",
        "the realm has an account with this external id",
    ),
}


def constraint_of(error: IntegrityError) -> str:
    """Return the name of the constraint that refused, or nothing."""
    cause = error.__cause__
    return (cause.diag.constraint_name or "") if isinstance(cause, DriverError) else ""


@contextmanager
def explained(*, place: str) -> Iterator[None]:
    """Turn a refusal of the database into a StoreError that says the rule and the place."""
    try:
        yield
    except IntegrityError as error:
        known = EXPLANATIONS.get(constraint_of(error))
        if known is None:
            raise
        rule, explanation = known
        raise StoreError(rule, explanation, place=_named(error) or place) from error
    except DataError as error:
        explanation = f"a value that no column of the store can hold: {str(error).partition(chr(10))[0]}"
        raise StoreError("value-not-storable", explanation, place=place) from error


def _named(error: IntegrityError) -> str:
    """Return the message that the database's own words name, if they do."""
    found = re.search(r"message (\d+) of conversation ([0-9a-f-]{36})", str(error))
    return f"conversation {found[2]}, message {found[1]}" if found else ""
