"""Which requests are conversations with a model, by the path that is posted to."""

from typing import Final

# The values are the store's names of the formats. A gateway may put any prefix before the path.
# Not "/messages" alone: the threads of OpenAI's assistants end in that too.
_ENDINGS: Final = (
    ("/v1/messages", "anthropic_messages"),
    ("/chat/completions", "openai_chat"),
    ("/responses", "openai_responses"),
)


def dialect_of(method: str, path: str) -> str | None:
    """Return the format of a request that is to be recorded; None for all others."""
    if method != "POST":
        return None
    bare = path.rstrip("/")
    for ending, dialect in _ENDINGS:
        if bare.endswith(ending):
            return dialect
    return None
