"""What staff may do, and which role may do it. Each view and action names the right that it checks.

The roles are groups, made by migration; a company may give a group more or
less in the admin.
"""

from django.db.models import TextChoices


class RightName(TextChoices):
    """Codenames of permissions in `access`; `has_perm("access.<name>")` checks one."""

    READ_CONVERSATIONS = "read_conversations", "Can see conversations without their texts"
    READ_BODIES = "read_bodies", "Can read what was said, for a stated reason"
    READ_BODIES_FREELY = "read_bodies_freely", "Can read what was said without stating a reason"
    READ_RAW = "read_raw", "Can see raw payloads and replay bodies"
    REVEAL_PERSONAL = "reveal_personal", "Can reveal masked personal details"
    EXPORT = "export", "Can export lists and conversations"
    WRITE_NOTES = "write_notes", "Can write notes on a conversation"
    READ_COSTS = "read_costs", "Can see costs"
    READ_TOOLS = "read_tools", "Can see tool statistics"
    READ_EFFECTS = "read_effects", "Can see effects and what the processor says of them"
    EDIT_TOOLS = "edit_tools", "Can edit the tool registry"
    ANSWER_QUESTIONS = "answer_questions", "Can allow or refuse a call that the guard asks about"
    REQUEST_COMPENSATION = "request_compensation", "Can ask for a refund"
    APPROVE_COMPENSATION = "approve_compensation", "Can approve a refund that another asked for"
    REPROCESS_EVENTS = "reprocess_events", "Can work on a processor's event again"
    RECONCILE = "reconcile", "Can import statements and run a reconciliation"
    RESOLVE_FINDINGS = "resolve_findings", "Can assign and resolve findings"
    READ_RETENTION = "read_retention", "Can see policies, holds and erasure requests"
    EDIT_POLICIES = "edit_policies", "Can change retention policies"
    PLACE_HOLDS = "place_holds", "Can place a legal hold and ask for its release"
    RELEASE_HOLDS = "release_holds", "Can approve the release that another asked for"
    HANDLE_ERASURES = "handle_erasures", "Can take in and run erasure requests"
    APPROVE_ERASURES = "approve_erasures", "Can approve an erasure that another prepared"
    EXPORT_PERSON = "export_person", "Can export a person's data"
    READ_ACCESS_LOG = "read_access_log", "Can read the access log"
    MANAGE_STAFF = "manage_staff", "Can give staff roles and realms"
    MANAGE_KEYS = "manage_keys", "Can make and revoke API keys"
    START_JOBS = "start_jobs", "Can start jobs"
    STOP_JOBS = "stop_jobs", "Can stop and resume jobs"
    READ_JOBS = "read_jobs", "Can see jobs"


# Who holds one of these signs in with a second factor, where the setting asks for it: what was
# said is read with them, money moved, people erased, or rights given.
NEEDS_SECOND_FACTOR = (
    RightName.READ_BODIES,
    RightName.READ_BODIES_FREELY,
    RightName.READ_RAW,
    RightName.REVEAL_PERSONAL,
    RightName.ANSWER_QUESTIONS,
    RightName.REQUEST_COMPENSATION,
    RightName.APPROVE_COMPENSATION,
    RightName.EDIT_POLICIES,
    RightName.HANDLE_ERASURES,
    RightName.APPROVE_ERASURES,
    RightName.EXPORT,
    RightName.EXPORT_PERSON,
    RightName.MANAGE_STAFF,
    RightName.MANAGE_KEYS,
)


class RoleName(TextChoices):
    """The names of the groups."""

    SUPPORT = "support"
    FINANCE = "finance"
    FINANCE_APPROVER = "finance_approver"
    PRIVACY_OFFICER = "privacy_officer"
    AUDITOR = "auditor"
    ADMINISTRATOR = "administrator"


_SUPPORT = frozenset(
    {
        RightName.READ_CONVERSATIONS,
        RightName.READ_BODIES,
        RightName.REVEAL_PERSONAL,
        RightName.WRITE_NOTES,
        RightName.READ_EFFECTS,
        RightName.READ_TOOLS,
        RightName.ANSWER_QUESTIONS,
        RightName.REQUEST_COMPENSATION,
    }
)
_FINANCE = frozenset(
    {
        RightName.READ_CONVERSATIONS,
        RightName.READ_BODIES,
        RightName.READ_COSTS,
        RightName.READ_TOOLS,
        RightName.READ_EFFECTS,
        RightName.REQUEST_COMPENSATION,
        RightName.REPROCESS_EVENTS,
        RightName.RECONCILE,
        RightName.RESOLVE_FINDINGS,
        RightName.EXPORT,
        RightName.READ_JOBS,
        RightName.WRITE_NOTES,
    }
)

RIGHTS_OF_ROLE: dict[RoleName, frozenset[RightName]] = {
    RoleName.SUPPORT: _SUPPORT,
    RoleName.FINANCE: _FINANCE,
    RoleName.FINANCE_APPROVER: _FINANCE | {RightName.APPROVE_COMPENSATION},
    RoleName.PRIVACY_OFFICER: frozenset(
        {
            RightName.READ_CONVERSATIONS,
            RightName.READ_BODIES_FREELY,
            RightName.READ_BODIES,
            RightName.REVEAL_PERSONAL,
            RightName.READ_EFFECTS,
            RightName.READ_RETENTION,
            RightName.EDIT_POLICIES,
            RightName.PLACE_HOLDS,
            RightName.RELEASE_HOLDS,
            RightName.HANDLE_ERASURES,
            RightName.APPROVE_ERASURES,
            RightName.EXPORT_PERSON,
            RightName.EXPORT,
            RightName.READ_ACCESS_LOG,
            RightName.READ_JOBS,
            RightName.WRITE_NOTES,
        }
    ),
    RoleName.AUDITOR: frozenset(
        {
            RightName.READ_CONVERSATIONS,
            RightName.READ_BODIES,
            RightName.READ_RAW,
            RightName.READ_COSTS,
            RightName.READ_TOOLS,
            RightName.READ_EFFECTS,
            RightName.READ_RETENTION,
            RightName.READ_ACCESS_LOG,
            RightName.READ_JOBS,
            RightName.EXPORT,
        }
    ),
    RoleName.ADMINISTRATOR: frozenset(
        {
            RightName.READ_CONVERSATIONS,
            RightName.READ_BODIES,
            RightName.READ_RAW,
            RightName.READ_COSTS,
            RightName.READ_TOOLS,
            RightName.READ_EFFECTS,
            RightName.EDIT_TOOLS,
            RightName.READ_RETENTION,
            RightName.READ_ACCESS_LOG,
            RightName.MANAGE_STAFF,
            RightName.MANAGE_KEYS,
            RightName.START_JOBS,
            RightName.STOP_JOBS,
            RightName.READ_JOBS,
            RightName.REPROCESS_EVENTS,
        }
    ),
}
