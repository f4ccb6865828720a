"""The days between which a project's log is read."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations import activity_log


class DaysForm(forms.Form):
    """Both days are part of it; without one it has no end on that side."""

    since = forms.DateField(
        label=gettext_lazy("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )
    until = forms.DateField(
        label=gettext_lazy("To"), required=False, widget=forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
    )

    def clean(self) -> dict[str, Any]:
        since, until = self.cleaned_data.get("since"), self.cleaned_data.get("until")
        if since and until and until < since:
            raise ValidationError(
                _("The last day, %(until)s, is before the first one, %(since)s: change one of them.")
                % {"since": since, "until": until}
            )
        for day in (since, until):
            if day and (said := activity_log.misfit(day)):
                raise ValidationError(said)
        return self.cleaned_data
