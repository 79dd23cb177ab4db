"""The policies in force, class by class and layer by layer, and what is coming."""

from dataclasses import dataclass
from datetime import datetime

from access.reach import Reach
from retention.layers import load_layers
from retention.models import RetentionPolicy
from retention.vocabulary import DataClass


@dataclass(frozen=True, slots=True)
class ClassOfData:
    """The rules of one class: in force, and set for later."""

    data_class: DataClass
    rules: list[RetentionPolicy]
    coming: list[RetentionPolicy]


def read_classes(*, now: datetime, reach: Reach) -> list[ClassOfData]:
    """Return every class with the rules that the reach may know of; two queries a class."""
    return [
        ClassOfData(
            data_class,
            [rule for rule in load_layers(data_class=data_class, now=now).every() if _is_within(rule, reach)],
            [
                rule
                for rule in RetentionPolicy.objects.filter(
                    data_class=data_class, effective_from__gt=now
                ).order_by("effective_from", "pk")
                if _is_within(rule, reach)
            ],
        )
        for data_class in DataClass
    ]


def history_within(reach: Reach) -> list[RetentionPolicy]:
    """Return the latest changes, newest first."""
    rows = RetentionPolicy.objects.select_related("set_by", "realm").order_by("-pk")[:200]
    return [rule for rule in rows if _is_within(rule, reach)]


def _is_within(rule: RetentionPolicy, reach: Reach) -> bool:
    return rule.realm_id is None or reach.holds(rule.realm_id)
