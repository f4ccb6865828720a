"""How often a spot check corrected a label: shares with Wilson's interval, never a figure of agreement."""

from collections.abc import Sequence
from dataclasses import dataclass

from agreement.sample_entries import Entry, share
from annotations import spot_checks
from annotations.models import Wave
from annotations.spot_checks import Checked
from projects.models import Question


@dataclass(frozen=True)
class Rate:
    """Of the checked labels, those that were corrected: on one question, or (None) on any."""

    question: Question | None
    corrected: Entry


def of_wave(sample: Wave, checked: Sequence[Checked] | None = None) -> list[Rate]:
    """On any question first, then by question."""
    found = spot_checks.checked(sample) if checked is None else checked
    return [Rate(None, share(sum(bool(one.corrected) for one in found), len(found))), *_by_question(sample, found)]


def _by_question(sample: Wave, found: Sequence[Checked]) -> list[Rate]:
    rates = []
    for question in sample.version.questions.all():
        asked = [one for one in found if question.key in one.by_question]
        changed = sum(question.key in one.corrected for one in asked)
        rates.append(Rate(question, share(changed, len(asked))))
    return rates
