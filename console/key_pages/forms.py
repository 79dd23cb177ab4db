"""The forms of API keys: made, exchanged for a new one."""

from datetime import date, datetime, time, timedelta
from typing import Any, Final

from django import forms
from django.conf import settings
from django.utils import timezone

from access.models import Realm, Scope
from access.models.api_key import DEFAULT_REQUESTS_PER_MINUTE, EVERY_READ
from access.reach import Reach

_OVERLAPS: Final = (("0", "at once"), ("1", "after an hour"), ("24", "after a day"), ("168", "after a week"))


class KeyForm(forms.Form):
    """A key for one application in one realm."""

    application = forms.CharField(
        label="Application", max_length=100, help_text="Who will hold the key: one for each application."
    )
    realm = forms.ModelChoiceField(
        label="Realm",
        queryset=Realm.objects.none(),
        empty_label=None,
        help_text="It sees nothing else.",
    )
    scopes = forms.MultipleChoiceField(
        label="May", choices=Scope.choices, widget=forms.CheckboxSelectMultiple
    )
    expires_on = forms.DateField(
        label="Ends on",
        required=False,
        widget=forms.DateInput(attrs={"type": "date"}),
        help_text="The end of that day. Empty: it lasts until it is revoked.",
    )
    requests_per_minute = forms.IntegerField(
        label="Requests a minute", min_value=1, max_value=1_000_000, initial=DEFAULT_REQUESTS_PER_MINUTE
    )

    def __init__(self, reach: Reach, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        realms = self.fields["realm"]
        if isinstance(realms, forms.ModelChoiceField):
            realms.queryset = Realm.objects.filter(reach.within("pk")).order_by("name")
        if settings.API_READS_LOGGED_PERCENT < EVERY_READ:
            self.fields["reads_logged_percent"] = _share_of_reads(least=settings.API_READS_LOGGED_PERCENT)

    def clean_expires_on(self) -> date | None:
        day: date | None = self.cleaned_data["expires_on"]
        if day is not None and day < timezone.localdate():
            raise forms.ValidationError("This day is over.")
        return day

    @property
    def expires_at(self) -> datetime | None:
        day = self.cleaned_data["expires_on"]
        if day is None:
            return None
        return datetime.combine(day + timedelta(days=1), time.min, timezone.get_current_timezone())


def _share_of_reads(*, least: int) -> forms.IntegerField:
    """Asked only where the operator lets a key log less than each read."""
    return forms.IntegerField(
        label="Reads in the access log, percent",
        min_value=max(least, 1),
        max_value=EVERY_READ,
        initial=EVERY_READ,
        help_text=(
            "Of its reads of what was said, so many in a hundred become a line, by lot."
            f" This server asks for {max(least, 1)} at least."
        ),
    )


class ExchangeForm(forms.Form):
    """How long the old key still opens, beside the new one."""

    hours = forms.TypedChoiceField(label="The old key ends", choices=_OVERLAPS, coerce=int, initial="24")
