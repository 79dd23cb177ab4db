"""What a tool may do, in the words of the form that changes it: for those who may only read it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django import forms

from console.finance.forms import PolicyForm
from ledger.models import ToolPolicy, ToolPolicyChange
from ledger.services.policies import changes_of


@dataclass(frozen=True, slots=True)
class Told:
    """One save of a policy, and what it changed: setting, words before, words after."""

    change: ToolPolicyChange
    settings: list[tuple[str, str, str]]


def settings_of(policy: ToolPolicy) -> list[tuple[str, str]]:
    """Return the settings that say something, in the order of the form."""
    told = ((_label(name), _words(name, getattr(policy, name))) for name in PolicyForm.base_fields)
    return [(label, words) for label, words in told if words]


def told_changes(policy: ToolPolicy) -> list[Told]:
    """Return the log of a policy, newest first. What stayed empty is no change."""
    return [Told(change, list(_told(fields))) for change, fields in changes_of(policy)]


def _told(fields: Mapping[str, tuple[Any, Any]]) -> Iterator[tuple[str, str, str]]:
    for name in PolicyForm.base_fields:
        before, after = (_words(name, value) for value in fields.get(name, (None, None)))
        if before != after:
            yield _label(name), before, after


def _label(name: str) -> str:
    return str(PolicyForm.base_fields[name].label)


def _words(name: str, value: Any) -> str:
    field = PolicyForm.base_fields[name]
    if isinstance(field, forms.ChoiceField):
        choices = cast("Iterable[tuple[str, str]]", field.choices)
        return dict(choices).get(value, str(value or ""))
    if isinstance(value, list):
        return json.dumps(value, ensure_ascii=False) if value else ""
    return str(value or "")
