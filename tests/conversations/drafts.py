"""Drafts as short as a test needs them, in Anthropic's dialect."""

from conversations.drafts import MessageDraft, PartDraft
from conversations.vocabulary import PartStatus, PartType, Role


def says(role: Role, text: str, **fields) -> MessageDraft:
    return MessageDraft(role=role, parts=[PartDraft(type=PartType.TEXT, text=text)], **fields)


def user(text: str = "Where is order 1042?", **fields) -> MessageDraft:
    return says(Role.USER, text, **fields)


def assistant(text: str = "On its way.", **fields) -> MessageDraft:
    return says(Role.ASSISTANT, text, **fields)


def call(call_id: str, name: str = "get_order", arguments: str = "{}") -> PartDraft:
    payload = f'{{"type":"tool_use","id":"{call_id}","name":"{name}","input":{arguments}}}'
    return PartDraft(type=PartType.TOOL_USE, payload=payload.encode(), tool_call_id=call_id, tool_name=name)


def calls(*call_ids: str, **fields) -> MessageDraft:
    return MessageDraft(role=Role.ASSISTANT, parts=[call(call_id) for call_id in call_ids], **fields)


def result(call_id: str, text: str = "ok", status: PartStatus = PartStatus.OK, **fields) -> PartDraft:
    payload = f'{{"type":"tool_result","tool_use_id":"{call_id}","content":"{text}"}}'
    return PartDraft(
        type=PartType.TOOL_RESULT, payload=payload.encode(), tool_call_id=call_id, status=status, **fields
    )


def results(*call_ids: str, **fields) -> MessageDraft:
    return MessageDraft(role=Role.USER, parts=[result(call_id) for call_id in call_ids], **fields)
