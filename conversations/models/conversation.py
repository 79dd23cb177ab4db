"""A conversation, and the log of what its customer saw."""

from django.db import models
from django.db.models import Q

from access.actors import ActorKind
from conversations.ends import end_of
from conversations.models.account import Account
from conversations.vocabulary import HeadMoveReason, ReplayObstacle, Source
from conversations.writing_order import NextInOrder


class Conversation(models.Model):
    """The root of a tree of messages, and its counters.

    `head_seq` is the leaf that the customer sees; it moves only together with a
    line in the head log, which the database checks at commit. `next_seq` and
    `next_generation` are taken in the transaction that writes the row.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    account = models.ForeignKey(Account, models.DB_CASCADE, related_name="conversations")
    title = models.TextField(blank=True)
    source = models.CharField(max_length=16, choices=Source)
    external_ref = models.CharField(
        max_length=255, blank=True, help_text="The source's own key, if it has one."
    )
    parent_call_id = models.CharField(
        max_length=255,
        blank=True,
        help_text="The call that this conversation was opened for (a sub-agent's).",
    )
    head_seq = models.IntegerField(null=True, blank=True)
    head_move = models.IntegerField(null=True, blank=True)
    next_seq = models.IntegerField(default=1, db_default=1)
    next_generation = models.IntegerField(default=1, db_default=1)
    has_fork = models.BooleanField(
        default=False, db_default=False, help_text="Once true, for ever; two roots are a fork."
    )
    replay_obstacle = models.CharField(
        max_length=20, choices=ReplayObstacle, blank=True, default="", db_default=""
    )
    started_at = models.DateTimeField(null=True, blank=True, help_text="The source's time; may be unknown.")
    created_at = models.DateTimeField()
    last_activity_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(head_seq__isnull=True, head_move__isnull=True)
                | Q(head_seq__isnull=False, head_move__isnull=False),
                name="conversations_conversation_head_is_logged",
            ),
            models.CheckConstraint(
                condition=Q(next_seq__gte=1, next_generation__gte=1),
                name="conversations_conversation_counters_from_one",
            ),
            models.CheckConstraint(
                condition=Q(source__in=Source.values), name="conversations_conversation_source_is_known"
            ),
            models.CheckConstraint(
                condition=Q(replay_obstacle__in=["", *ReplayObstacle.values]),
                name="conversations_conversation_obstacle_is_known",
            ),
            models.UniqueConstraint(
                fields=["account", "external_ref"],
                condition=~Q(external_ref=""),
                name="conversations_conversation_external_ref_once",
            ),
        ]
        indexes = [
            # The list of conversations: newest activity first, by key.
            models.Index(fields=["-last_activity_at", "-id"], name="conversation_activity"),
            # An account's page, and erasure.
            models.Index(fields=["account", "-last_activity_at", "-id"], name="conversation_account"),
            # From a call to the conversation that it opened.
            models.Index(
                fields=["parent_call_id"],
                opclasses=["varchar_pattern_ops"],
                name="conversation_parent_call",
                condition=~Q(parent_call_id=""),
            ),
            # The search box: an export's own conversation id.
            models.Index(
                fields=["external_ref"],
                opclasses=["varchar_pattern_ops"],
                name="conversation_external",
                condition=~Q(external_ref=""),
            ),
            # The search box: the end that stands for a title which is withheld.
            models.Index(end_of("id"), name="conversation_end"),
        ]

    def __str__(self) -> str:
        return str(self.id)


class HeadMove(models.Model):
    """One move of a conversation's head: what the customer saw from then on.

    Written in the transaction that moves the head; never updated, and deleted
    only with its conversation. Holds ids, numbers, times and closed choices,
    never words.
    """

    pk = models.CompositePrimaryKey("conversation_id", "number")
    conversation = models.ForeignKey(
        Conversation, models.DB_CASCADE, related_name="head_moves", db_index=False
    )
    number = models.IntegerField(help_text="Counts from 1 within the conversation.")
    head_seq = models.IntegerField(help_text="No key to the message: the log outlives a purged branch.")
    moved_at = models.DateTimeField()
    moved_by_kind = models.CharField(max_length=16, choices=ActorKind)
    moved_by_id = models.CharField(max_length=64, blank=True, default="", db_default="")
    reason = models.CharField(max_length=16, choices=HeadMoveReason)
    written_order = models.BigIntegerField(db_default=NextInOrder(), editable=False)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(number__gte=1), name="conversations_headmove_number_counts_from_one"
            ),
            models.CheckConstraint(
                condition=Q(reason__in=HeadMoveReason.values), name="conversations_headmove_reason_is_known"
            ),
            models.CheckConstraint(
                condition=Q(moved_by_kind__in=ActorKind.values), name="conversations_headmove_actor_is_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.conversation_id} move {self.number} to {self.head_seq}"
