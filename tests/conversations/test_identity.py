import json
from uuid import UUID

import pytest

from conversations.drafts import MessageDraft, PartDraft
from conversations.identity import PathChain, path_digests, unit_digests
from conversations.vocabulary import PartType, Role

ALICE, BOB = UUID(int=1), UUID(int=2)


def text(words, shell_json=None):
    return PartDraft(type=PartType.TEXT, text=words, shell=shell_json)


def block(kind, value, **fields):
    return PartDraft(type=kind, payload=json.dumps(value).encode(), **fields)


def call(call_id, name, arguments):
    value = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
    return block(PartType.TOOL_USE, value, tool_call_id=call_id, tool_name=name)


def result(call_id, content, **members):
    value = {"type": "tool_result", "tool_use_id": call_id, "content": content, **members}
    return block(PartType.TOOL_RESULT, value, tool_call_id=call_id)


def user(*parts):
    return MessageDraft(role=Role.USER, parts=list(parts))


def assistant(*parts):
    return MessageDraft(role=Role.ASSISTANT, parts=list(parts))


def last_digest(*messages, account_id=ALICE):
    return path_digests(messages, account_id=account_id)[-1]


THINKING = block(PartType.THINKING, {"type": "thinking", "thinking": "hm", "signature": "c2ln"})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            [user(text("hi"))],
            [user(block(PartType.TEXT, {"type": "text", "text": "hi"}))],
            id="string or list",
        ),
        pytest.param([user(text("hi"))], [user(block(PartType.TEXT, "hi"))], id="bare literal"),
        pytest.param(
            [user(text("hi"))],
            [
                user(
                    block(
                        PartType.TEXT, {"text": "hi", "type": "text", "cache_control": {"type": "ephemeral"}}
                    )
                )
            ],
            id="cache mark",
        ),
        pytest.param(
            [user(text("hi"))],
            [user(text("hi", '{"citations":null,"text":\x02,"type":"text"}'))],
            id="null member",
        ),
        pytest.param(
            [user(text("hi"))],
            [user(text("hi", '{"type":"input_text","text":\x02}'))],
            id="name of the type",
        ),
        pytest.param(
            [user(text("a"), text("b"))], [user(text("a")), user(text("b"))], id="bounds of messages"
        ),
        pytest.param([user(text("a"), text(" \n"))], [user(text("a"))], id="blank text"),
        pytest.param(
            [user(text("a")), assistant(THINKING, text("b"))], [user(text("a")), assistant(text("b"))]
        ),
        pytest.param([assistant(text(" b\n"))], [assistant(text("b"))], id="outer white space"),
        pytest.param([assistant(text("ab"), text("c"))], [assistant(text("a")), assistant(text("bc"))]),
        pytest.param(
            [assistant(text("I look"), call("t1", "look", {"n": 1, "m": 2.0}))],
            [assistant(THINKING), assistant(call("t1", "look", {"m": 2, "n": 1}))],
            id="text beside a call",
        ),
        pytest.param(
            [assistant(call("t1", "look", {"n": 1.50}))],
            [
                assistant(
                    block(
                        PartType.TOOL_USE,
                        {
                            "id": "t1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{ "n": 15e-1 }'},
                        },
                        tool_call_id="t1",
                        tool_name="look",
                    )
                )
            ],
            id="arguments as a string",
        ),
        pytest.param(
            [user(result("t1", "ok"))],
            [user(result("t1", [{"type": "text", "text": "ok", "cache_control": {"type": "ephemeral"}}]))],
            id="result as a list",
        ),
        pytest.param(
            [user(result("t1", "ok", is_error=False))],
            [MessageDraft(role=Role.TOOL, parts=[block(PartType.TOOL_RESULT, "ok", tool_call_id="t1")])],
            id="result of another dialect",
        ),
    ],
)
def test_what_clients_change_in_an_echo_carries_no_identity(one, other):
    assert last_digest(*one) == last_digest(*other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([user(text("hi"))], [user(text("Hi"))]),
        ([user(text("hi"))], [user(text("hi "))]),
        ([user(text("hi"))], [assistant(text("hi"))]),
        ([user(text("hi"))], [MessageDraft(role=Role.SYSTEM, parts=[text("hi")])]),
        ([user(text("a"), text("b"))], [user(text("ab"))]),
        ([assistant(call("t1", "look", {"n": 1}))], [assistant(call("t2", "look", {"n": 1}))]),
        ([assistant(call("t1", "look", {"n": 1}))], [assistant(call("t1", "look", {"n": 2}))]),
        ([assistant(call("t1", "look", {"n": None}))], [assistant(call("t1", "look", {}))]),
        ([user(result("t1", "ok"))], [user(result("t1", "ok", is_error=True))]),
        ([user(result("t1", "ok"))], [user(result("t2", "ok"))]),
    ],
)
def test_what_was_said_differently_is_another_path(one, other):
    assert last_digest(*one) != last_digest(*other)


def test_a_result_cut_into_shell_and_text_is_the_same_as_its_bytes():
    def cut(shell_json):
        part = text('say "hi"', shell_json)
        part.type, part.tool_call_id = PartType.TOOL_RESULT, "t1"
        return last_digest(user(part))

    whole = last_digest(user(result("t1", 'say "hi"')))

    assert cut('{"type":"tool_result","tool_use_id":"t1","content":\x02}') == whole
    assert cut('{"content": \x02, "tool_use_id": "t1", "type": "tool_result"}') == whole
    assert cut('{"tool_use_id":"t1","content":[{"text":\x02,"type":"text"}]}') == whole
    assert cut('{"tool_use_id":"t1","is_error":true,"content":\x02}') != whole


def test_two_accounts_never_share_a_digest():
    assert last_digest(user(text("hi"))) != last_digest(user(text("hi")), account_id=BOB)


def test_each_message_of_an_open_turn_has_a_digest_of_its_own_and_the_last_closes_the_turn():
    pieces = [user(text("q")), assistant(text("part one, ")), assistant(text("part two")), user(text("next"))]
    merged = [pieces[0], assistant(text("part one, part two")), pieces[3]]

    first, one, two, end = path_digests(pieces, account_id=ALICE)

    assert len({first, one, two, end}) == 4
    assert [first, two, end] == path_digests(merged, account_id=ALICE)


def test_a_chain_goes_on_from_a_stored_digest():
    messages = [user(text("q")), assistant(text("a, ")), assistant(text("b")), user(text("r"))]
    whole = path_digests(messages, account_id=ALICE)

    inside_the_turn = PathChain(account_id=ALICE, digest=whole[0], open_turn=[messages[1]])
    after_the_turn = PathChain(account_id=ALICE, digest=whole[2])

    assert inside_the_turn.add(messages[2]) == whole[2]
    assert after_the_turn.add(messages[3]) == whole[3]


def test_a_minted_call_id_is_not_held_against_the_client():
    def minted(call_id):
        part = call("", "look", {})
        part.tool_call_id, part.is_minted_id = call_id, True
        return part

    assert last_digest(assistant(minted("minted-0"))) == last_digest(assistant(minted("minted-7")))


def test_a_block_that_no_reader_can_read_is_compared_by_its_bytes():
    deep = b'{"type":"x","v":' + b"[" * 3000 + b"]" * 3000 + b"}"
    parts = [PartDraft(type=PartType.OTHER, payload=payload) for payload in (deep, deep + b" ", b"{")]

    one, other, broken = (last_digest(user(part)) for part in parts)

    assert len({one, other, broken}) == 3
    assert one == last_digest(user(PartDraft(type=PartType.OTHER, payload=deep)))


def test_unit_digests_are_what_the_message_adds_to_a_closed_path():
    message = user(text("a"), result("t1", "ok"))

    assert len(unit_digests(message)) == 2
    assert unit_digests(assistant(THINKING)) == []
