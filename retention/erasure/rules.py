"""What an erasure does with each model and each store, in one list. A model without a rule fails a test.

`texts` names every column that can hold words, with what becomes of them:
GOES with its row, EMPTIED in place, OURS (our own words or settings, never a customer's), IDS
(ids and marks of systems: they lead to nobody once the account is gone).
"""

from dataclasses import dataclass, field
from enum import StrEnum


class Fate(StrEnum):
    ERASED = "erased"
    PSEUDONYMISED = "pseudonymised"
    KEPT = "kept"


class Text(StrEnum):
    GOES = "goes"
    EMPTIED = "emptied"
    OURS = "ours"
    IDS = "ids"


GOES, EMPTIED, OURS, IDS = Text.GOES, Text.EMPTIED, Text.OURS, Text.IDS


@dataclass(frozen=True, slots=True)
class Rule:
    """`step` is the step that carries it out; what is kept says on which ground."""

    fate: Fate
    step: str = ""
    ground: str = ""
    texts: dict[str, Text] = field(default_factory=dict)


def _erased(step: str, **texts: Text) -> Rule:
    return Rule(Fate.ERASED, step=step, texts=texts)


def _goes(step: str, *columns: str) -> Rule:
    return Rule(Fate.ERASED, step=step, texts=dict.fromkeys(columns, GOES))


def _money(**texts: Text) -> Rule:
    return Rule(Fate.PSEUDONYMISED, step="money", ground="bookkeeping", texts=texts)


def _kept(ground: str, *ours: str, **texts: Text) -> Rule:
    return Rule(Fate.KEPT, ground=ground, texts={**dict.fromkeys(ours, OURS), **texts})


_STAFF = "who works here, not who writes here"
_SYSTEM = "how the installation is set up"

RULES: dict[str, Rule] = {
    # What was said.
    "conversations.Account": _goes("accounts", "external_id", "label", "email"),
    "conversations.Conversation": _goes("conversations", "title", "external_ref", "parent_call_id"),
    "conversations.Message": _goes(
        "conversations", "provider_role", "shell", "path_digest", "client_message_id"
    ),
    "conversations.MessagePart": _goes(
        "conversations",
        "provider_type",
        "text",
        "payload",
        "shell",
        "media_type",
        "tool_call_id",
        "tool_name",
    ),
    "conversations.ToolCall": _goes("conversations", "call_id", "name", "error_code", "arguments"),
    "conversations.HeadMove": _goes("conversations", "moved_by_id"),
    "conversations.Generation": _goes(
        "conversations",
        "request_id",
        "provider",
        "api_version",
        "beta_headers",
        "requested_model",
        "served_model",
        "service_tier",
        "prompt_version",
        "stop_reason",
        "error_code",
        "error_message",
        "notes",
        "usage",
        "price_rule",
        "provider_response_id",
        "provider_request_id",
        "previous_response_id",
        "hosted_conversation_id",
        "body_sha256",
        "body_patch",
    ),
    "conversations.Exchange": _goes("conversations", "exchange_id"),
    "conversations.Summary": _goes("conversations", "text", "model", "prompt_version"),
    "conversations.Chunk": _goes("conversations", "sha256", "chunking_version"),
    "conversations.ConversationNote": _erased("words", text=EMPTIED, ticket=EMPTIED),
    "conversations.Archive": _goes("conversations", "storage_key", "sha256", "content_sha256"),
    "conversations.RawBody": _goes("raw_bodies", "sha256", "compressed", "place", "trouble"),
    "conversations.RedactionSwitch": _goes("accounts", "kinds"),
    "conversations.RedactionSpan": _goes("conversations"),
    "conversations.Fragment": _goes("leftovers", "sha256", "body"),
    "conversations.Blob": _goes("leftovers", "sha256", "media_type", "storage_key"),
    "conversations.ErasedSubject": _kept("recognised when they come back", digest=IDS),
    # What tools did. Money rows stay; the account's key is replaced by a pseudonym.
    "ledger.ToolEffect": _money(
        account_pseudonym=OURS,
        call_id=IDS,
        tool_name=OURS,
        idempotency_key=IDS,
        request_digest=IDS,
        processor=OURS,
        find_by=IDS,
        external_ref=IDS,
        currency=OURS,
        compensated_by=IDS,
    ),
    "ledger.EffectMove": _money(
        from_state=OURS, moved_by_id=IDS, evidence_ref=IDS, evidence_status=OURS, prev_state=OURS
    ),
    "ledger.EffectReference": _money(processor=OURS, reference=IDS),
    "ledger.EffectUse": _goes("conversations", "call_id"),
    "ledger.Compensation": _money(currency=OURS, idempotency_key=IDS, external_ref=IDS, failure_code=OURS),
    "ledger.CompensationNote": _erased("words", text=EMPTIED),
    "ledger.CompensationVersion": _money(external_ref=IDS),
    "ledger.Dispute": _money(
        processor=OURS, external_ref=IDS, charge_ref=IDS, status=OURS, reason=OURS, currency=OURS
    ),
    "ledger.DisputeVersion": _money(status=OURS, currency=OURS),
    "ledger.Contradiction": _money(processor=OURS, reference=IDS, status=OURS, currency=OURS),
    "ledger.GuardQuestion": _money(call_id=IDS, tool_name=OURS, request_digest=IDS),
    "ledger.WebhookEvent": _money(processor=OURS, event_id=IDS, type=OURS, object_ref=IDS, trouble=OURS),
    "ledger.Statement": _money(
        processor=OURS, name=OURS, sha256=IDS, zone=OURS, header=OURS, imported_by_id=IDS
    ),
    "ledger.StatementLine": _money(
        said_kind=OURS,
        reference=IDS,
        movement_ref=IDS,
        charge_ref=IDS,
        intent_ref=IDS,
        customer_ref=IDS,
        currency=OURS,
        key_mark=IDS,
        trouble=OURS,
    ),
    "ledger.Finding": _money(processor=OURS, subject=IDS, reference=IDS, currency=OURS, facts=IDS),
    "ledger.FindingEvent": _money(actor_id=IDS),
    "ledger.FindingComment": _erased("words", text=EMPTIED),
    "ledger.Sighting": _money(subject=IDS, reference=IDS, currency=OURS, facts=IDS),
    "ledger.RunRow": _money(
        reference=IDS, currency=OURS, ledger_currency=OURS, ledger_state=OURS, processor_state=OURS
    ),
    "ledger.RunInput": _money(sha256=IDS),
    "ledger.ReconciliationRun": _money(
        processor=OURS, policy=OURS, requested_by_id=IDS, report=IDS, report_sha256=IDS
    ),
    "ledger.MatchDecision": _money(processor=OURS, reference=IDS),
    "ledger.Alert": _erased("job_runs", about=IDS, payload=EMPTIED, trouble=EMPTIED),
    "ledger.ReconciliationPolicy": _kept(_SYSTEM),
    "ledger.ToolPolicy": _kept(_SYSTEM, "name", "rule", "processor", "amount_path", "currency_path"),
    "ledger.ToolPolicyChange": _kept(_SYSTEM, "before", "after"),
    # What must stay and what must go.
    "retention.ArchiveReturn": _goes("conversations"),
    "retention.DoomedFile": _goes("leftovers", "storage_key"),
    "retention.ErasureRequest": _kept("proof", "number", "pseudonym", "preview"),
    "retention.ErasureIdentifier": _erased("receipt", value=EMPTIED, digest=IDS),
    "retention.ErasureNote": _erased("words", text=EMPTIED),
    "retention.ErasureAccount": _kept("proof"),
    "retention.ErasureStep": _kept("proof", "name", "erased", "pseudonymised", "kept", "cause"),
    "retention.ErasureReceipt": _kept("proof", "body", "signature", "key_mark"),
    "retention.HostedCopy": _kept("until the provider has answered", "provider", "kind", reference=IDS),
    "retention.LegalHold": _kept("the law's own ground", "matter"),
    "retention.HoldEvent": _kept("the law's own ground"),
    "retention.HoldNote": _erased("words", text=EMPTIED),
    "retention.RetentionPolicy": _kept(_SYSTEM),
    "retention.GenerationRollup": _kept(
        "totals hold no person", "latency", "first_token", "provider", "model", "prompt_version"
    ),
    "retention.ToolRollup": _kept("totals hold no person", "latency", "tool"),
    # Who looked at what.
    "access.AccessEntry": Rule(
        Fate.PSEUDONYMISED,
        step="accounts",
        ground="accountability",
        texts={"actor_id": IDS, "target_id": IDS, "address": OURS},
    ),
    "access.StatedReason": _erased("words", ticket=EMPTIED, words=EMPTIED),
    "access.StoredAnswer": _erased(
        "accounts", idempotency_key=GOES, headers=GOES, body=GOES, request_digest=IDS
    ),
    "access.ApiKey": _kept(
        _SYSTEM, "application", "hint", "scopes", "secret_digest", created_by_id=IDS, revoked_by_id=IDS
    ),
    "access.LogFloor": _kept(_SYSTEM),
    "access.Realm": _kept(_SYSTEM, "slug", "name"),
    "access.Right": _kept(_SYSTEM),
    "access.StaffMember": _kept(_STAFF),
    "access.StaffRealm": _kept(_STAFF),
    "jobs.JobRun": Rule(
        Fate.ERASED,
        step="job_runs",
        texts={
            "kind": OURS,
            "scope": IDS,
            "parameters": EMPTIED,
            "requested_by_kind": OURS,
            "requested_by_id": IDS,
            "reason": EMPTIED,
            "cursor": IDS,
            "unit": OURS,
            "counts": OURS,
            "report": EMPTIED,
            "error_code": OURS,
            "error": EMPTIED,
            "error_place": EMPTIED,
        },
    ),
    "admin.LogEntry": _erased("admin_log", object_id=IDS, object_repr=EMPTIED, change_message=EMPTIED),
    "auth.User": _kept(_STAFF, "password", "username", "first_name", "last_name", "email"),
    "auth.Group": _kept(_SYSTEM, "name"),
    "auth.Permission": _kept(_SYSTEM, "name", "codename"),
    "contenttypes.ContentType": _kept(_SYSTEM, "app_label", "model"),
    "sessions.Session": _kept(_STAFF, "session_key", "session_data"),
    "otp_static.StaticDevice": _kept(_STAFF, "name"),
    "otp_static.StaticToken": _kept(_STAFF, "token"),
    "otp_totp.TOTPDevice": _kept(_STAFF, "name", "key"),
    "axes.AccessAttempt": _goes(
        "admin_log",
        "user_agent",
        "ip_address",
        "username",
        "http_accept",
        "path_info",
        "get_data",
        "post_data",
    ),
    "axes.AccessAttemptExpiration": _goes("admin_log"),
    "axes.AccessFailureLog": _kept(
        _STAFF, "user_agent", "ip_address", "username", "http_accept", "path_info"
    ),
    "axes.AccessLog": _kept(
        _STAFF, "user_agent", "ip_address", "username", "http_accept", "path_info", "session_hash"
    ),
}

STORAGES: dict[str, Rule] = {
    "blobs": _goes("leftovers"),
    "default": _kept("the console's own files"),
    "staticfiles": _kept("the console's own files"),
}
