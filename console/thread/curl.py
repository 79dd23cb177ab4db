"""A recorded request as a command that sends it again, with the key left out.

The body is not in the command: it is read from the file that the page offers,
because no shell quoting gives arbitrary bytes back.
"""

import shlex
from typing import Final

from conversations.vocabulary import Dialect

_ADDRESSES: Final = {
    Dialect.ANTHROPIC_MESSAGES: "https://api.anthropic.com/v1/messages",
    Dialect.OPENAI_CHAT: "https://api.openai.com/v1/chat/completions",
    Dialect.OPENAI_RESPONSES: "https://api.openai.com/v1/responses",
}


def curl_command(*, dialect: Dialect, file_name: str, api_version: str = "", beta_headers: str = "") -> str:
    """Return the command; `$API_KEY` stands for the key, which is never recorded.

    Versions and beta headers were sent by a client, so they are quoted for the shell.
    """
    headers = ["content-type: application/json"]
    if dialect == Dialect.ANTHROPIC_MESSAGES:
        if api_version:
            headers.append(f"anthropic-version: {api_version}")
        if beta_headers:
            headers.append(f"anthropic-beta: {beta_headers}")
        key = '"x-api-key: $API_KEY"'
    else:
        if beta_headers:
            headers.append(f"openai-beta: {beta_headers}")
        key = '"authorization: Bearer $API_KEY"'
    lines = [
        f"curl {_ADDRESSES[dialect]}",
        f"-H {key}",
        *(f"-H {shlex.quote(_one_line(header))}" for header in headers),
        f"--data-binary @{shlex.quote(file_name)}",
    ]
    return " \\\n  ".join(lines)


def _one_line(header: str) -> str:
    return "".join(character if character.isprintable() else "?" for character in header)
