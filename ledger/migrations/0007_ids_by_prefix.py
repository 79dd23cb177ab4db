"""Ids of the processor by how they begin: the range operators need an index in the order of bytes."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

BYTES = ["varchar_pattern_ops"]

# model, column, index, condition; each serves equality as the one before it did.
REPLACED = (
    ("tooleffect", "external_ref", "effect_external_ref", ~Q(external_ref="")),
    ("compensation", "external_ref", "compensation_external_ref", ~Q(external_ref="")),
    ("dispute", "external_ref", "dispute_external_ref", None),
    ("contradiction", "reference", "contradiction_reference", ~Q(reference="")),
)


def replace(
    model: str, column: str, name: str, condition: Q | None
) -> list[AddIndexConcurrently | RemoveIndexConcurrently]:
    index = models.Index(fields=[column], name=name, condition=condition, opclasses=BYTES)
    return [RemoveIndexConcurrently(model, name), AddIndexConcurrently(model, index)]


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("ledger", "0006_late_evidence_of_refunds")]

    operations = [
        AddIndexConcurrently(
            "effectreference",
            models.Index(fields=["reference"], name="reference_prefix", opclasses=BYTES),
        ),
        AddIndexConcurrently(
            "webhookevent",
            models.Index(fields=["event_id"], name="webhook_event_prefix", opclasses=BYTES),
        ),
        *[operation for row in REPLACED for operation in replace(*row)],
    ]
