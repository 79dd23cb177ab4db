from decimal import Decimal

import pytest

from conversations.wire.usage import anthropic_usage, openai_chat_usage, openai_responses_usage


def buckets(usage):
    return (
        usage.uncached_input,
        usage.cache_read,
        usage.cache_write_5m,
        usage.cache_write_1h,
        usage.output,
        usage.reasoning,
        usage.web_searches,
    )


def test_anthropics_input_leaves_cached_tokens_out():
    raw = {
        "input_tokens": 10,
        "cache_read_input_tokens": 200,
        "cache_creation_input_tokens": 70,
        "cache_creation": {"ephemeral_5m_input_tokens": 50, "ephemeral_1h_input_tokens": 20},
        "output_tokens": 9,
        "output_tokens_details": {"thinking_tokens": 4},
        "server_tool_use": {"web_search_requests": 2},
    }

    usage = anthropic_usage(raw)

    assert buckets(usage) == (10, 200, 50, 20, 9, 4, 2)
    assert usage.raw == raw


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"input_tokens": 1, "output_tokens": 2}, (1, None, None, None, 2, None, None)),
        ({"cache_creation_input_tokens": 30}, (None, None, 30, 0, None, None, None)),
        (
            {"cache_creation_input_tokens": 90, "cache_creation": {"ephemeral_1h_input_tokens": 20}},
            (None, None, 70, 20, None, None, None),
        ),
        ({"input_tokens": -1, "output_tokens": True}, (None, None, None, None, None, None, None)),
        ({"input_tokens": "7", "cache_creation": []}, (None, None, None, None, None, None, None)),
    ],
)
def test_what_is_not_said_is_unknown_and_an_unexplained_write_is_the_default_kind(raw, expected):
    assert buckets(anthropic_usage(raw)) == expected


def test_anthropics_passes_are_added_because_the_totals_leave_some_out():
    usage = anthropic_usage(
        {
            "input_tokens": 3676,
            "output_tokens": 3356,
            "iterations": [
                {"type": "message", "input_tokens": 1000, "output_tokens": 30, "cache_read_input_tokens": 5},
                {"type": "advisor_message", "model": "other", "input_tokens": 2000, "output_tokens": 300},
            ],
        }
    )

    assert (usage.uncached_input, usage.cache_read, usage.output) == (3000, 5, 330)


def test_openais_input_includes_cached_tokens():
    chat = openai_chat_usage(
        {
            "prompt_tokens": 100,
            "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 15},
            "completion_tokens": 20,
            "completion_tokens_details": {"reasoning_tokens": 8},
        }
    )
    responses = openai_responses_usage(
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 15},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 8},
        }
    )

    assert buckets(chat) == buckets(responses) == (25, 60, 15, None, 20, 8, None)


@pytest.mark.parametrize(
    ("details", "cached", "written"),
    [
        ({"cached_tokens": 60}, 60, None),
        ({"cached_tokens": 6, "cache_write_tokens": 5}, 6, 5),
    ],
)
def test_an_input_of_which_more_is_cached_than_there_was_of_it_is_unknown(details, cached, written):
    chat = openai_chat_usage({"prompt_tokens": 10, "prompt_tokens_details": details})
    responses = openai_responses_usage({"input_tokens": 10, "input_tokens_details": details})

    assert buckets(chat) == buckets(responses) == (None, cached, written, None, None, None, None)


def test_a_count_that_no_answer_can_have_is_unknown():
    assert buckets(anthropic_usage({"input_tokens": 2**31, "output_tokens": 5})) == (
        None,
        None,
        None,
        None,
        5,
        None,
        None,
    )


def test_a_share_of_the_output_that_is_more_than_the_whole_is_unknown():
    anthropic = {"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 9}}
    chat = {"completion_tokens": 1, "completion_tokens_details": {"reasoning_tokens": 7}}
    responses = {"output_tokens": 1, "output_tokens_details": {"reasoning_tokens": 7}}

    found = [anthropic_usage(anthropic), openai_chat_usage(chat), openai_responses_usage(responses)]

    assert [(usage.output, usage.reasoning, usage.raw) for usage in found] == [
        (5, None, anthropic),
        (1, None, chat),
        (1, None, responses),
    ]


def test_whole_counts_that_are_written_with_a_point_are_counts():
    usage = {"prompt_tokens": Decimal("10.0"), "completion_tokens": Decimal("2E+1")}

    assert openai_chat_usage(usage).uncached_input == 10
    assert openai_chat_usage(usage).output == 20
    assert openai_chat_usage({**usage, "prompt_tokens": Decimal("10.5")}).uncached_input is None
    assert openai_chat_usage({**usage, "prompt_tokens": Decimal("1E+400")}).uncached_input is None
