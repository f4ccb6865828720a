"""The acts of `annotations` that a project's log keeps; see `projects.activities`."""

from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotations.enums import Closing, OldLabel, WaveKind
from projects.activities import CONFLICTS, FILES, ITEMS, MEASUREMENT, WAVES, Facts, Kind, with_reason
from projects.enums import Action

_WAVE: dict[str, Any] = {"url_name": "annotations:wave", "action": Action.RUN_WAVES, "named": True}
_SAMPLES: dict[str, Any] = {"url_name": "annotations:samples", "action": Action.RUN_WAVES}
_CASE: dict[str, Any] = {"url_name": "annotations:adjudication-case", "action": Action.ADJUDICATE, "named": True}


def _opened(facts: Facts) -> Facts:
    share = Decimal(str(facts.get("share") or 0)).normalize()
    overlap = _("%(share)s %% overlap") % {"share": f"{share:f}"} if share else _("not measured")
    return dict(facts) | {"overlap": overlap}


def _closing(facts: Facts) -> Facts:
    return with_reason(facts) | {"closing": Closing(facts["closing"]).label}


def _sample(facts: Facts) -> Facts:
    return dict(facts) | {"what": WaveKind(facts["what"]).label}


def _given(facts: Facts) -> Facts:
    people = facts["people"]
    named = ngettext("%(n)s named person", "%(n)s named people", people) % {"n": people}
    return dict(facts) | {"whom_to": named if people else _("everybody who labels")}


def _old_label(facts: Facts) -> Facts:
    return dict(facts) | {"choice": OldLabel(facts["choice"]).label}


KINDS = (
    Kind(
        "wave_opened",
        WAVES,
        gettext_lazy("wave opened"),
        gettext_lazy("Opened wave %(number)s under guideline %(version)s, %(overlap)s."),
        _opened,
        **_WAVE,
    ),
    Kind(
        "wave_closed",
        WAVES,
        gettext_lazy("wave ended"),
        gettext_lazy("Ended wave %(number)s%(reason)s."),
        with_reason,
        **_WAVE,
    ),
    Kind(
        "wave_finished",
        WAVES,
        gettext_lazy("wave finished"),
        gettext_lazy("Wave %(number)s is finished: everything that it asked for is labelled or closed."),
        **_WAVE,
    ),
    Kind(
        "wave_given",
        WAVES,
        gettext_lazy("wave given to people"),
        gettext_lazy("Gave wave %(number)s to %(whom_to)s."),
        _given,
        **_WAVE,
    ),
    Kind(
        "draw_closed",
        MEASUREMENT,
        gettext_lazy("measurement closed"),
        gettext_lazy("The measurement of wave %(number)s closed (%(closing)s)%(reason)s."),
        _closing,
        **_WAVE,
    ),
    Kind(
        "cover_released",
        MEASUREMENT,
        gettext_lazy("cover released"),
        gettext_lazy("Released the cover of wave %(number)s: from here on raters could know what is measured."),
        **_WAVE,
    ),
    Kind(
        "overlap_given_up",
        MEASUREMENT,
        gettext_lazy("overlap given up"),
        gettext_lazy("Gave up their overlap in wave %(number)s, and may see its figures."),
        **_WAVE,
    ),
    Kind(
        "looked",
        MEASUREMENT,
        gettext_lazy("interim figures seen"),
        gettext_lazy("Looked at wave %(number)s while its measurement was open; this is the first time."),
        **_WAVE,
    ),
    Kind(
        "sample_opened",
        MEASUREMENT,
        gettext_lazy("sample drawn"),
        gettext_lazy("Had the sample “%(what)s %(number)s” drawn, %(size)s items."),
        _sample,
        **_SAMPLES,
    ),
    Kind(
        "sample_ended",
        MEASUREMENT,
        gettext_lazy("sample ended"),
        gettext_lazy("Ended the sample “%(what)s %(number)s”."),
        _sample,
        **_SAMPLES,
    ),
    Kind(
        "old_label_chosen",
        WAVES,
        gettext_lazy("old labels decided on"),
        gettext_lazy("Chose for old single labels “%(label)s” of “%(question)s”: %(choice)s."),
        _old_label,
        url_name="annotations:old-labels",
        action=Action.RUN_WAVES,
    ),
    Kind(
        "case_decided",
        CONFLICTS,
        gettext_lazy("conflict decided"),
        gettext_lazy("Decided a conflict of wave %(number)s."),
        **_CASE,
    ),
    Kind(
        "cases_decided",
        CONFLICTS,
        gettext_lazy("conflicts decided in one go"),
        gettext_lazy("Decided %(count)s conflicts of one pair of labels in one go."),
        url_name="annotations:adjudication",
        action=Action.ADJUDICATE,
    ),
    Kind(
        "decision_reopened",
        CONFLICTS,
        gettext_lazy("decision reopened"),
        gettext_lazy("Reopened the decision on a conflict of wave %(number)s%(reason)s."),
        with_reason,
        **_CASE,
    ),
    Kind(
        "third_taken_back",
        CONFLICTS,
        gettext_lazy("third rating taken back"),
        gettext_lazy("Took a conflict of wave %(number)s back that waited for a third rating."),
        **_CASE,
    ),
    Kind(
        "thirds_taken_back",
        CONFLICTS,
        gettext_lazy("third ratings taken back"),
        gettext_lazy("Took %(count)s conflicts of wave %(number)s back that waited for third ratings."),
        url_name="annotations:adjudication",
        action=Action.ADJUDICATE,
    ),
    Kind(
        "label_sent_back",
        CONFLICTS,
        gettext_lazy("label sent back"),
        gettext_lazy("Asked the rater of a conflict of wave %(number)s to look at a label again."),
        **_CASE,
    ),
    Kind(
        "inquiry_answered",
        CONFLICTS,
        gettext_lazy("question answered"),
        gettext_lazy("Answered a question about an item."),
        url_name="annotations:inquiries",
        action=Action.EDIT_GUIDELINE,
    ),
    Kind("item_corrected", ITEMS, gettext_lazy("item corrected"), gettext_lazy("Corrected the text of an item.")),
    Kind("item_erased", ITEMS, gettext_lazy("item erased"), gettext_lazy("Erased the text of an item.")),
    Kind(
        "ratings_imported",
        ITEMS,
        gettext_lazy("ratings imported"),
        gettext_lazy("Imported ratings made elsewhere as wave %(number)s: %(items)s items, %(ratings)s ratings."),
        **_WAVE,
    ),
    Kind(
        "export_started",
        FILES,
        gettext_lazy("export made"),
        gettext_lazy("Had “%(title)s” exported as %(format)s."),
        lambda facts: dict(facts) | {"title": _(facts["title"])},
        url_name="annotations:exports",
        action=Action.EXPORT,
    ),
)
