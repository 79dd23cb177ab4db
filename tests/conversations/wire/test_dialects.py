import pytest

from conversations.vocabulary import Dialect
from conversations.wire.dialects import detect_dialect, dialect_of_path, module_for
from conversations.wire.shapes import WireError
from tests.conversations.wire.bodies import compact

A, C, R = Dialect.ANTHROPIC_MESSAGES, Dialect.OPENAI_CHAT, Dialect.OPENAI_RESPONSES
USER = {"role": "user", "content": "hi"}


@pytest.mark.parametrize("dialect", Dialect)
def test_each_dialect_has_a_module_that_reads_both_ways(dialect):
    module = module_for(dialect)

    assert callable(module.parse_request)
    assert callable(module.parse_response)


@pytest.mark.parametrize(
    ("path", "dialect"),
    [
        ("/v1/messages", A),
        ("/anthropic/v1/messages/?beta=true", A),
        ("/v1/chat/completions", C),
        ("/openai/deployments/x/chat/completions?api-version=1", C),
        ("/v1/responses", R),
        ("/v1/messages/count_tokens", None),
        ("/v1/embeddings", None),
    ],
)
def test_the_path_names_the_dialect(path, dialect):
    assert dialect_of_path(path) == dialect


@pytest.mark.parametrize(
    ("body", "dialect"),
    [
        ({"model": "claude-x", "max_tokens": 5, "messages": [USER]}, A),
        ({"model": "x", "max_tokens": 5, "system": "s", "messages": [USER]}, A),
        (
            {"model": "x", "max_tokens": 5, "messages": [USER], "tools": [{"name": "f", "input_schema": {}}]},
            A,
        ),
        ({"model": "gpt-x", "messages": [USER]}, C),
        ({"model": "gpt-x", "max_tokens": 5, "messages": [{"role": "system", "content": "s"}, USER]}, C),
        ({"model": "x", "max_tokens": 5, "messages": [USER, {"role": "tool", "tool_call_id": "c"}]}, C),
        ({"model": "gpt-x", "input": "hi"}, R),
        ({"model": "gpt-x", "prompt": {"id": "p"}}, R),
        ({"model": "x"}, None),
    ],
)
def test_a_body_gives_its_dialect_away(body, dialect):
    assert detect_dialect(compact(body)) == dialect


def test_what_is_no_object_has_no_dialect():
    with pytest.raises(WireError, match="not a JSON object"):
        detect_dialect(b"[]")
