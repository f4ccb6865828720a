"""Forms of a project itself."""

from typing import TYPE_CHECKING

from django import forms
from django.utils.translation import gettext_lazy as _

from projects.models import Project

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
