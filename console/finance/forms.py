"""Forms of the finance pages. Amounts are typed in major units and never pass through a float."""

import json
from typing import Any

from django import forms

from console.words import in_sentence_case
from conversations.currency import AmountError, major_text, typed_minor_units
from ledger.models import ToolPolicy
from ledger.vocabulary import (
    AmountUnit,
    CompensationReason,
    Effectful,
    KeyScope,
    Operation,
    ReplayPolicy,
)


class RefundForm(forms.Form):
    """Asks for a refund of a part or of all that is left of a charge."""

    amount = forms.CharField(label="Amount", max_length=24)
    reason = forms.ChoiceField(label="Reason", choices=in_sentence_case(CompensationReason.choices))
    note = forms.CharField(
        label="Note",
        max_length=2_000,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the request.",
    )

    def __init__(self, *args: Any, currency: str, left: int, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.currency, self.left = currency, left
        self.fields["amount"].label = f"Amount in {currency.upper()}"
        self.fields["amount"].help_text = f"At most {major_text(left, currency)}."
        self.fields["amount"].initial = major_text(left, currency)

    def clean_amount(self) -> int:
        try:
            minor = typed_minor_units(self.cleaned_data["amount"], self.currency)
        except AmountError as error:
            raise forms.ValidationError(str(error)) from error
        if minor <= 0:
            raise forms.ValidationError("A refund is of more than nothing.")
        if minor > self.left:
            most = major_text(self.left, self.currency)
            raise forms.ValidationError(f"At most {self.currency.upper()} {most} can still be refunded.")
        return minor


class DecisionForm(forms.Form):
    decision = forms.ChoiceField(choices=(("approve", "Approve"), ("refuse", "Refuse")))
    remark = forms.CharField(
        label="Remark", max_length=2_000, required=False, widget=forms.Textarea(attrs={"rows": 2})
    )


class PolicyForm(forms.Form):
    """What is known of one tool; the service has the last word on what goes together."""

    effectful = forms.ChoiceField(label="Touches the world", choices=in_sentence_case(Effectful.choices))
    rule = forms.CharField(
        label="Rule, where it depends on arguments",
        required=False,
        max_length=20_000,
        widget=forms.Textarea(attrs={"rows": 4, "spellcheck": "false"}),
        help_text='Conditions that must all hold: [{"path": "action", "is": "equal", "value": "buy"}]',
    )
    replay_policy = forms.ChoiceField(label="A re-run on another branch", choices=ReplayPolicy.choices)
    key_scope = forms.ChoiceField(
        label="Equal calls are one operation by", choices=in_sentence_case(KeyScope.choices)
    )
    operation = forms.ChoiceField(label="Operation", choices=Operation.choices)
    processor = forms.CharField(label="Processor", required=False, max_length=32)
    amount_path = forms.CharField(
        label="Where the arguments hold the amount",
        required=False,
        max_length=255,
        help_text="Steps joined by dots: payment.amount",
    )
    amount_unit = forms.ChoiceField(label="Amounts are written in", choices=AmountUnit.choices)
    currency_path = forms.CharField(label="Where they hold the currency", required=False, max_length=255)

    def clean_rule(self) -> list[Any]:
        given = self.cleaned_data["rule"].strip()
        if not given:
            return []
        try:
            rule = json.loads(given, parse_float=str)
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError("This is no JSON: write a list of conditions.") from error
        if not isinstance(rule, list):
            raise forms.ValidationError("A rule is a list of conditions.")
        return rule


class NewPolicyForm(PolicyForm):
    """A tool that is not registered yet; realms are those that the member of staff sees."""

    realm = forms.ChoiceField(label="Realm")
    name = forms.CharField(label="Tool", max_length=255)
    field_order = ("realm", "name")

    def __init__(self, *args: Any, realms: list[tuple[str, str]], **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.fields["realm"] = forms.ChoiceField(label="Realm", choices=realms)


def initial_of(policy: ToolPolicy) -> dict[str, Any]:
    """Return what the form of a registered tool begins with."""
    values = {name: getattr(policy, name) for name in PolicyForm.base_fields}
    return values | {"rule": json.dumps(policy.rule, indent=1) if policy.rule else ""}
