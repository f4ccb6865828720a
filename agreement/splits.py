"""The headline of parts of a closed draw that nobody declared: the same coefficient, on each part's own items.

Pages that split by something else than the draw's strata make their tables here; nothing of it is stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agreement import figures, label_figures, matrices, span_figures
from agreement.coefficients import Coefficient
from agreement.coefficients.ratings import Ratings
from agreement.coefficients.span_estimates import SpanFigures
from agreement.models import Run
from agreement.protocol import Protocol
from annotations.models import Draw
from projects.models import Membership, Question

Entry = dict[str, Any]


@dataclass(frozen=True)
class OfLabels:
    """Parts of ratings that are labels, or sets of them, and the coefficient of the whole draw."""

    parts: Mapping[str, Ratings]
    coefficient: Coefficient
    seed: int

    def entries(self) -> list[Entry]:
        """The headline's entry of each part."""
        return [
            {
                "stratum": part,
                "n": round(ratings.n_paired),
                **label_figures.entry_of(self.coefficient, ratings, self.seed),
            }
            for part, ratings in self.parts.items()
        ]

    def difference(self, part: str, other: str) -> Entry | None:
        """The one part minus the other, each resampled by itself; None where one is undefined."""
        return label_figures.apart(self.coefficient, self.parts[part], self.parts[other], self.seed)


@dataclass(frozen=True)
class OfSpans:
    """Parts of ratings that are spans."""

    parts: Mapping[str, SpanFigures]
    seed: int

    def entries(self) -> list[Entry]:
        """The headline's entry of each part."""
        return [
            {"stratum": part, "n": round(each.n), **span_figures.alpha(each, self.seed)}
            for part, each in self.parts.items()
        ]

    def difference(self, part: str, other: str) -> Entry | None:
        """The one part minus the other, each resampled by itself; None where one is undefined."""
        return span_figures.apart(self.parts[part], self.parts[other], self.seed)


def of_rows(
    draw: Draw,
    question: Question,
    run: Run,
    people: Sequence[Membership],
    rows: Sequence[matrices.Row],
    sizes: Mapping[str, int],
) -> OfLabels:
    """The parts of rows that have the name of their part in the place of a stratum; `sizes` are items of each part."""
    # All of each part was measured: none stands for more items than another.
    whole = {part: (items, items) for part, items in sizes.items()}
    kept = [row for row in rows if row[1] in whole]
    matrix = matrices.of_rows(draw, question, tuple(question.labels.all()), tuple(people), kept, whole)
    protocol = Protocol.from_json(draw.protocol, [question])
    known = label_figures.coefficients(protocol, matrix.ratings, matrix.level)
    parts = {part: matrix.in_stratum(place) for place, part in enumerate(matrix.strata)}
    return OfLabels(parts, known[run.result["headline"]["key"]], figures.seed_of(draw, question.key))
