"""What the processor answers when it refuses, in Stripe's own shape."""

from typing import Any

Body = dict[str, Any]

INVALID_REQUEST = "invalid_request_error"
IDEMPOTENCY = "idempotency_error"
CARD = "card_error"
API = "api_error"


class ApiError(Exception):
    """A refusal that reaches the client as an error body.

    `keeps_writes` marks the refusals that are outcomes: a declined card leaves its failed charge
    behind, every other refusal leaves nothing.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 400,
        kind: str = INVALID_REQUEST,
        code: str | None = None,
        param: str | None = None,
        keeps_writes: bool = False,
        headers: dict[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.keeps_writes = keeps_writes
        self.headers = headers or {}
        error: Body = {"message": message, "type": kind}
        if code is not None:
            error["code"] = code
            error["doc_url"] = f"https://stripe.com/docs/error-codes/{code.replace('_', '-')}"
        if param is not None:
            error["param"] = param
        self.body: Body = {"error": {**error, **more}}


def no_such(kind: str, object_id: str, *, param: str = "id", status: int = 404) -> ApiError:
    return ApiError(f"No such {kind}: '{object_id}'", status=status, code="resource_missing", param=param)


def something_broke() -> ApiError:
    """The 500 of the real service. Its framework saved it, so it asks not to be retried."""
    return ApiError(
        "An unknown error occurred",
        status=500,
        kind=API,
        headers={"Stripe-Should-Retry": "false"},
    )
