"""The forms of holds, policies and erasure requests."""

from datetime import datetime, time
from typing import Any

from django import forms
from django.utils import timezone

from access.models import Realm
from access.reach import Reach
from retention.vocabulary import DataClass, HoldTarget, IdentityCheck, PolicyAction


class HoldForm(forms.Form):
    """What is held, and for which matter."""

    kind = forms.ChoiceField(label="Hold", choices=HoldTarget.choices)
    target = forms.UUIDField(label="Its id", help_text="Our own id: copy it from its page.")
    matter = forms.CharField(
        label="Matter", max_length=64, help_text="The number of the case. No name: the hold is kept for good."
    )
    note = forms.CharField(
        label="Note",
        required=False,
        max_length=2000,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="May be emptied by an erasure later.",
    )


class NoteForm(forms.Form):
    note = forms.CharField(
        label="Note", required=False, max_length=2000, widget=forms.Textarea(attrs={"rows": 2})
    )


class PolicyForm(forms.Form):
    """One rule for one layer; the day it begins is the earliest moment of that day, or now."""

    data_class = forms.ChoiceField(label="What", choices=DataClass.choices)
    realm = forms.ModelChoiceField(
        label="Realm", queryset=Realm.objects.none(), required=False, empty_label="Everywhere"
    )
    account = forms.UUIDField(label="Account", required=False, help_text="Our id, for a rule of one account.")
    action = forms.ChoiceField(label="Then", choices=PolicyAction.choices)
    days = forms.IntegerField(
        label="After days", required=False, help_text="Since the last activity. Empty for keep."
    )
    floor_days = forms.IntegerField(
        label="Floor", required=False, help_text="No narrower layer may go below it."
    )
    ceiling_days = forms.IntegerField(
        label="Ceiling", required=False, help_text="No narrower layer may go above it."
    )
    begins_on = forms.DateField(label="From", widget=forms.DateInput(attrs={"type": "date"}))

    def __init__(self, reach: Reach, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        realms = self.fields["realm"]
        if isinstance(realms, forms.ModelChoiceField):
            realms.queryset = Realm.objects.filter(reach.within("pk")).order_by("name")
            if not reach.sees_all:
                realms.required, realms.empty_label = True, None

    def proposal(self, *, now: datetime) -> dict[str, Any]:
        """Return the arguments of `propose_policy`."""
        given = self.cleaned_data
        begins = datetime.combine(given["begins_on"], time.min, timezone.get_current_timezone())
        return {
            "data_class": given["data_class"],
            "action": given["action"],
            "days": given["days"],
            "realm_id": given["realm"].pk if given["realm"] else None,
            "account_id": given["account"],
            "floor_days": given["floor_days"],
            "ceiling_days": given["ceiling_days"],
            # Today's beginning has passed: a change of today begins now.
            "effective_from": max(begins, now) if begins.date() == timezone.localdate(now) else begins,
            "now": now,
        }


class IntakeForm(forms.Form):
    """Whom a request is about, by what they are called."""

    realm = forms.ModelChoiceField(label="Realm", queryset=Realm.objects.none())
    names = forms.CharField(
        label="E-mail address, customer's id or account id",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="One a line; every account that has one of them is shown.",
    )
    aliases = forms.CharField(
        label="Other names",
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="One a line: searched for in every text and file at the end.",
    )
    received_on = forms.DateField(
        label="Received on",
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The clock runs from it.",
    )

    def __init__(self, reach: Reach, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        realms = self.fields["realm"]
        if isinstance(realms, forms.ModelChoiceField):
            realms.queryset = Realm.objects.filter(reach.within("pk")).order_by("name")

    def clean_received_on(self) -> Any:
        day = self.cleaned_data["received_on"]
        if day > timezone.localdate():
            raise forms.ValidationError("A request cannot have come in after today.")
        return day

    def lines(self, name: str) -> list[str]:
        return [line.strip() for line in self.cleaned_data[name].splitlines() if line.strip()]

    def received_at(self) -> datetime:
        day = self.cleaned_data["received_on"]
        return datetime.combine(day, time.min, timezone.get_current_timezone())


class IdentityForm(NoteForm):
    how = forms.ChoiceField(label="Checked by", choices=IdentityCheck.choices)

    field_order = ["how", "note"]
