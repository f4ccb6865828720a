"""Why a conflict stands where it does in the queue, in words: how far apart, and how common the confusion."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotations.cases import Vocabulary
from annotations.models import Case, Draw
from projects.task_types import TASK_TYPES

Confusion = tuple[str, str]  # question, pair of labels


@dataclass
class Frequencies:
    """How many conflicts a project has, and of how many each pair of labels; decided ones count, as in the order."""

    of_pair: Counter[Confusion] = field(default_factory=Counter)
    of_all: int = 0

    @classmethod
    def of(cls, counts: Iterable[tuple[Confusion, int]]) -> "Frequencies":
        found = cls()
        for confusion, n in counts:
            found.of_pair[confusion] += n
            found.of_all += n
        return found


def reason(case: Case, draw: Draw, words: Vocabulary, frequencies: Frequencies) -> str:
    """One sentence without a verb, the same for all of a pair: "8 of 10 steps apart, 12 of the 40 conflicts"."""
    n, total = frequencies.of_pair[case.question_key, case.pair_key], frequencies.of_all
    common = ngettext("the only conflict", "%(n)s of the %(all)s conflicts", total) % {"n": n, "all": total}
    apart = distance(case, draw, words)
    return f"{apart}, {common}" if apart else common


def distance(case: Case, draw: Draw, words: Vocabulary) -> str:
    """How far apart the two labels are, where that differs between conflicts at all."""
    question = words.question(draw.wave.version_id, case.question_key)
    return apart(question.kind.key, len(question.labels), case.gap) if question else ""


def apart(task_type: str, n_labels: int, gap: float) -> str:
    """A gap in words: in steps of a scale, in per cent of what sets or marks have in common, nothing for categories."""
    level = TASK_TYPES[task_type].level
    if level == "nominal":
        return ""
    if level == "ordinal":
        steps = n_labels - 1
        n = round(gap * steps)
        return ngettext("%(n)s of %(all)s step apart", "%(n)s of %(all)s steps apart", n) % {"n": n, "all": steps}
    return _("%(percent)s %% apart") % {"percent": round(100 * gap)}
