"""What stays of attempts and calls when their rows go: totals by day, sealed when they are written."""

from django.db import models

from access.models import Realm


class Rollup(models.Model):
    """What both kinds of sealed lines say: whose, which day, how many, how long it took.

    A line is written in the transaction that deletes the rows it counts, so that
    each attempt is either a row or in exactly one line. Rows that come later are
    further lines. Totals of a day are the sum of its lines and of its rows.
    """

    id = models.BigAutoField(primary_key=True)
    day = models.DateField()
    realm = models.ForeignKey(Realm, models.DO_NOTHING, related_name="+", db_index=False)
    account_id = models.UUIDField(help_text="No key: the line outlives its account.")
    number = models.IntegerField(help_text="How many rows it stands for.")
    failed = models.IntegerField()
    latency = models.JSONField(
        default=dict, help_text="Counts by bucket, eight to a doubling: they add up, averages do not."
    )
    sealed_at = models.DateTimeField()
    run_id = models.UUIDField(null=True, help_text="The job that sealed it.")

    class Meta:
        abstract = True


class GenerationRollup(Rollup):
    """Attempts of one day, account, provider, model and prompt version."""

    provider = models.CharField(max_length=32)
    model = models.CharField(max_length=255)
    prompt_version = models.CharField(max_length=64, blank=True)
    uncached_input_tokens = models.BigIntegerField()
    cache_read_tokens = models.BigIntegerField()
    cache_write_5m_tokens = models.BigIntegerField()
    cache_write_1h_tokens = models.BigIntegerField()
    output_tokens = models.BigIntegerField()
    reasoning_tokens = models.BigIntegerField()
    cost_usd = models.DecimalField(max_digits=24, decimal_places=9)
    failed_cost_usd = models.DecimalField(
        max_digits=24, decimal_places=9, default=0, db_default=0, help_text="Of the cost: of failed attempts."
    )
    cost_estimated = models.IntegerField(help_text="How many of them only have an estimate.")
    cost_unknown = models.IntegerField(help_text="How many of them have no cost at all.")
    first_token = models.JSONField(default=dict, help_text="As latency, until the first token.")

    class Meta:
        indexes = [
            # The cost pages and the purge of old lines: by day.
            models.Index(fields=["day"], name="generationrollup_day"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.model}"


class ToolRollup(Rollup):
    """Calls of one tool on one day by one account; `failed` counts those that ended in an error."""

    tool = models.CharField(max_length=255)
    unanswered = models.IntegerField()

    class Meta:
        indexes = [
            # The tools page and the purge of old lines: by day.
            models.Index(fields=["day"], name="toolrollup_day"),
        ]

    def __str__(self) -> str:
        return f"{self.day} {self.tool}"
