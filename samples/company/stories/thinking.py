"""Thinking, a search by the provider, redacted thinking, and a block of a kind that nobody knows yet."""

from datetime import datetime

from samples.company.messages_api import Block, MessagesTalk, result, text
from samples.company.shop import OSKAR, PROMPT, PROMPT_VERSION, tools_for_messages
from samples.company.story import Clock, Mint, Story
from samples.company.times import moment

SEARCH = {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}


def story(today: datetime) -> Story:
    clock = Clock(moment(today, days=4, at="21:20:00"))
    tools = [*tools_for_messages("book_rail", "get_booking"), SEARCH]
    talk = MessagesTalk(
        key="nystrom-strike",
        clock=clock,
        model="claude-opus-5",
        system=PROMPT,
        tools=tools,
        settings={"max_tokens": 8000, "thinking": {"type": "enabled", "budget_tokens": 2000}},
        betas=("interleaved-thinking-2025-05-14",),
    )
    mint = talk.mint
    talk.say("Is there a rail strike in Sweden tomorrow? My ticket is WM-71240, Lund to Stockholm.")
    look = talk.call("get_booking", booking_ref="WM-71240")
    talk.answer(
        _thought(mint, "The customer holds WM-71240. First the booking, then whether trains run tomorrow."),
        *_searched(mint, "Sweden rail strike tomorrow Lund Stockholm"),
        text("There is news of a strike; let me check your train."),
        look,
        take=11,
    )
    talk.give(result(look, '{"ref": "WM-71240", "train": "X2 528", "dep": "06:12"}'))
    talk.answer(
        _thought(mint, "X2 528 is run by SJ. The strike is at another operator in the south until Friday."),
        {"type": "redacted_thinking", "data": mint("EmwKAhgBEgy", 60)},
        {
            "type": "travel_advisory",
            "advisory": {"operator": "Krösatåg", "until": "2026-11-28", "severity": 2},
            "display": [{"lang": "sv", "body": "Strejk på Krösatåg till fredag"}],
        },
        text("Your train, X2 528 at 06:12, is not affected: the strike is at Krösatåg, until Friday."),
        take=6,
    )
    talk.say("tack! and what if it is cancelled anyway?", after=75)
    talk.answer(
        _thought(mint, "Give the rule on refunds in one sentence."),
        text("Then you may take the next train with the same ticket, or have your money back."),
    )
    title = "Rail strike in Sweden, ticket WM-71240"
    return Story("nystrom-strike", title, OSKAR, talk.exchanges, PROMPT_VERSION)


def _thought(mint: Mint, words: str) -> Block:
    return {"type": "thinking", "thinking": words, "signature": mint("ErUBCkYIBBgCIkA", 80)}


def _searched(mint: Mint, query: str) -> tuple[Block, Block]:
    search_id = mint("srvtoolu_01")
    found = {
        "type": "web_search_result",
        "url": "https://news.example.com/strike",
        "title": "Strejk på Krösatåg",
        "encrypted_content": mint("EqgfCioIARgBIiQ", 70),
        "page_age": "1 day ago",
    }
    return (
        {"type": "server_tool_use", "id": search_id, "name": "web_search", "input": {"query": query}},
        {"type": "web_search_tool_result", "tool_use_id": search_id, "content": [found]},
    )
