"""How the API describes itself, in OpenAPI: what drf-spectacular is told."""

from typing import Any, Final

DESCRIPTION: Final[dict[str, Any]] = {
    "TITLE": "Counterfoil",
    "DESCRIPTION": "The system of record for AI conversations and for what their tools did to the world.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    # The description holds no data: whoever reaches the server may read how it is spoken to.
    "SERVE_PERMISSIONS": [],
    "SERVE_AUTHENTICATION": [],
    "COMPONENT_SPLIT_REQUEST": True,
    # Lists of values under one member's name in several answers, by the names of what they are.
    "ENUM_NAME_OVERRIDES": {
        "MessageRole": "conversations.vocabulary.Role",
        "PartType": "conversations.vocabulary.PartType",
        "PartStatus": "conversations.vocabulary.PartStatus",
        "GenerationStatus": "conversations.vocabulary.GenerationStatus",
        "ConversationSource": "conversations.vocabulary.Source",
        "EffectState": "ledger.vocabulary.EffectState",
        "GuardReason": "ledger.vocabulary.GuardReason",
        "ErasureState": "retention.vocabulary.RequestState",
    },
    # The pages of the description come from here too: nothing is loaded from elsewhere.
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "list", "displayRequestDuration": True},
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "config.api.schema.name_problems",
    ],
}
