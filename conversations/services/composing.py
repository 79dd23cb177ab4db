"""What the store refuses to compose: a message that the provider would refuse wherever it stood.

Judged by the dialect's own rules, before anything is written, and from the
message alone: an append stays one statement. What depends on the path (results
that answer the calls before, calls passed over, one result for each call) is
refused by the database itself. What came in broken from outside is another
matter: recording and imports keep it, marked.
"""

from uuid import UUID

from conversations.drafts import MessageDraft, PartDraft
from conversations.errors import StoreError
from conversations.vocabulary import Dialect, PartType, Role
from conversations.wire.validate import find_violations

# A server tool may answer in a later message of the turn that called it.
_IN_ITS_PLACE = frozenset({"server-result-follows-call"})


def refuse_malformed(message: MessageDraft, *, dialect: Dialect | None, conversation_id: UUID) -> None:
    """Raise StoreError where the message breaks a rule that its dialect's provider always enforces.

    A message of no provider's dialect is bound by the database's rules alone.
    """
    if dialect is None:
        return
    name = f"conversation {conversation_id}, new message"
    before = _asking_for(message)
    messages, names = [*before, message], [*[""] * len(before), name]
    for violation in find_violations(messages, dialect=dialect, names=names, is_whole=False):
        is_ours = violation.place.startswith(name) and violation.rule not in _IN_ITS_PLACE
        if is_ours and violation.strength == "refuse":
            place = violation.place.replace(".content.", ", block ")
            raise StoreError(violation.rule, violation.explanation, place=place)


def _asking_for(message: MessageDraft) -> list[MessageDraft]:
    """Return the calls that the message's results answer: some rules hold for answers only."""
    calls = [
        PartDraft(PartType.TOOL_USE, payload=b"{}", tool_call_id=part.tool_call_id, tool_name="tool")
        for part in message.results()
    ]
    return [MessageDraft(role=Role.ASSISTANT, parts=calls)] if calls else []
