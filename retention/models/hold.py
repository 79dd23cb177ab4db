"""Legal holds: what must not go, whatever a policy says. An open dispute is one too, without a row here."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.models import ApiKey
from conversations.ends import end_of
from retention.vocabulary import HoldStep, HoldTarget


class LegalHold(models.Model):
    """One hold on an account, a conversation or an effect; two people release it.

    An application may place one and ask for its release; a person, and not the one who made
    the application's key, approves. No key ever releases.
    An effect's hold also names the effect's conversation, which stays with it.
    The ids are no keys: the history outlives what was held. Triggers in
    `0002_hold_rules` refuse whatever would take away what an open hold names.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    target_kind = models.CharField(max_length=12, choices=HoldTarget)
    account_id = models.UUIDField(null=True)
    conversation_id = models.UUIDField(null=True)
    effect_id = models.UUIDField(null=True)
    matter = models.CharField(max_length=64, help_text="The case this is for: a number, no name.")
    placed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+")
    placed_by_key = models.ForeignKey(ApiKey, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    placed_at = models.DateTimeField()
    release_requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+"
    )
    release_requested_by_key = models.ForeignKey(
        ApiKey, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    release_requested_at = models.DateTimeField(null=True)
    released_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+")
    released_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    target_kind="account",
                    account_id__isnull=False,
                    conversation_id__isnull=True,
                    effect_id__isnull=True,
                )
                | Q(
                    target_kind="conversation",
                    account_id__isnull=True,
                    conversation_id__isnull=False,
                    effect_id__isnull=True,
                )
                | Q(
                    target_kind="effect",
                    account_id__isnull=True,
                    conversation_id__isnull=False,
                    effect_id__isnull=False,
                ),
                name="retention_hold_names_its_target",
            ),
            models.CheckConstraint(condition=~Q(matter=""), name="retention_hold_has_a_matter"),
            models.CheckConstraint(
                condition=Q(placed_by__isnull=False, placed_by_key__isnull=True)
                | Q(placed_by__isnull=True, placed_by_key__isnull=False),
                name="retention_hold_placed_by_one",
            ),
            models.CheckConstraint(
                condition=Q(
                    release_requested_by__isnull=True,
                    release_requested_by_key__isnull=True,
                    release_requested_at__isnull=True,
                )
                | Q(
                    release_requested_by__isnull=False,
                    release_requested_by_key__isnull=True,
                    release_requested_at__isnull=False,
                )
                | Q(
                    release_requested_by__isnull=True,
                    release_requested_by_key__isnull=False,
                    release_requested_at__isnull=False,
                ),
                name="retention_hold_request_is_somebodys",
            ),
            models.CheckConstraint(
                condition=Q(released_at__isnull=True, released_by__isnull=True)
                | Q(released_at__isnull=False, released_by__isnull=False, release_requested_at__isnull=False),
                name="retention_hold_release_was_asked_for",
            ),
            models.CheckConstraint(
                condition=Q(released_by__isnull=True) | ~Q(released_by=F("release_requested_by")),
                name="retention_hold_released_by_two_people",
            ),
        ]
        indexes = [
            # Every destructive path asks these two, and so do the triggers.
            models.Index(
                fields=["conversation_id"],
                name="hold_conversation",
                condition=Q(released_at__isnull=True, conversation_id__isnull=False),
            ),
            models.Index(
                fields=["account_id"],
                name="hold_account",
                condition=Q(released_at__isnull=True, account_id__isnull=False),
            ),
            # The page of holds: newest first, by key.
            models.Index(fields=["-placed_at", "-id"], name="hold_placed"),
            # The search box: a hold by its matter, and by its id's end.
            models.Index(fields=["matter"], name="hold_matter", opclasses=["varchar_pattern_ops"]),
            models.Index(end_of("id"), name="hold_end"),
        ]

    def __str__(self) -> str:
        return f"{self.matter}: {self.target_kind}"

    @property
    def is_open(self) -> bool:
        return self.released_at is None


class HoldEvent(models.Model):
    """One line of a hold's history. Append-only; ids, times and closed choices, never words."""

    id = models.BigAutoField(primary_key=True)
    hold = models.ForeignKey(LegalHold, models.DO_NOTHING, related_name="events")
    step = models.CharField(max_length=18, choices=HoldStep)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    by_key = models.ForeignKey(ApiKey, models.DO_NOTHING, null=True, related_name="+", db_index=False)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(step__in=HoldStep.values), name="retention_holdevent_step_is_known"
            ),
            models.CheckConstraint(
                condition=Q(by__isnull=False, by_key__isnull=True)
                | Q(by__isnull=True, by_key__isnull=False, step__in=["placed", "release_requested"]),
                name="retention_holdevent_by_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.step} {self.hold_id}"


class HoldNote(models.Model):
    """What a person wrote when placing a hold or asking for its release. Erasure may empty it."""

    id = models.BigAutoField(primary_key=True)
    hold = models.ForeignKey(LegalHold, models.DO_NOTHING, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False)
    text = models.TextField(blank=True)
    written_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"note on hold {self.hold_id}"
