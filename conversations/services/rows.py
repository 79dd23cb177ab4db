"""Drafts laid out as the arrays that `placing` writes, one array a column."""

from collections.abc import Collection, Sequence
from typing import Any

from conversations.arguments import derived_arguments
from conversations.drafts import MessageDraft, PartDraft
from conversations.services.blobs import keep_large_payload

# In the order of the arrays below, named as the columns of the tables.
MESSAGE_COLUMNS = "role, provider_role, shell, client_message_id, token_count, occurred_at, is_hidden"
PART_COLUMNS = (
    "ordinal, type, provider_type, text, payload, shell, is_text_copy, media_type, blob_id,"
    " tool_call_id, tool_name, is_minted_id, status, orphan"
)
NO_ANSWER = None
ANSWERS_PARENT = -1


def message_arrays(
    messages: Sequence[MessageDraft], *, digests: Sequence[bytes | None] | None
) -> dict[str, Any]:
    return {
        "m_place": list(range(len(messages))),
        "m_answers": answered_places(messages),
        "m_digest": list(digests) if digests is not None else [None] * len(messages),
        "m_role": [message.role.value for message in messages],
        "m_provider_role": [message.provider_role for message in messages],
        "m_shell": [message.shell for message in messages],
        "m_client_message_id": [message.client_message_id for message in messages],
        "m_token_count": [message.token_count for message in messages],
        "m_occurred_at": [message.occurred_at for message in messages],
        "m_is_hidden": [message.is_hidden for message in messages],
    }


def answered_places(messages: Sequence[MessageDraft]) -> list[int | None]:
    """For each message of a run, the place of the message whose calls it answers.

    ANSWERS_PARENT is the group of the message that the run hangs on. A message
    without results answers none.
    """
    groups: list[int] = []
    answered: list[int | None] = []
    for place, message in enumerate(messages):
        has_results = next(message.results(), None) is not None
        group = (groups[-1] if groups else ANSWERS_PARENT) if has_results else place
        groups.append(group)
        answered.append(group if has_results else NO_ANSWER)
    return answered


def part_arrays(
    messages: Sequence[MessageDraft], *, unanswered: Collection[tuple[int, str]]
) -> dict[str, Any]:
    parts = [
        (place, ordinal, part)
        for place, message in enumerate(messages)
        for ordinal, part in enumerate(message.parts)
    ]
    blob_ids = [keep_large_payload(part) for _, _, part in parts]
    calls = [(place, part) for place, _, part in parts if part.type == "tool_use" and not part.orphan]
    return {
        "p_place": [place for place, _, _ in parts],
        "p_ordinal": [ordinal for _, ordinal, _ in parts],
        "p_type": [part.type.value for _, _, part in parts],
        "p_provider_type": [part.provider_type for _, _, part in parts],
        "p_text": [part.text for _, _, part in parts],
        "p_payload": [
            part.payload if blob_id is None else None
            for (_, _, part), blob_id in zip(parts, blob_ids, strict=True)
        ],
        "p_shell": [part.shell for _, _, part in parts],
        "p_is_text_copy": [part.is_text_copy for _, _, part in parts],
        "p_media_type": [part.media_type for _, _, part in parts],
        "p_blob_id": blob_ids,
        "p_tool_call_id": [part.tool_call_id for _, _, part in parts],
        "p_tool_name": [part.tool_name for _, _, part in parts],
        "p_is_minted_id": [part.is_minted_id for _, _, part in parts],
        "p_status": [part.status.value if part.status else None for _, _, part in parts],
        "p_orphan": [part.orphan for _, _, part in parts],
        **_call_arrays(calls, unanswered),
    }


def _call_arrays(
    calls: Sequence[tuple[int, PartDraft]], unanswered: Collection[tuple[int, str]]
) -> dict[str, Any]:
    return {
        "c_place": [place for place, _ in calls],
        "c_call_id": [part.tool_call_id for _, part in calls],
        "c_name": [part.tool_name for _, part in calls],
        "c_arguments": [derived_arguments(part) for _, part in calls],
        "c_unanswered": [(place, part.tool_call_id) in unanswered for place, part in calls],
    }
