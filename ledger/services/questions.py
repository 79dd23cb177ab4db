"""A person answers what the guard asked: once, for that call with those arguments and no other."""

from datetime import datetime
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from conversations.errors import ConflictError, NotFoundError
from ledger.models import GuardQuestion


@transaction.atomic
def answer_question(*, question_id: UUID, is_allowed: bool, user: User, now: datetime) -> GuardQuestion:
    """Allow or refuse the call; it goes ahead when it begins again, and one permission is used once.

    Raises ConflictError where somebody answered before.
    """
    question = GuardQuestion.objects.select_for_update().filter(pk=question_id).first()
    if question is None:
        raise NotFoundError("no-question", "nothing is asked any more", place=str(question_id))
    if question.is_allowed is not None:
        raise ConflictError(
            "question-answered",
            f"it was {'allowed' if question.is_allowed else 'refused'} already",
            place=f"conversation {question.conversation_id}, message {question.seq}, call {question.call_id}",
        )
    question.is_allowed, question.answered_by, question.answered_at = is_allowed, user, now
    question.save(update_fields=["is_allowed", "answered_by", "answered_at"])
    return question
