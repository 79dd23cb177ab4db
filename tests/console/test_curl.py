import shlex

from console.thread.curl import curl_command
from conversations.vocabulary import Dialect


def test_the_command_sends_the_file_and_leaves_the_key_to_the_shell():
    command = curl_command(
        dialect=Dialect.ANTHROPIC_MESSAGES,
        file_name="request-1.json",
        api_version="2023-06-01",
        beta_headers="a-2025, b-2025",
    )

    assert shlex.split(command.replace("\\\n", "")) == [
        *("curl", "https://api.anthropic.com/v1/messages", "-H", "x-api-key: $API_KEY"),
        *("-H", "content-type: application/json", "-H", "anthropic-version: 2023-06-01"),
        *("-H", "anthropic-beta: a-2025, b-2025", "--data-binary", "@request-1.json"),
    ]


def test_the_other_dialects_carry_a_bearer():
    for dialect, place in (
        (Dialect.OPENAI_CHAT, "chat/completions"),
        (Dialect.OPENAI_RESPONSES, "responses"),
    ):
        command = curl_command(dialect=dialect, file_name="r.json")

        assert f"https://api.openai.com/v1/{place}" in command
        assert '"authorization: Bearer $API_KEY"' in command


def test_a_header_that_a_client_made_cannot_leave_its_quotes():
    command = curl_command(
        dialect=Dialect.ANTHROPIC_MESSAGES, file_name="r.json", api_version="1'; rm -rf ~ #\n-H evil: $(id)"
    )

    words = shlex.split(command.replace("\\\n", ""))
    assert "anthropic-version: 1'; rm -rf ~ #?-H evil: $(id)" in words
