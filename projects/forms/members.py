"""Forms of the members' page."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.enums import Role


class RolesField(forms.MultipleChoiceField):
    """One or more roles, as tick boxes."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Roles"),
            choices=Role.choices,
            widget=forms.CheckboxSelectMultiple,
            error_messages={"required": _("Choose at least one role.")},
        )

    def clean(self, value: list[str]) -> list[Role]:
        return [Role(role) for role in super().clean(value)]


class AddForm(forms.Form):
    username = forms.CharField(
        label=_("User name or e-mail address"),
        max_length=254,
        help_text=_("Of somebody who has an account here."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
    )
    roles = RolesField()


class InviteForm(forms.Form):
    email = forms.EmailField(
        label=_("E-mail address"),
        widget=forms.EmailInput(attrs={"autocomplete": "off"}),
    )
    roles = RolesField()

    def __init__(self, *args: Any, mails: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        mailed = _("The link is mailed to this address and shown to you once. It works for 14 days, for one person.")
        shown = _("The link is shown to you once, to pass on. It works for 14 days, for one person.")
        self.fields["email"].help_text = mailed if mails else shown


class RolesForm(forms.Form):
    roles = RolesField()
