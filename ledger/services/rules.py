"""By-argument rules: when a tool touches the world only with some of its arguments.

A rule is a list of conditions, all of which must hold for a call to be effectful. Whatever
cannot be judged (a missing argument, a value of another kind) counts as holding: to pause
for nothing is the cheaper error.
"""

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from conversations.canonical_json import JsonValue, canonical_bytes, parse_value
from conversations.errors import StoreError
from ledger.services.arguments import is_missing, normalized, value_at


class Comparison(StrEnum):
    EQUAL = "equal"
    NOT_EQUAL = "not_equal"
    ONE_OF = "one_of"
    GREATER = "greater"
    LESS = "less"
    PRESENT = "present"
    ABSENT = "absent"


def is_effectful(arguments: JsonValue, rule: Sequence[Mapping[str, Any]]) -> bool:
    return all(_holds(arguments, condition) for condition in rule)


def check_rule(rule: object) -> None:
    """Refuse a rule that says nothing or cannot be read, naming the condition."""
    if not isinstance(rule, list) or not rule:
        raise StoreError("rule-empty", "a tool that is effectful by rule needs at least one condition")
    for number, condition in enumerate(rule, 1):
        place = f"condition {number}"
        if not isinstance(condition, dict) or not condition.keys() <= {"path", "is", "value"}:
            raise StoreError("rule-unreadable", "a condition has path, is and value", place=place)
        if not isinstance(condition.get("path"), str) or not condition["path"]:
            raise StoreError("rule-without-path", "the condition names no argument", place=place)
        if condition.get("is") not in list(Comparison):
            known = ", ".join(Comparison)
            raise StoreError("rule-comparison-unknown", f"the comparisons are {known}", place=place)
        if condition["is"] not in (Comparison.PRESENT, Comparison.ABSENT) and "value" not in condition:
            raise StoreError("rule-without-value", "the comparison needs a value", place=place)
        if condition["is"] == Comparison.ONE_OF and not isinstance(condition["value"], list):
            raise StoreError("rule-without-value", "one_of needs a list of values", place=place)


def _holds(arguments: JsonValue, condition: Mapping[str, Any]) -> bool:
    value = value_at(arguments, condition["path"])
    comparison = condition["is"]
    if comparison == Comparison.PRESENT:
        return not is_missing(value)
    if comparison == Comparison.ABSENT:
        return is_missing(value)
    if is_missing(value):
        return True
    expected = condition["value"]
    if comparison in (Comparison.GREATER, Comparison.LESS):
        return _is_ordered(value, expected, comparison)
    if comparison == Comparison.ONE_OF:
        return any(_is_same(value, item) for item in expected)
    return _is_same(value, expected) == (comparison == Comparison.EQUAL)


def _is_same(value: Any, expected: object) -> bool:
    # A rule's numbers were read by Django as floats; their shortest spelling is what was written.
    written = parse_value(json.dumps(expected).encode())
    return canonical_bytes(value) == canonical_bytes(normalized(written))


def _is_ordered(value: object, expected: object, comparison: str) -> bool:
    if isinstance(value, bool) or not isinstance(value, int) or not isinstance(expected, int):
        return True
    return value > expected if comparison == Comparison.GREATER else value < expected
