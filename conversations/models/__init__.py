from conversations.models.account import Account
from conversations.models.archive import Archive
from conversations.models.conversation import Conversation, HeadMove
from conversations.models.derived import Chunk, Summary
from conversations.models.erased import ErasedSubject
from conversations.models.generation import Exchange, Generation
from conversations.models.message import Message, MessagePart, ToolCall
from conversations.models.notes import ConversationNote
from conversations.models.redaction import RedactionSpan, RedactionSwitch
from conversations.models.storage import Blob, Fragment, RawBody

__all__ = [
    "Account",
    "Archive",
    "Blob",
    "Chunk",
    "Conversation",
    "ConversationNote",
    "ErasedSubject",
    "Exchange",
    "Fragment",
    "Generation",
    "HeadMove",
    "Message",
    "MessagePart",
    "RawBody",
    "RedactionSpan",
    "RedactionSwitch",
    "Summary",
    "ToolCall",
]
