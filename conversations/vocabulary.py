"""The closed lists of the store; each has a CHECK of the same values in the database."""

from django.db.models import TextChoices


class Dialect(TextChoices):
    """The wire format in which a provider was spoken to."""

    ANTHROPIC_MESSAGES = "anthropic_messages"
    OPENAI_CHAT = "openai_chat"
    OPENAI_RESPONSES = "openai_responses"


class Role(TextChoices):
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class PartType(TextChoices):
    """`other` is any block we do not know: kept verbatim under the provider's own name."""

    TEXT = "text"
    TOOL_USE = "tool_use"
    TOOL_RESULT = "tool_result"
    SERVER_TOOL_USE = "server_tool_use"
    SERVER_TOOL_RESULT = "server_tool_result"
    THINKING = "thinking"
    IMAGE = "image"
    DOCUMENT = "document"
    OTHER = "other"


class PartStatus(TextChoices):
    """How a tool's result says it went; only results have one."""

    OK = "ok"
    ERROR = "error"


class PartBytes(TextChoices):
    """What became of a part's bytes."""

    PRESENT = "present"
    STRIPPED = "stripped"
    REDACTED = "redacted"
    ARCHIVED = "archived"
    ERASED = "erased"


class CallStatus(TextChoices):
    """`unanswered` is a call that the received history itself passed over."""

    REQUESTED = "requested"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNANSWERED = "unanswered"


class BranchReason(TextChoices):
    """Why a message hangs where it hangs."""

    CONTINUE = "continue"
    USER_EDIT = "user_edit"
    REGENERATE = "regenerate"
    CLIENT_REWRITE = "client_rewrite"
    IMPORT = "import"
    FORK = "fork"


class HeadMoveReason(TextChoices):
    APPEND = "append"
    USER_EDIT = "user_edit"
    REGENERATE = "regenerate"
    SWITCH = "switch"
    CLIENT_REWRITE = "client_rewrite"
    IMPORT = "import"
    IMPORT_REPAIR = "import_repair"
    FORK = "fork"


class GenerationStatus(TextChoices):
    QUEUED = "queued"
    STREAMING = "streaming"
    COMPLETE = "complete"
    TRUNCATED = "truncated"
    INTERRUPTED = "interrupted"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"

    @classmethod
    def open(cls) -> frozenset["GenerationStatus"]:
        return frozenset({cls.QUEUED, cls.STREAMING})


class CostConfidence(TextChoices):
    """`unknown` has no cost; `estimated` is a lower bound or a guess, and says so on every page."""

    EXACT = "exact"
    ESTIMATED = "estimated"
    UNKNOWN = "unknown"


class BodyProof(TextChoices):
    """How a recorded request body is given back."""

    EXACT = "exact"
    PATCHED = "patched"
    VERBATIM = "verbatim"
    LOST = "lost"
    NONE = "none"


class HistoryMatch(TextChoices):
    """How a recorded request found its place in the tree."""

    CONTINUED = "continued"
    BRANCHED = "branched"
    REWRITTEN = "rewritten"
    STARTED = "started"
    UNPLACED = "unplaced"


class RawClass(TextChoices):
    """What a raw body is; retention rules name these."""

    REQUEST = "request"
    STREAM = "stream"
    RESPONSE = "response"
    WEBHOOK = "webhook"
    STATEMENT_LINE = "statement_line"
    QUARANTINE = "quarantine"
    IMPORT = "import"


class FragmentKind(TextChoices):
    PREAMBLE = "preamble"
    TOOLS = "tools"
    ENVELOPE = "envelope"


class Source(TextChoices):
    """Where a conversation came from."""

    APPLICATION = "application"
    RECORDED = "recorded"
    IMPORTED = "imported"


class ReplayObstacle(TextChoices):
    """Why no request body of this conversation can be called what was sent."""

    RECEIVED_BROKEN = "received_broken"
    FOREIGN_FORMAT = "foreign_format"


class ErasedKind(TextChoices):
    """By what an erased person would be recognised."""

    EXTERNAL_ID = "external_id", "external id"
    EMAIL = "email", "e-mail address"
    ACCOUNT = "account", "account"
    CONVERSATION = "conversation", "conversation"
    EXTERNAL_REF = "external_ref", "conversation of a source"


class SecretKind(TextChoices):
    """What redaction cuts."""

    CARD = "card", "card number"
    IBAN = "iban", "bank account"
    API_KEY = "api_key", "key"
    BEARER = "bearer", "token"


class BodySide(TextChoices):
    """Where a cut was made: in what was sent, in what was answered, or later in a part."""

    REQUEST = "request"
    RESPONSE = "response"
    PART = "part"
