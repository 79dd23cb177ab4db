"""The description of the API (OpenAPI 3.1): what every address shares is said here once.

Each operation gets the refusals that its kind can meet, as problem details; a POST gets its
`Idempotency-Key`. A view says only what is its own.
"""

from typing import Any, Final

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from access.api.idempotency import HEADER as IDEMPOTENCY_KEY
from config.api.problems import MEDIA_TYPE

PROBLEM_REF: Final = {"$ref": "#/components/schemas/Problem"}
_ALWAYS: Final = {
    "400": "The request is malformed; `errors` names each member.",
    "401": "No key, or one that is unknown, expired or revoked.",
    "403": "The key lacks the scope that this needs.",
    "406": "`Accept` names no media type that this address answers in.",
    "429": "The key has used up its requests of this minute; `Retry-After` says when the next begins.",
}
_NAMING_SOMETHING: Final = {"404": "There is no such thing in the key's realm."}
_WRITING: Final = {
    "404": "Something that the body names is not in the key's realm.",
    "409": "The state has moved on, or a key or id was used for something else.",
    "413": "The body is larger than this address takes.",
    "415": "The body has a media type that this address does not take.",
    "422": "The store refuses this; `rule` says by which rule, `place` where.",
}


class ProblemError(serializers.Serializer):
    """One member of the body, or one parameter of the address, that cannot be taken."""

    pointer = serializers.CharField(
        required=False, help_text="JSON pointer into the request's body (RFC 6901), after `#`."
    )
    parameter = serializers.CharField(
        required=False, help_text="In place of `pointer` where the request has no body."
    )
    rule = serializers.CharField()
    detail = serializers.CharField()


class ProblemAnswer(serializers.Serializer):
    """Problem details (RFC 9457)."""

    type = serializers.CharField(help_text="`urn:counterfoil:problem:` and the rule.")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What is wrong and how to mend it, for a person.")
    instance = serializers.CharField()
    rule = serializers.CharField(help_text="A stable code, for a program.")
    request_id = serializers.CharField()
    place = serializers.CharField(required=False, help_text="The row of the store that speaks against it.")
    errors = ProblemError(many=True, required=False)  # type: ignore[assignment]  # DRF's own name is of the class


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How drf-spectacular describes the keys."""

    target_class = "access.api.authentication.KeyAuthentication"
    name = "key"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "description": "An API key: `cfk_…`."}


class ApiSchema(AutoSchema):
    """Adds what every operation of the API shares."""

    def is_deprecated(self) -> bool:
        return getattr(self.view, "deprecation", None) is not None

    def get_override_parameters(self) -> list[Any]:
        if self.method != "POST" or getattr(self.view, "is_once_by_itself", False):
            return []
        return [
            OpenApiParameter(
                IDEMPOTENCY_KEY,
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description="Makes the request once only: a repeat within 48 hours gets the first answer.",
            )
        ]

    def get_operation(
        self, path: str, path_regex: str, path_prefix: str, method: str, registry: Any
    ) -> dict[str, Any] | None:
        operation = super().get_operation(path, path_regex, path_prefix, method, registry)
        if operation is None:
            return None
        self.resolve_serializer(ProblemAnswer(), "response")
        for status, words in self._refusals(path).items():
            operation["responses"].setdefault(
                status, {"description": words, "content": {MEDIA_TYPE: {"schema": PROBLEM_REF}}}
            )
        scopes = getattr(self.view, "scopes", {})
        if scope := scopes.get(method):
            operation["x-scope"] = str(scope)
            described = operation.get("description", "")
            operation["description"] = f"{described}\n\nNeeds the scope `{scope}`.".strip()
        return operation

    def _refusals(self, path: str) -> dict[str, str]:
        refusals = dict(_ALWAYS)
        if "{" in path:
            refusals |= _NAMING_SOMETHING
        if self.method not in {"GET", "HEAD"}:
            refusals |= _WRITING
        return refusals


def name_problems(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """Call the component by what it is; a postprocessing hook of drf-spectacular."""
    schemas = result.get("components", {}).get("schemas", {})
    if "ProblemAnswer" in schemas:
        schemas["Problem"] = schemas.pop("ProblemAnswer")
    return result
