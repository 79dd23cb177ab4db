"""What reading an answer has in common in every dialect: how it ended, and what went wrong."""

from collections.abc import Callable, Mapping

from conversations.vocabulary import GenerationStatus
from conversations.wire.literals import readable_copy
from conversations.wire.shapes import ParsedResponse, WireError

LONGEST_ERROR = 2000
_FIRST_FAILURE = 400

type ReadAnswer = Callable[[str], ParsedResponse]


def read_json_answer(body: bytes, http_status: int | None, read: ReadAnswer) -> ParsedResponse:
    """Read a JSON answer with `read`; a body that is none becomes a failed or interrupted answer."""
    text = body.decode("utf-8", "replace")
    is_failure = http_status is not None and http_status >= _FIRST_FAILURE
    try:
        answer = read(text)
    except WireError as error:
        if is_failure or text.lstrip()[:1] not in ("{", ""):
            return failed(code=f"http_{http_status}" if http_status else "not_json", message=text.strip())
        answer = ParsedResponse(status=GenerationStatus.INTERRUPTED, message=None)
        answer.notes.append(f"the answer is not whole: {error}")
        return answer
    if is_failure and answer.status != GenerationStatus.FAILED:
        answer.status = GenerationStatus.FAILED
        answer.error_code = answer.error_code or f"http_{http_status}"
    return answer


def failed(*, code: str, message: str) -> ParsedResponse:
    return ParsedResponse(
        status=GenerationStatus.FAILED,
        message=None,
        error_code=word(code),
        error_message=readable_copy(message[:LONGEST_ERROR]),
    )


def failure_of(error: object) -> ParsedResponse:
    """A failed answer from a provider's error object; the narrower of code and type is kept."""
    if not isinstance(error, Mapping):
        return failed(code="error", message=str(error) if isinstance(error, str) else "")
    code = error.get("code")
    if not isinstance(code, str) or not code:
        code = str(code) if isinstance(code, int) and not isinstance(code, bool) else error.get("type")
    message = error.get("message")
    return failed(
        code=code if isinstance(code, str) else "error",
        message=message if isinstance(message, str) else "",
    )


def fail(answer: ParsedResponse, error: object) -> None:
    """Turn what arrived so far into a failed answer that keeps it."""
    failure = failure_of(error)
    answer.status = GenerationStatus.FAILED
    answer.error_code = failure.error_code
    answer.error_message = failure.error_message


def word(value: object) -> str:
    """A short string from a provider, storable; empty where it is no string."""
    return readable_copy(value[:200]) if isinstance(value, str) else ""
