"""Forms of the console's own pages."""

from typing import Any

from django import forms
from django.core.validators import RegexValidator

_LONGEST_WORDS = 2_000


class ReasonForm(forms.Form):
    """Why a conversation is opened: a ticket, or words where there is none."""

    ticket = forms.CharField(
        label="Ticket number",
        max_length=64,
        required=False,
        validators=[
            RegexValidator(r"^[\w#/.:-]+$", "A ticket number has letters, digits and - # / . : only.")
        ],
        help_text="From the support desk. Without one, say why below.",
    )
    words = forms.CharField(
        label="In your words",
        max_length=_LONGEST_WORDS,
        required=False,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text="Write no personal data here: the reason outlives the conversation.",
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not self.errors and not cleaned.get("ticket") and len(cleaned.get("words", "").strip()) < 10:
            raise forms.ValidationError("Give a ticket number, or say in a sentence why you open this.")
        return cleaned


class NoteForm(forms.Form):
    """A note of staff on a conversation."""

    text = forms.CharField(
        label="Note", max_length=4_000, widget=forms.Textarea(attrs={"rows": 3}), strip=True
    )
    ticket = forms.CharField(label="Ticket", max_length=64, required=False)
