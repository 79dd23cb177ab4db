"""No model, no column of words, no storage without a rule for erasure."""

import pytest
from django.apps import apps
from django.conf import settings

from retention.erasure.job import STEPS
from retention.erasure.rules import RULES, STORAGES, Fate

WORDS = ("TextField", "CharField", "JSONField", "BinaryField", "EmailField", "FileField", "SlugField")
OF_TESTS = ("samples",)


def models():
    return [model for model in apps.get_models() if model._meta.app_label not in OF_TESTS]


def test_every_model_has_a_rule_and_no_rule_lacks_its_model():
    assert {model._meta.label for model in models()} == set(RULES)


@pytest.mark.parametrize("model", models(), ids=lambda model: model._meta.label)
def test_every_column_that_can_hold_words_is_named(model):
    columns = {
        field.name
        for field in model._meta.local_fields
        if (field.get_internal_type() in (*WORDS, "GenericIPAddressField") or field.generated)
        and not field.choices
        and not field.is_relation
        and field.get_internal_type() not in ("BigAutoField", "AutoField", "IntegerField")
    }
    generated = {field.name for field in model._meta.local_fields if field.generated}

    assert columns - generated <= set(RULES[model._meta.label].texts)
    assert set(RULES[model._meta.label].texts) <= {field.name for field in model._meta.local_fields}


def test_every_storage_has_a_rule():
    assert set(settings.STORAGES) == set(STORAGES)


def test_what_is_erased_names_the_step_that_does_it():
    steps = {step.name for step in STEPS} | {"receipt"}

    assert {rule.step for rule in RULES.values() if rule.fate == Fate.ERASED} <= steps


def test_what_is_kept_says_on_which_ground():
    assert [label for label, rule in RULES.items() if rule.fate == Fate.KEPT and not rule.ground] == []
