from django import forms
from django.contrib.admin.forms import AdminAuthenticationForm


class SignInForm(AdminAuthenticationForm):
    error_messages = {
        **AdminAuthenticationForm.error_messages,
        "invalid_login": "The user name or the password is wrong, or this user is not staff.",
    }


class CodeForm(forms.Form):
    """A code of the authenticator, or a recovery code: the view says which it takes."""

    code = forms.CharField(
        label="Code",
        max_length=32,
        strip=True,
        widget=forms.TextInput(
            attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}
        ),
    )
