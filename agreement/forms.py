"""The form of a project's protocol, and the reason for a waiver."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement import protocol as protocols
from agreement.coefficients.classes import MINIMUM_USES
from agreement.coefficients.coefficient import NOMINAL, ORDINAL
from agreement.coefficients.headline import TEXT
from agreement.protocol import AUTO, ESTIMATE, LOW, Protocol, QuestionRule
from annotations import rules
from annotations.enums import ResolutionRule
from projects.models import Membership, Question

THRESHOLD_ON = [
    (LOW, gettext_lazy("the lower bound of the interval")),
    (ESTIMATE, gettext_lazy("the estimate itself")),
]


RULES: list[tuple[str, Any]] = [(rule.value, rule.label) for rule in ResolutionRule]


class WaiverForm(forms.Form):
    reason = forms.CharField(
        label=gettext_lazy("Why the next wave may go on all the same"),
        help_text=gettext_lazy("Printed with every figure of this draw, with your name and the time."),
        widget=forms.Textarea(attrs={"rows": 2}),
        max_length=2000,
    )


class ProtocolForm(forms.Form):
    """The defaults of the draws to come. What a number may be is said by `protocol.Protocol.problems` alone."""

    share_percent = forms.DecimalField(
        label=gettext_lazy("Overlap, in per cent"),
        help_text=gettext_lazy(
            "This share of every wave is rated by several people and measured. 0: nothing is measured. 100: all of it "
            "is, and the raters then know that every item counts."
        ),
    )
    ratings_per_item = forms.IntegerField(
        label=gettext_lazy("Ratings per overlap item"),
        help_text=gettext_lazy("2 to 10 different people rate each overlap item. All other items get one rating."),
    )
    strata_field = forms.ChoiceField(
        label=gettext_lazy("Split the draw by"),
        required=False,
        help_text=gettext_lazy(
            "A metadata field of the items, such as source or language: each of its values gets its share of the "
            "overlap, and figures of its own."
        ),
    )
    expert = forms.ChoiceField(
        label=gettext_lazy("Expert"),
        required=False,
        help_text=gettext_lazy(
            "One person whose labels the others are compared with: the headline is then agreement with this expert, "
            "and everybody has a figure of their own with them. Of sets of labels and of spans it stands beside the "
            "headline. It counts the overlap items that they rate."
        ),
    )
    minimum_n = forms.IntegerField(
        label=gettext_lazy("Smallest n of the gate"),
        help_text=gettext_lazy("With fewer measured items the gate says “not enough data” instead of pass or hold."),
    )
    resolution_rule = forms.ChoiceField(
        label=gettext_lazy("Conflicts are decided by"),
        required=False,
        help_text=gettext_lazy(
            "When a draw closes. A majority is more than half of an item’s ratings; of an even number of ratings the "
            "median is the lower of the two in the middle. A third rating is asked of somebody who has not met the "
            "item, wherever one more can settle it: it decides the conflict and is not measured. A lead decides what "
            "the rule does not settle, and all conflicts of marks in a text and of words of one’s own."
        ),
    )
    window_submits = forms.IntegerField(
        label=gettext_lazy("Window, in further submits"),
        help_text=gettext_lazy(
            "So many items later a rater can still correct a label so that the correction counts. 0: no window."
        ),
    )
    window_minutes = forms.IntegerField(
        label=gettext_lazy("Window, in minutes"),
        help_text=gettext_lazy("The window also ends after this time, or when the draw closes, whichever comes first."),
    )
    lease_minutes = forms.IntegerField(
        label=gettext_lazy("Lease, in minutes"),
        help_text=gettext_lazy("After so much silence an item that someone has open goes back to the others."),
    )
    practice_pass_percent = forms.IntegerField(
        label=gettext_lazy("Pass mark of the practice round, in per cent"),
        help_text=gettext_lazy(
            "After a material change annotators answer its new examples, with the reason shown at once, before their "
            "next item; below the mark they go through them again. 0: no practice. It holds at once, in open waves too."
        ),
    )
    decide_together = forms.BooleanField(
        label=gettext_lazy("Two raters may decide their conflict together"),
        required=False,
        help_text=gettext_lazy(
            "For small teams in which nobody is left who did not rate: a lead who rated an item proposes a decision, "
            "which holds once the other rater confirms it, and the final label says “consensus”. Otherwise who rated "
            "an item never decides it. It holds at once, and no figure changes by it."
        ),
    )

    def __init__(
        self,
        data: Any = None,
        *,
        protocol: Protocol,
        questions: Sequence[Question],
        strata_fields: Sequence[str],
        annotators: Sequence[Membership] = (),
    ) -> None:
        names = [*type(self).base_fields]
        initial = {name: getattr(protocol, name) for name in names}
        super().__init__(data, initial=initial)
        self.protocol, self.questions, self.strata_fields = protocol, questions, strata_fields
        kept = [protocol.strata_field] if protocol.strata_field not in ("", *strata_fields) else []
        choices = [("", _("nothing")), *((name, name) for name in [*strata_fields, *kept])]
        self.fields["strata_field"] = self._choice("strata_field", choices)
        self.fields["resolution_rule"] = self._choice("resolution_rule", RULES)
        self.raters = {str(member.uuid): member.name for member in annotators}
        # Who is named and labels here no longer is told so when the form is sent.
        gone = [(protocol.expert, _("somebody who no longer labels here"))] if self._expert_is_gone else []
        self.fields["expert"] = self._choice("expert", [("", _("nobody")), *self.raters.items(), *gone])
        for rule in protocol.questions.values():
            self._add_question(rule)

    @property
    def _expert_is_gone(self) -> bool:
        return self.protocol.expert not in ("", *self.raters)

    @property
    def general(self) -> list[forms.BoundField]:
        return [self[name] for name in type(self).base_fields]

    @property
    def by_question(self) -> list[tuple[Question, list[forms.BoundField]]]:
        """Each question with its fields, for the template; none for one that is not measured."""
        prefixes = [(question, f"{question.key}.") for question in self.questions]
        return [(q, [self[name] for name in self.fields if name.startswith(prefix)]) for q, prefix in prefixes]

    def result(self) -> Protocol:
        """The protocol that a valid form says."""
        said: Protocol = self.cleaned_data["protocol"]
        return said

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        if self.errors:
            return data
        general = {name: data[name] for name in type(self).base_fields}
        general["resolution_rule"] = general["resolution_rule"] or self.protocol.resolution_rule
        rules = {key: self._read(rule, data) for key, rule in self.protocol.questions.items()}
        said = replace(self.protocol, **general, questions=rules)
        for name, sentence in said.problems(self.strata_fields, self.raters):
            self.add_error(name if name in self.fields else None, sentence)
        data["protocol"] = said
        return data

    def _choice(self, name: str, choices: list[tuple[str, Any]]) -> forms.ChoiceField:
        base = type(self).base_fields[name]
        return forms.ChoiceField(label=base.label, help_text=base.help_text, required=False, choices=choices)

    def _add_question(self, rule: QuestionRule) -> None:
        if rule.level == TEXT:
            return  # nothing is measured, and the template says what to ask instead
        named = [(AUTO, _("chosen from the scale and the number of raters"))]
        # With more ratings per item fewer fit; which ones do is checked with the number that was sent.
        named += [(entry.key, entry.title) for entry in protocols.offered(rule.level, 2)]
        fields: dict[str, forms.Field] = {
            "coefficient": forms.ChoiceField(
                label=_("Headline coefficient"),
                choices=named,
                help_text=_("Chosen: Cohen's kappa for two raters, weighted on a scale; else Krippendorff's alpha."),
            )
        }
        if rule.level == ORDINAL:
            fields["weights"] = forms.ChoiceField(
                label=_("Weights of disagreements"),
                choices=[("linear", _("linear: by the steps between")), ("quadratic", _("quadratic: by their square"))],
                help_text=_("Used where the headline is weighted kappa; both are always on the page."),
            )
        if rule.level != NOMINAL:
            fields["conflict_gap"] = forms.DecimalField(
                label=_("Conflict above a gap of"),
                help_text=_(
                    "0: any difference goes to adjudication. .25: only more than a quarter of the whole scale does."
                ),
            )
        if offered := [(one.value, one.label) for one in ResolutionRule if rules.fits(one, rule.level)][1:]:
            fields["resolution_rule"] = forms.ChoiceField(
                label=_("Its conflicts are decided by"),
                required=False,
                choices=[("", self._as_for_all(rule)), *RULES[:1], *offered],
            )
        fields["threshold"] = forms.DecimalField(
            label=_("Threshold of the gate"),
            required=False,
            help_text=_("From −1 to 1, such as .7. Empty: nothing is held back. There is no number that fits all."),
        )
        fields["threshold_on"] = forms.ChoiceField(
            label=_("The threshold is for"), choices=THRESHOLD_ON, help_text=_("The lower bound is the careful choice.")
        )
        fields["class_threshold"] = forms.DecimalField(
            label=_("Threshold for each label"),
            required=False,
            help_text=_(
                "Kappa of the label against all others, for labels that a rater used often enough. Empty: none."
            ),
        )
        fields["stratum_threshold"] = forms.DecimalField(
            label=_("Threshold for each stratum"),
            required=False,
            help_text=_("The headline of each value that the draw is split by. Empty: none."),
        )
        fields["minimum_uses"] = forms.IntegerField(
            label=_("Smallest count of a label or stratum"),
            required=False,
            help_text=_(
                "A label is judged by itself once one of the raters used it so often, or several together twice as "
                "often; a stratum with fewer measured items is not enough data. Empty: %(usual)s."
            )
            % {"usual": MINIMUM_USES},
        )
        for name, field in fields.items():
            value = getattr(rule, name)
            field.initial = Decimal(str(value)) if isinstance(value, float) else value
            self.fields[f"{rule.key}.{name}"] = field

    def _as_for_all(self, rule: QuestionRule) -> str:
        """The first choice of a question's own rule: what it means as the protocol stands."""
        general = protocols.rule_of(self.protocol, replace(rule, resolution_rule=""))
        said = ResolutionRule(self.protocol.resolution_rule)
        if general == said:
            return _("as for all questions above (now: %(rule)s)") % {"rule": said.label}
        return _("as for all questions above (now: a lead, since %(rule)s does not fit its answers)") % {
            "rule": said.label
        }

    def _read(self, rule: QuestionRule, data: dict[str, Any]) -> QuestionRule:
        start = f"{rule.key}."
        given: dict[str, Any] = {name[len(start) :]: v for name, v in data.items() if name.startswith(start)}
        for name, value in given.items():
            if isinstance(value, Decimal):
                given[name] = float(value)
        if given.get("minimum_uses", 0) is None:
            given["minimum_uses"] = MINIMUM_USES
        return replace(rule, **given)
