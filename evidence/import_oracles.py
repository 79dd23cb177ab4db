"""Conversions that another program made of the same exports, held against ours."""

import re

from conversations.models import Account, Message
from conversations.vocabulary import PartType, Role

_DETAILS = re.compile(r"<details.*?</details>\s*", re.DOTALL)
_QUOTED = re.compile(r"^> ?", re.MULTILINE)
# What was converted, and what the other program made of it.
PAIRS = {
    "exports/chatgpt/openwebui-importer-gpt_example.json": "exports/openwebui/expected-from-chatgpt.json",
    "exports/claude/claude_thinking_example.json": "exports/openwebui/expected-from-claude_thinking.json",
}


def compare_with_oracles(accounts: dict[str, Account]) -> list[str]:
    """Both went in as exports of their own; the words that a reader sees must be the same."""
    faults = []
    for source, oracle in PAIRS.items():
        if source not in accounts or oracle not in accounts:
            faults.append(f"{source}: its oracle is not in the manifest")
            continue
        ours, theirs = _spoken(accounts[source]), _spoken(accounts[oracle])
        if ours == theirs and ours:
            print(f"{source}: {len(ours)} messages read as {oracle} has them")
        else:
            faults.append(f"{source}: reads otherwise than {oracle}")
    return faults


def _spoken(account: Account) -> list[tuple[str, str, str]]:
    """Role, thinking and words of what people see, in order; thinking may stand in the words, quoted."""
    found = []
    messages = Message.objects.filter(
        conversation__account=account, is_hidden=False, role__in=[Role.USER, Role.ASSISTANT]
    )
    for message in messages.order_by("seq").prefetch_related("parts"):
        parts = message.parts.order_by("ordinal")
        words = "\n".join(part.text or "" for part in parts if part.type == PartType.TEXT)
        thinking = "\n".join(part.text or "" for part in parts if part.type == PartType.THINKING)
        quoted = _DETAILS.search(words)
        if quoted:
            inner = re.sub(r"<summary>.*?</summary>|</?details[^>]*>", "", quoted.group())
            thinking = _QUOTED.sub("", inner.strip())
        found.append((message.role, thinking.strip(), _DETAILS.sub("", words).strip()))
    return found
