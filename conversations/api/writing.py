"""What every write of messages has in common: the draft, the attempt opened with it, and the answer."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from rest_framework.response import Response

from conversations.api.answers import generation_answer, head_answer
from conversations.api.attempts import attempt_of
from conversations.api.telling import tell_head
from conversations.drafts import MessageDraft
from conversations.models import Conversation, Generation
from conversations.services.appending import Appended
from conversations.services.saying.messages import SaidMessage, draft_message
from conversations.services.turns import open_turn
from conversations.vocabulary import Dialect

type Write = Callable[[MessageDraft], Appended]


@dataclass(frozen=True, slots=True)
class Writing:
    """One message to be written into a conversation of the key's realm.

    `dialect` is what it is stored under where that is decided already; else its own, else that of
    the attempt that is opened with it.
    """

    conversation: Conversation
    said: SaidMessage
    attempt: dict[str, Any] | None
    now: datetime
    dialect: Dialect | None = None

    @property
    def stored_under(self) -> Dialect | None:
        asked = Dialect(self.attempt["dialect"]) if self.attempt else None
        return self.dialect or self.said.dialect or asked

    def write(self, write: Write) -> Response:
        """Write the message, and open the attempt below it: both or neither."""
        written, generation, is_new = self._write(draft_message(self.said, dialect=self.stored_under), write)
        return written_answer(
            self.conversation.pk, seq=written.seq, generation=generation, is_new=is_new, status=201
        )

    def _write(self, draft: MessageDraft, write: Write) -> tuple[Appended, Generation | None, bool]:
        if self.attempt is None:
            written = write(draft)
            return written, None, written.is_new
        turn = open_turn(
            conversation_id=self.conversation.pk,
            message=draft,
            write=lambda: write(draft),
            attempt=attempt_of(self.attempt, conversation_id=self.conversation.pk),
            now=self.now,
        )
        return turn.message, turn.generation, turn.is_new


def written_answer(
    conversation_id: UUID,
    *,
    seq: int | None,
    generation: Generation | None,
    is_new: bool,
    status: int = 200,
) -> Response:
    """Tell what is stored now; of what a key wrote earlier, nothing that was said in it."""
    return Response(
        {
            "message": None if seq is None else tell_head(conversation_id=conversation_id, seq=seq),
            "generation": None if generation is None else generation_answer(generation),
            "head": head_answer(conversation_id),
            "is_new": is_new,
        },
        status=status if is_new else 200,
    )
