"""Forms of a project itself."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.db import transaction
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from projects import activities
from projects.cloning import Parts
from projects.models import Membership, Project

# Django's forms are generic for the type checker only.
if TYPE_CHECKING:
    OfProject = forms.ModelForm[Project]
else:
    OfProject = forms.ModelForm


class ProjectForm(OfProject):
    """A new project."""

    class Meta:
        model = Project
        fields = ["name", "description"]
        labels = {"name": _("Name"), "description": _("What is labelled, and what for")}
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}


class SettingsForm(ProjectForm):
    """The settings of a project; its protocol has a page of its own."""

    class Meta(ProjectForm.Meta):
        fields = ["name", "description", "notice", "comment_required"]
        labels = {
            **ProjectForm.Meta.labels,
            "notice": _("Notice"),
            "comment_required": _("Every label needs a comment"),
        }
        help_texts = {
            "notice": _("One sentence, shown to all members on every page of the project."),
            "comment_required": _("From the next label on. Otherwise a comment can be written and need not be."),
        }

    @transaction.atomic
    def save(self, commit: bool = True, *, by: Membership | None = None) -> Project:
        saved: Project = super().save(commit=False)
        if commit and self.changed_data:
            # Nothing else: the row was read before, and may be archived, closed or measured otherwise by now.
            saved.save(update_fields=self.changed_data)
            activities.record("settings_changed", saved, by=by, fields=self.changed_data)
        return saved


class CloneForm(forms.Form):
    """The name of a clone, and what else comes along."""

    name = forms.CharField(label=_("Name of the new project"), max_length=120)
    with_examples = forms.BooleanField(label=_("The examples of the guideline, which quote items"), required=False)
    with_members = forms.BooleanField(label=_("The members, with their roles"), required=False)

    def __init__(self, *args: Any, parts: Parts, name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"].initial = (gettext("%(name)s, again") % {"name": name})[:120]
        self.fields["with_examples"].initial = True
        examples = ngettext("%(n)s example.", "%(n)s examples.", parts.examples) % {"n": parts.examples}
        people = ngettext("%(n)s person, you among them.", "%(n)s people, you among them.", parts.members)
        self.fields["with_examples"].help_text = examples
        self.fields["with_members"].help_text = people % {"n": parts.members}
        if not parts.examples:
            del self.fields["with_examples"]
