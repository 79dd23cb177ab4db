"""Statements and runs are found by digest and by name; effects and the processor's ids by their end too."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Cast, Right


def by_end(model: str, column: str, name: str, *, condition: models.Q | None = None) -> AddIndexConcurrently:
    end = Right(Cast(column, models.TextField()), 6)
    return AddIndexConcurrently(model, models.Index(end, name=name, condition=condition))


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ledger", "0012_duplicate_charge")]

    operations = [
        by_end("tooleffect", "id", "effect_end"),
        by_end("effectreference", "reference", "reference_end"),
        by_end("compensation", "external_ref", "compensation_ref_end", condition=~models.Q(external_ref="")),
        by_end("dispute", "external_ref", "dispute_end"),
        by_end("statement", "id", "statement_end"),
        by_end("reconciliationrun", "id", "reconciliation_end"),
        AddIndexConcurrently(
            "statement",
            models.Index(fields=["name"], name="statement_name", opclasses=["varchar_pattern_ops"]),
        ),
        AddIndexConcurrently("statement", models.Index(fields=["sha256"], name="statement_sha256")),
        AddIndexConcurrently(
            "reconciliationrun",
            models.Index(
                fields=["report_sha256"],
                name="reconciliation_sha256",
                condition=models.Q(report_sha256__isnull=False),
            ),
        ),
    ]
