"""What a person says when starting a job: why, and the kind's own parameters."""

from typing import Any
from uuid import UUID

from django import forms

from console.job_pages.kinds import Kind


class StartForm(forms.Form):
    """Fields of the parameters are named after them, and are texts that may be left out."""

    reason = forms.CharField(
        label="Why",
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Kept with the run. Write no personal data here.",
    )

    def __init__(self, kind: Kind, *args: Any, **fields: Any) -> None:
        super().__init__(*args, **fields)
        self.kind = kind
        for name, label in kind.parameters:
            self.fields[name] = forms.CharField(label=label, max_length=255, required=False)
        if kind.may_run_dry:
            self.fields["is_dry_run"] = forms.BooleanField(
                label="Dry run: count, change nothing", required=False, initial=True
            )

    def clean_conversation(self) -> str:
        given = str(self.cleaned_data["conversation"])
        try:
            return str(UUID(given)) if given else ""
        except ValueError:
            raise forms.ValidationError("This is no id of a conversation.") from None

    @property
    def parameters(self) -> dict[str, str]:
        """What was given, without what was left out."""
        given = {name: self.cleaned_data[name] for name, _ in self.kind.parameters}
        return {name: value for name, value in given.items() if value}
