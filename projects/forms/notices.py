"""What somebody is told, and how often by mail."""

from collections.abc import Iterable
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _

from projects import notices
from projects.enums import MailPace
from projects.models import User
from projects.notices import MAIL, PAGE


class NoticesForm(forms.Form):
    """A box for each kind that can reach the person, for the page and for mail."""

    page = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    mail = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    pace = forms.ChoiceField(label=_("Mail"), choices=MailPace.choices, widget=forms.RadioSelect)

    def __init__(self, data: QueryDict | None = None, *, user: User) -> None:
        self.offered = notices.offered(user)
        keys = [key for key, _name in self.offered]
        initial: dict[str, Any] = {
            where: [key for key in keys if key not in notices.off(user, where)] for where in (PAGE, MAIL)
        }
        super().__init__(data, initial=initial | {"pace": user.mail_pace})
        for where in (PAGE, MAIL):
            field = self.fields[where]
            assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101 - tells mypy what the class above says
            field.choices = self.offered

    def rows(self) -> Iterable[tuple[str, str, bool, bool]]:
        """Key, name, whether told in the page, whether by mail: as the table shows them."""
        page, mail = self["page"].value() or [], self["mail"].value() or []
        return [(key, str(name), key in page, key in mail) for key, name in self.offered]
