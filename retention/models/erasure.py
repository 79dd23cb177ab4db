"""Erasure requests: who asked, what was found, what was done step by step, and the proof of it."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.db.models import F, Q

from access.models import ApiKey, Realm
from conversations.ends import end_of
from retention.vocabulary import (
    CopyState,
    IdentifierKind,
    IdentityCheck,
    RequestOrigin,
    RequestState,
    StepState,
)


class ErasureRequest(models.Model):
    """One request to erase a person: at the desk, by an application, or again after a restore.

    One that an application took in passes through the hands of two people as well: who checked
    the identity does not approve it.
    What the person is called stands in ErasureIdentifier and is emptied when the
    request is done; this row holds ids, times, counts and closed choices.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    number = models.CharField(max_length=16, help_text="As people say it: ER-2026-0117.")
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+")
    origin = models.CharField(max_length=12, choices=RequestOrigin)
    state = models.CharField(max_length=12, choices=RequestState)
    received_at = models.DateTimeField()
    due_at = models.DateTimeField()
    extended_at = models.DateTimeField(null=True, help_text="The clock is extended once.")
    taken_in_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    taken_in_by_key = models.ForeignKey(
        ApiKey, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    identity_check = models.CharField(max_length=16, choices=IdentityCheck, blank=True)
    identity_checked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    identity_checked_at = models.DateTimeField(null=True)
    preview = models.JSONField(null=True, encoder=DjangoJSONEncoder, help_text="Counts by store and group.")
    previewed_at = models.DateTimeField(null=True)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    approved_at = models.DateTimeField(null=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    pseudonym = models.CharField(max_length=32, help_text="What stands for the person in money rows.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["number"], name="retention_erasure_number_once"),
            models.CheckConstraint(
                condition=Q(state__in=RequestState.values), name="retention_erasure_state_is_known"
            ),
            models.CheckConstraint(
                condition=Q(approved_by__isnull=True)
                | Q(~Q(approved_by=F("taken_in_by")), taken_in_by_key__isnull=True)
                | Q(~Q(approved_by=F("identity_checked_by")), taken_in_by_key__isnull=False),
                name="retention_erasure_two_people",
            ),
            models.CheckConstraint(
                condition=Q(origin="restored")
                | Q(state__in=["intake", "identified", "previewed", "withdrawn"])
                | Q(
                    approved_by__isnull=False,
                    approved_at__isnull=False,
                    identity_checked_at__isnull=False,
                    previewed_at__isnull=False,
                ),
                name="retention_erasure_approved_before_it_runs",
            ),
            models.CheckConstraint(
                condition=Q(origin="desk", taken_in_by__isnull=False, taken_in_by_key__isnull=True)
                | Q(origin="application", taken_in_by__isnull=True, taken_in_by_key__isnull=False)
                | Q(origin="restored"),
                name="retention_erasure_taken_in_by_one",
            ),
            models.CheckConstraint(
                condition=Q(due_at__gt=F("received_at")), name="retention_erasure_due_after_it_came"
            ),
        ]
        indexes = [
            # The desk: what is open, by the day it is due.
            models.Index(fields=["due_at"], name="erasure_open", condition=Q(finished_at__isnull=True)),
            # The list: newest first, by key.
            models.Index(fields=["-received_at", "-id"], name="erasure_received"),
            # The search box: from what stands for a person to their request, and by its id's end.
            models.Index(fields=["pseudonym"], name="erasure_pseudonym"),
            models.Index(end_of("id"), name="erasure_end"),
        ]

    def __str__(self) -> str:
        return self.number

    @property
    def is_open(self) -> bool:
        return self.finished_at is None


class ErasureIdentifier(models.Model):
    """One name by which the person is found. Its value is emptied with the receipt; the digest stays."""

    id = models.BigAutoField(primary_key=True)
    request = models.ForeignKey(ErasureRequest, models.DO_NOTHING, related_name="identifiers")
    kind = models.CharField(max_length=12, choices=IdentifierKind)
    value = models.TextField(blank=True)
    digest = models.BinaryField(max_length=32)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request", "kind", "digest"], name="retention_erasureidentifier_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.request_id}"


class ErasureAccount(models.Model):
    """An account that is the person's. No key: it outlives the account."""

    id = models.BigAutoField(primary_key=True)
    request = models.ForeignKey(ErasureRequest, models.DO_NOTHING, related_name="accounts")
    account_id = models.UUIDField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "account_id"], name="retention_erasureaccount_once"),
        ]
        indexes = [
            # The account's page: is there a request for it?
            models.Index(fields=["account_id"], name="erasure_account"),
        ]

    def __str__(self) -> str:
        return str(self.account_id)


class ErasureNote(models.Model):
    """What staff wrote about a request: how identity was checked, why it takes longer. Emptied at its end."""

    id = models.BigAutoField(primary_key=True)
    request = models.ForeignKey(ErasureRequest, models.DO_NOTHING, related_name="notes")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.DO_NOTHING, related_name="+", db_index=False)
    text = models.TextField(blank=True)
    written_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"note on {self.request_id}"


class ErasureStep(models.Model):
    """What one step did, store by store: counts, a cause where it did not do all, never content."""

    id = models.BigAutoField(primary_key=True)
    request = models.ForeignKey(ErasureRequest, models.DO_NOTHING, related_name="steps")
    place = models.SmallIntegerField()
    name = models.CharField(max_length=32)
    state = models.CharField(max_length=10, choices=StepState)
    erased = models.JSONField(default=dict, help_text="Rows that went or lost their words, by store.")
    pseudonymised = models.JSONField(default=dict)
    kept = models.JSONField(default=dict)
    cause = models.CharField(max_length=500, blank=True)
    attempts = models.SmallIntegerField(default=0)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["request", "place"], name="retention_erasurestep_once"),
            models.CheckConstraint(
                condition=Q(state__in=StepState.values), name="retention_erasurestep_state_is_known"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=["skipped", "failed"]) | ~Q(cause=""),
                name="retention_erasurestep_says_why",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of {self.request_id}"


class HostedCopy(models.Model):
    """A copy that lies with a provider, which only its own people can delete."""

    id = models.BigAutoField(primary_key=True)
    request = models.ForeignKey(ErasureRequest, models.DO_NOTHING, related_name="hosted_copies")
    provider = models.CharField(max_length=32)
    kind = models.CharField(max_length=16)
    reference = models.CharField(max_length=255)
    state = models.CharField(max_length=12, choices=CopyState, default=CopyState.REQUESTED)
    requested_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", db_index=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["request", "provider", "kind", "reference"], name="retention_hostedcopy_once"
            ),
            models.CheckConstraint(
                condition=Q(state="requested", confirmed_at__isnull=True)
                | Q(
                    state__in=["confirmed", "refused"], confirmed_at__isnull=False, confirmed_by__isnull=False
                ),
                name="retention_hostedcopy_answer_has_a_person",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} at {self.provider}"


class ErasureReceipt(models.Model):
    """The proof: counts, times and keyed digests, signed. Append-only."""

    request = models.OneToOneField(
        ErasureRequest, models.DO_NOTHING, primary_key=True, related_name="receipt"
    )
    body = models.TextField(help_text="Canonical JSON; exactly these bytes are signed.")
    signature = models.CharField(max_length=64)
    key_mark = models.CharField(max_length=16, help_text="Which key signed, without saying the key.")
    made_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"receipt of {self.request_id}"
