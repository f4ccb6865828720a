"""Forms of an import of ratings: which field is what, which value is which label, who the raters are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotations import imported, imported_rows
from annotations.enums import ResolutionRule
from annotations.imported_report import Report, Value
from annotations.rating_layouts import LONG, NESTED, WIDE, Layout
from projects import importing
from projects.models import Job, Question

LEFT_OUT = "-"
SHOWN, ID, METADATA, RATER, COLUMN, COMMENT = "shown", "id", "metadata", "rater", "column", "comment"
LABELS = "labels:"


@dataclass(frozen=True)
class FieldRow:
    """One field of the file as the form shows it."""

    name: str
    samples: list[str]
    use: Any


class LayoutForm(forms.Form):
    """What each field of the file is. Fields go by their place."""

    shape = forms.ChoiceField(
        label=gettext_lazy("How the ratings stand in the file"),
        choices=[
            (LONG, gettext_lazy("A row for each rating, with the rater and the label")),
            (WIDE, gettext_lazy("A row for each item, with a column for each rater")),
            (NESTED, gettext_lazy("A row for each item, with its ratings in one field (JSON)")),
        ],
        widget=forms.RadioSelect,
    )
    question = forms.ChoiceField(
        label=gettext_lazy("Question"),
        required=False,
        help_text=gettext_lazy("What the raters' columns answer, where each rater has a column."),
    )
    anonymous = forms.BooleanField(
        label=gettext_lazy("Nobody knows who rated"),
        required=False,
        help_text=gettext_lazy(
            "Ratings of an item stand in places that are not people. There is then no figure by pair or rater."
        ),
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, job: Job) -> None:
        self.job = job
        self.names = importing.field_names(job)
        self.questions = _questions(job)
        layout = imported.layout_of(job)
        super().__init__(data, initial={"shape": layout.shape, "anonymous": layout.anonymous})
        question = self.fields["question"]
        assert isinstance(question, forms.ChoiceField)  # noqa: S101 - for the type checker
        question.choices = [(key, one.text) for key, one in self.questions.items()]
        question.initial = next(iter(layout.labels), None)
        for place, name in enumerate(self.names):
            self.fields[f"use_{place}"] = forms.ChoiceField(
                choices=self._uses(),
                required=False,
                initial=_use(layout, name),
                widget=forms.Select(attrs={"aria-label": _("what “%(field)s” is") % {"field": name}}),
            )

    def _uses(self) -> list[tuple[str, str]]:
        labels = [
            (f"{LABELS}{key}", _("labels: %(question)s") % {"question": one.text})
            for key, one in self.questions.items()
        ]
        return [
            ("", "–"),
            (ID, _("id of the item")),
            (SHOWN, _("shown")),
            (METADATA, _("metadata")),
            (RATER, _("rater")),
            *labels,
            (COLUMN, _("labels of one rater")),
            (COMMENT, _("comment on the rating")),
        ]

    def rows(self) -> list[FieldRow]:
        samples = [one["samples"] for one in self.job.params["fields"]]
        return [FieldRow(name, samples[i], self[f"use_{i}"]) for i, name in enumerate(self.names)]

    def layout(self) -> Layout:
        """The layout that was chosen; `imported.choose` says what is wrong with it."""
        uses: dict[str, list[str]] = {}
        for place, name in enumerate(self.names):
            uses.setdefault(self.cleaned_data.get(f"use_{place}") or "", []).append(name)
        shape = self.cleaned_data["shape"]
        labels = {key: (uses.get(f"{LABELS}{key}") or [""])[0] for key in self.questions if f"{LABELS}{key}" in uses}
        if shape == WIDE:
            labels = {self.cleaned_data["question"]: ""} if self.cleaned_data.get("question") else {}
        return Layout(
            shape=shape,
            shown=tuple(uses.get(SHOWN, ())),
            id_field=_first(uses, ID),
            metadata=tuple(uses.get(METADATA, ())),
            labels=labels,
            rater=_first(uses, RATER) if shape == LONG else "",
            raters=tuple(uses.get(COLUMN, ())) if shape == WIDE else (),
            comment=_first(uses, COMMENT) if shape != WIDE else "",
            anonymous=self.cleaned_data["anonymous"],
        )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        chosen = [cleaned.get(f"use_{place}") for place in range(len(self.names))]
        once = [ID, RATER, COMMENT, *(f"{LABELS}{key}" for key in self.questions)]
        words = dict(self._uses())
        for use in once:
            if chosen.count(use) > 1:
                raise forms.ValidationError(
                    _("Two fields are “%(use)s”: choose one.") % {"use": words[use]}, code="twice"
                )
        return cleaned


def _questions(job: Job) -> dict[str, Question]:
    """Those of the newest version: it is the one whose labels a file that is read again is read with."""
    return imported_rows.questions(imported.version_of(job.project)) if job.project else {}


def _first(uses: Mapping[str, list[str]], use: str) -> str:
    return next(iter(uses.get(use, [])), "")


def _use(layout: Layout, name: str) -> str:
    of_labels = {field: f"{LABELS}{key}" for key, field in layout.labels.items() if field}
    single = {layout.id_field: ID, layout.rater: RATER, layout.comment: COMMENT}
    if name in of_labels:
        return of_labels[name]
    if name in single:
        return single[name]
    lists = ((layout.shown, SHOWN), (layout.metadata, METADATA), (layout.raters, COLUMN))
    return next((use for names, use in lists if name in names), "")


@dataclass(frozen=True)
class ValueRow:
    value: Value
    field: Any


@dataclass(frozen=True)
class RaterRow:
    name: str
    count: int
    field: Any


class ConfirmForm(forms.Form):
    """Which label each value of the file stands for, who its raters are, and which reading of it was looked at."""

    attempt = forms.IntegerField(required=False, widget=forms.HiddenInput)
    resolution_rule = forms.ChoiceField(
        label=gettext_lazy("Conflicts are decided by"),
        required=False,
        help_text=gettext_lazy(
            "Chosen after the data, and said so wherever the protocol is. What the rule does not settle or fit, a lead "
            "decides."
        ),
    )

    def __init__(self, data: Mapping[str, Any] | None = None, *, job: Job, found: Report) -> None:
        super().__init__(data, initial={"attempt": job.attempts})
        self.found = found
        self.fields["resolution_rule"] = self._rule_field(job)
        self.asked = imported_rows.questions_of(job)
        self.people = imported.members(job.project) if job.project else []
        for place, value in enumerate(found.values):
            self.fields[f"value_{place}"] = self._value_field(value)
        for place, name in enumerate(self._raters):
            same = imported.same_name(name, self.people)
            self.fields[f"rater_{place}"] = forms.ChoiceField(
                choices=[("", _("name only, without an account")), *((str(p.uuid), p.name) for p in self.people)],
                required=False,
                initial=str(same.uuid) if same else "",
                widget=forms.Select(attrs={"aria-label": _("who “%(name)s” is") % {"name": name}}),
            )

    def _rule_field(self, job: Job) -> forms.ChoiceField:
        base = type(self).base_fields["resolution_rule"]
        standing = ResolutionRule(job.project.protocol.get("resolution_rule", "lead") if job.project else "lead")
        as_said = _("what the project’s protocol says (for all questions now: %(rule)s)") % {"rule": standing.label}
        rules: list[tuple[str, Any]] = [("", as_said), *((rule.value, rule.label) for rule in ResolutionRule)]
        return forms.ChoiceField(label=base.label, help_text=base.help_text, required=False, choices=rules)

    @property
    def _raters(self) -> list[str]:
        return [] if self.found.too_many_raters else list(self.found.raters)

    def _value_field(self, value: Value) -> forms.ChoiceField:
        question = self.asked.get(value.question)
        labels = [(label.key, label.name) for label in question.labels.all()] if question else []
        nothing = [("", _("choose a label"))] if value.guess is None else []
        missing = _("Say what “%(value)s” stands for.") % {"value": value.shown}
        return forms.ChoiceField(
            choices=[*nothing, *labels, (LEFT_OUT, _("left out: no rating"))],
            required=value.guess is None,
            initial=value.guess or "",
            error_messages={"required": missing},
            widget=forms.Select(attrs={"aria-label": _("label for “%(value)s”") % {"value": value.shown}}),
        )

    def questions(self) -> list[tuple[str, list[ValueRow]]]:
        """The values question by question, with the question's text."""
        rows: dict[str, list[ValueRow]] = {}
        for place, value in enumerate(self.found.values):
            rows.setdefault(value.question, []).append(ValueRow(value, self[f"value_{place}"]))
        return [(self.asked[key].text if key in self.asked else key, found) for key, found in rows.items()]

    def raters(self) -> list[RaterRow]:
        return [
            RaterRow(name, self.found.raters[name], self[f"rater_{place}"]) for place, name in enumerate(self._raters)
        ]

    def values_chosen(self) -> dict[str, dict[str, str | None]]:
        """The `values` of `imported.confirm`."""
        chosen: dict[str, dict[str, str | None]] = {}
        for place, value in enumerate(self.found.values):
            label = self.cleaned_data.get(f"value_{place}") or value.guess
            chosen.setdefault(value.question, {})[value.token] = None if label == LEFT_OUT else label
        return chosen

    def raters_chosen(self) -> dict[str, UUID]:
        """The `raters` of `imported.confirm`."""
        chosen = ((name, self.cleaned_data.get(f"rater_{place}")) for place, name in enumerate(self._raters))
        return {name: UUID(uuid) for name, uuid in chosen if uuid}
