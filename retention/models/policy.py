"""Policies: how long each kind of data stays, for whom, from when. Append-only."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from access.models import Realm
from retention.vocabulary import ACTIONS_OF, DataClass, PolicyAction, PolicyScope


class RetentionPolicy(models.Model):
    """One rule of one layer, in force from `effective_from` until a later one of the same layer.

    Never changed: a change is a new row, so that the history says who set what.
    `account_id` is no key, because the history outlives the account.
    """

    id = models.BigAutoField(primary_key=True)
    data_class = models.CharField(max_length=20, choices=DataClass)
    scope = models.CharField(max_length=8, choices=PolicyScope)
    realm = models.ForeignKey(Realm, models.DO_NOTHING, null=True, blank=True, related_name="+")
    account_id = models.UUIDField(null=True, blank=True)
    action = models.CharField(max_length=8, choices=PolicyAction)
    days = models.IntegerField(null=True, blank=True, help_text="Since the last activity; none for keep.")
    floor_days = models.IntegerField(null=True, blank=True, help_text="No narrower layer goes below this.")
    ceiling_days = models.IntegerField(null=True, blank=True, help_text="No narrower layer goes above this.")
    effective_from = models.DateTimeField()
    set_at = models.DateTimeField()
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.DO_NOTHING, null=True, related_name="+", help_text="None: shipped."
    )

    class Meta:
        verbose_name_plural = "retention policies"
        constraints = [
            models.CheckConstraint(
                condition=Q(scope="default", realm__isnull=True, account_id__isnull=True)
                | Q(scope="realm", realm__isnull=False, account_id__isnull=True)
                | Q(scope="account", realm__isnull=False, account_id__isnull=False),
                name="retention_policy_scope_names_its_layer",
            ),
            models.CheckConstraint(
                condition=Q(
                    *[
                        Q(data_class=data_class, action__in=sorted(actions))
                        for data_class, actions in ACTIONS_OF.items()
                    ],
                    Q(data_class__in=DataClass.values, action="keep"),
                    Q(data_class__in=DataClass.values, action="inherit") & ~Q(scope="default"),
                    _connector="OR",
                ),
                name="retention_policy_action_fits_the_class",
            ),
            models.CheckConstraint(
                condition=Q(action__in=["keep", "inherit"], days__isnull=True)
                | Q(action__in=["purge", "strip", "archive"], days__isnull=False, days__gte=1),
                name="retention_policy_days_of_an_action",
            ),
            models.CheckConstraint(
                condition=(Q(floor_days__isnull=True) | Q(floor_days__gte=1))
                & (Q(ceiling_days__isnull=True) | Q(ceiling_days__gte=1))
                & (Q(floor_days__isnull=True) | Q(days__isnull=True) | Q(days__gte=F("floor_days")))
                & (Q(ceiling_days__isnull=True) | Q(days__isnull=False, days__lte=F("ceiling_days"))),
                name="retention_policy_within_its_own_bounds",
            ),
            models.CheckConstraint(
                condition=~Q(scope="account") | Q(floor_days__isnull=True, ceiling_days__isnull=True),
                name="retention_policy_an_account_bounds_nobody",
            ),
        ]
        indexes = [
            # The rules in force, and the history of one class.
            models.Index(fields=["data_class", "-effective_from", "-id"], name="policy_in_force"),
        ]

    def __str__(self) -> str:
        return f"{self.data_class} {self.scope} {self.action} {self.days}"
