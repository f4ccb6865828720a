"""What the decisions say so far: causes by pair of labels, leads beside each other, annotators beside the decisions.

Of decided cases only. While a case is open nothing here is made of it. What a rule of the protocol decided is counted
and in nothing else: it has no cause, and a label made of the raters' own says nothing of how they stand beside it.
"""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Exists, Min, OuterRef, QuerySet

from annotations import cases, opinions
from annotations.conflicts import canonical
from annotations.enums import Cause
from annotations.models import Annotation, Case, Draw, Resolution
from annotations.opinions import Agreement
from projects.models import Project

FEWEST = 5  # adjudicated items of an annotator: below it a share is chance
LACKING = (Cause.GUIDELINE_SILENT, Cause.GUIDELINE_AMBIGUOUS)


@dataclass(frozen=True)
class Confusion:
    """The decided conflicts between two labels, by cause in the order of `Cause`."""

    question_key: str
    pair: str
    names: list[str]
    counts: list[int]
    lacking: int
    slips: int

    @property
    def n(self) -> int:
        return sum(self.counts)


@dataclass(frozen=True)
class Beside:
    """An annotator's measured ratings beside the decisions on the same items: adjudicated items only, which are the
    hard ones. `same` and `share` are None where they are fewer than five."""

    rater: str
    name: str
    n: int
    same: int | None

    @property
    def percent(self) -> int | None:
        return None if self.same is None else round(100 * self.same / self.n)


@dataclass(frozen=True)
class Report:
    """`decided` by people; `ruled`: by a rule of the protocol, which are in none of the tables."""

    decided: int
    ruled: int
    causes: list[tuple[str, int]]
    confusions: list[Confusion]
    raters: list[Beside]
    opinions: Agreement

    @property
    def lacking(self) -> int:
        """Of how many of them the guideline left the answer open."""
        return sum(one.lacking for one in self.confusions)

    @property
    def cause_names(self) -> list[str]:
        return [name for name, _n in self.causes]


def report(project: Project, draw: Draw | None = None) -> Report:
    """The figures of a project, or of one of its draws; the number of queries does not depend on the cases."""
    standing = Resolution.objects.filter(case__draw__wave__project=project, standing=True)
    ruled = (standing if draw is None else standing.filter(case__draw=draw)).exclude(rule="")
    confusions = _confusions(_standing(project, draw))
    causes = [sum(one.counts[place] for one in confusions) for place in range(len(Cause))]
    return Report(
        decided=sum(causes),
        ruled=ruled.count(),
        causes=[(str(cause.label), n) for cause, n in zip(Cause, causes, strict=True)],
        confusions=confusions,
        raters=beside(project, draw),
        opinions=opinions.agreement(project),
    )


def _standing(project: Project, draw: Draw | None) -> QuerySet[Resolution]:
    """What people decided: to set the majority's label beside the ratings that it was made of would say nothing."""
    rows = Resolution.objects.by_people().filter(case__draw__wave__project=project)
    return rows if draw is None else rows.filter(case__draw=draw)


def _confusions(standing: QuerySet[Resolution]) -> list[Confusion]:
    """By pair of labels, the one that the guideline leaves most undecided first."""
    rows = standing.values_list("case__question_key", "case__pair_key", "cause").order_by()
    found: dict[tuple[str, str], Counter[str]] = {}
    samples: dict[tuple[str, str], int] = {}
    for question, pair, cause, n, sample in rows.annotate(Count("pk"), Min("case")):
        found.setdefault((question, pair), Counter())[cause] += n
        samples[question, pair] = sample
    words = _Words(samples)
    made = [
        Confusion(
            question_key=question,
            pair=pair,
            names=words.of(samples[question, pair]),
            counts=[counts[cause] for cause in Cause],
            lacking=sum(counts[cause] for cause in LACKING),
            slips=counts[Cause.SLIP],
        )
        for (question, pair), counts in found.items()
    ]
    return sorted(made, key=lambda one: (-one.lacking, -one.n, one.question_key, one.pair))


class _Words:
    """The names of the labels of some cases, in two queries."""

    def __init__(self, samples: dict[tuple[str, str], int]) -> None:
        rows = Case.objects.select_related("draw__wave").defer("draw__population")
        self._cases = rows.in_bulk(samples.values())
        self._known = cases.Vocabulary({case.draw.wave.version_id for case in self._cases.values()})

    def of(self, pk: int) -> list[str]:
        case = self._cases[pk]
        return self._known.pair(case.draw.wave.version_id, case)


def beside(project: Project, draw: Draw | None = None, question: str = "") -> list[Beside]:
    """Each annotator's measured ratings on decided items, beside what was decided; by name.

    An item on which another question is still undecided is left out: what was added here with a decision would tell
    who rated it.
    """
    decided: dict[int, dict[str, str]] = {}
    undecided = Case.objects.undecided().filter(wave_item=OuterRef("case__wave_item"))
    standing = _standing(project, draw).filter(~Exists(undecided), rule="")
    if question:
        standing = standing.filter(case__question_key=question)
    for wave_item, key, value in standing.values_list("case__wave_item", "case__question_key", "value"):
        decided.setdefault(wave_item, {})[key] = canonical(value)
    measured = Annotation.objects.filter(
        wave_item__in=standing.values("case__wave_item"), draw__in=_with_people(project), slot__isnull=False
    )
    n, same = Counter[int](), Counter[int]()
    for member, wave_item, answers in measured.values_list("member", "wave_item", "answers"):
        for key, value in decided.get(wave_item, {}).items():
            if answers.get(key) is not None:
                n[member] += 1
                same[member] += canonical(answers[key]) == value
    members = project.memberships.filter(pk__in=n).select_related("user")
    made = [
        Beside(str(row.uuid), row.name, n[row.pk], same[row.pk] if n[row.pk] >= FEWEST else None) for row in members
    ]
    return sorted(made, key=lambda one: one.name.casefold())


def _with_people(project: Project) -> list[int]:
    """The draws whose raters are people: places of ratings, as some imports have them, are nobody."""
    rows = Draw.objects.filter(wave__project=project).values_list("pk", "protocol")
    return [pk for pk, protocol in rows if not protocol.get("anonymous")]
