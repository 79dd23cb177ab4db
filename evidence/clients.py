"""Ten client habits, forty turns each: what they send is recorded and comes back byte for byte.

    script/evidence clients [SEED]

A made-up customer talks to a made-up model; each client sends the history back
in its own way (`habits`). Shown: every body identical, all turns on one path,
and the patches at most 2 % of the bodies' bytes. Ends with one line of figures.
"""

import copy
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from conversations.models import Account, Generation, Message
from conversations.reads.path import path_seqs
from conversations.replay.bodies import request_body_of as request_body
from conversations.services.recording import record_exchange
from conversations.vocabulary import Dialect
from evidence.customers import NOW, RECORDER, new_account
from evidence.dialogue import Answer, Author, Turn
from evidence.habits import HABITS, Habit, write_body
from evidence.habits import Message as SentMessage

TURNS = 40
LARGEST_SHARE = 0.02
SYSTEM = [{"type": "text", "text": "You help the customers of a shop. " * 20}]


@dataclass(slots=True)
class Figures:
    bodies: int = 0
    identical: int = 0
    body_bytes: int = 0
    patch_bytes: int = 0
    proofs: Counter = field(default_factory=Counter)
    matches: Counter = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def main(arguments: Sequence[str]) -> int:
    seed = int(arguments[0]) if arguments else 7
    total = Figures()
    for number, (name, habit) in enumerate(HABITS.items()):
        figures = run_client(habit, name=name, seed=seed + number, is_spaced=bool(number % 2))
        print(line(name, figures))
        add(total, figures)
    if total.patch_bytes > LARGEST_SHARE * total.body_bytes:
        total.faults.append("the patches are more than 2 % of the bodies")
    for fault in total.faults:
        print(fault)
    print(line(f"clients (seed {seed})", total))
    return 1 if total.faults else 0


def run_client(habit: Habit, *, name: str, seed: int, is_spaced: bool) -> Figures:
    """Let one client go through its conversation, and check each body as it comes back."""
    author, account, figures = Author(seed), new_account(), Figures()
    history: list[SentMessage] = []
    conversation_id: UUID | None = None
    for number, turn in enumerate(author.turns(TURNS)):
        history.append(spoken(turn))
        body = write_body(request(habit(history), number), is_spaced=is_spaced)
        answer = answered(turn.answer, author)
        exchange = record_exchange(
            account=account,
            request_body=body,
            response_body=answer,
            dialect=Dialect.ANTHROPIC_MESSAGES,
            http_status=200,
            exchange_id=f"{seed}-{number}",
            conversation_id=conversation_id,
            actor=RECORDER,
            now=NOW,
        )
        conversation_id = exchange.conversation_id
        history.append({"role": "assistant", "content": json.loads(answer)["content"]})
        figures.bodies += 1
        figures.body_bytes += len(body)
        figures.proofs[exchange.proof] += 1
        figures.matches[exchange.match] += 1
        back = request_body(conversation_id=conversation_id, number=exchange.generation_number)
        figures.identical += int(back == body)
        if back != body:
            figures.faults.append(f"{name}, turn {number}: the body came back different")
    check_one_path(name, account, figures)
    patches = Generation.objects.filter(conversation__account=account).exclude(body_patch=None)
    figures.patch_bytes = sum(len(patch or b"") for patch in patches.values_list("body_patch", flat=True))
    return figures


def check_one_path(name: str, account: Account, figures: Figures) -> None:
    messages = Message.objects.filter(conversation__account=account)
    last = messages.order_by("-seq").first()
    assert last is not None
    path = path_seqs(conversation_id=last.conversation_id, leaf_seq=last.seq)
    if len(path) != messages.count():
        figures.faults.append(f"{name}: {messages.count()} messages, but {len(path)} on the path")
    if figures.proofs["verbatim"]:
        figures.faults.append(f"{name}: {figures.proofs['verbatim']} bodies had to be kept whole")


def spoken(turn: Turn) -> SentMessage:
    """What the client adds: results first, then the customer's words."""
    blocks: list[dict[str, object]] = [
        {"type": "tool_result", "tool_use_id": call.id, "content": call.result} for call in turn.results
    ]
    if turn.question is not None:
        blocks.append({"type": "text", "text": turn.question})
    return {"role": "user", "content": blocks}


def request(messages: Sequence[SentMessage], number: int) -> dict[str, object]:
    tools = [
        {
            "name": name,
            "description": f"Use {name} for the customer's order. " * 8,
            "input_schema": {"type": "object", "properties": {"order": {"type": "string"}}},
        }
        for name in ("lookup_order", "refund_order", "search_catalogue", "create_ticket")
    ]
    return {
        "max_tokens": 4096,
        "messages": copy.deepcopy(list(messages)),
        "model": "claude-sonnet-4-6",
        "system": SYSTEM,
        "tools": tools,
    }


def answered(answer: Answer, author: Author) -> bytes:
    """The provider's JSON: compact, in its own order of keys."""
    content: list[dict[str, object]] = [
        {"type": "thinking", "thinking": answer.thinking, "signature": answer.signature},
        {"type": "text", "text": answer.text},
    ]
    content += [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        for call in answer.calls
    ]
    body = {
        "model": "claude-sonnet-4-6",
        "id": author.token("msg_01"),
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1200, "output_tokens": 350},
    }
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def add(total: Figures, figures: Figures) -> None:
    total.bodies += figures.bodies
    total.identical += figures.identical
    total.body_bytes += figures.body_bytes
    total.patch_bytes += figures.patch_bytes
    total.proofs += figures.proofs
    total.matches += figures.matches
    total.faults += figures.faults


def line(name: str, figures: Figures) -> str:
    share = figures.patch_bytes / figures.body_bytes
    matches = ", ".join(f"{count} {match}" for match, count in sorted(figures.matches.items()))
    return (
        f"{name}: {figures.identical} of {figures.bodies} bodies identical, {figures.proofs['exact']} exact,"
        f" {figures.proofs['patched']} patched, {figures.proofs['verbatim']} verbatim; patches"
        f" {figures.patch_bytes} of {figures.body_bytes} bytes ({share:.2%}); {matches};"
        f" {len(figures.faults)} faults"
    )
