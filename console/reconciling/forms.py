"""Forms of the reconciliation's pages. What is typed is checked here; the rules are the services'."""

from typing import Any, cast

from django import forms
from django.conf import settings

from access.models import Realm
from access.reach import Reach
from console.hostile import visible_plain
from ledger.models import Statement
from ledger.processors import STRIPE
from ledger.reconciliation.vocabulary import Resolution

_DAY = forms.DateTimeInput(attrs={"placeholder": "2026-11-01 00:00"})


class StatementForm(forms.Form):
    """A statement to import. Without a period, that of its lines is taken."""

    realm = forms.ModelChoiceField(queryset=Realm.objects.none(), empty_label=None)
    file = forms.FileField(help_text="CSV: a Stripe export, or the plain format of docs/statements.md.")
    processor = forms.SlugField(
        max_length=32, initial=STRIPE, help_text="Whose statement a plain CSV is; other formats say it."
    )
    zone = forms.CharField(
        max_length=64, initial="UTC", help_text="Of dates that do not say their own: Europe/Paris."
    )
    period_start = forms.DateTimeField(
        required=False, widget=_DAY, help_text="UTC. A run covers only what its statements cover."
    )
    period_end = forms.DateTimeField(required=False, widget=_DAY, help_text="UTC, not included.")

    def __init__(self, *args: Any, reach: Reach, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = cast("forms.ModelChoiceField", self.fields["realm"])
        field.queryset = Realm.objects.filter(reach.within("pk")).order_by("slug")

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > settings.STATEMENT_BYTES_LIMIT:
            raise forms.ValidationError("The file is larger than the limit; import it with manage.py.")
        return file


class _StatementChoice(forms.ModelMultipleChoiceField):
    """Several may have one name: the realm and the processor tell them apart."""

    def label_from_instance(self, obj: Statement) -> str:
        return f"{visible_plain(obj.name)} ({obj.realm.slug}, {obj.processor})"


class StartForm(forms.Form):
    """A run to start: the statements say which realm, processor and period."""

    statements = _StatementChoice(queryset=Statement.objects.none(), widget=forms.CheckboxSelectMultiple)
    since = forms.DateTimeField(required=False, widget=_DAY, help_text="UTC; the statements’ begin if empty.")
    until = forms.DateTimeField(
        required=False, widget=_DAY, help_text="UTC, not included; the statements’ end if empty."
    )
    cut_off = forms.DateTimeField(
        label="Cut-off",
        required=False,
        widget=_DAY,
        help_text="UTC. The ledger as it was known then; now if empty.",
    )
    leaves_unknown = forms.BooleanField(
        required=False,
        label="Leave what no realm knows",
        help_text="To the run of another realm, where several share one account at the processor.",
    )

    def __init__(self, *args: Any, reach: Reach, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = Statement.objects.filter(reach.within("realm_id")).select_related("realm")
        field = cast("forms.ModelMultipleChoiceField", self.fields["statements"])
        field.queryset = choices.order_by("-imported_at", "-id")

    def clean_statements(self) -> Any:
        found = list(self.cleaned_data["statements"])
        if len({(statement.realm_id, statement.processor) for statement in found}) != 1:
            raise forms.ValidationError("Statements of one realm and one processor are compared at a time.")
        return found


class ResolutionForm(forms.Form):
    resolution = forms.ChoiceField(choices=Resolution.choices, label="Settled as")
    reason = forms.CharField(
        max_length=4000,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Why; it is kept with the finding.",
    )


class CommentForm(forms.Form):
    text = forms.CharField(max_length=4000, widget=forms.Textarea(attrs={"rows": 3}), label="Comment")
