"""What a planned change of a label set touches, and what agreement would have been: had two labels been one, or had the
steps of a scale stood in another order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.utils.translation import gettext as _

from agreement import matrices
from agreement.charts import number
from agreement.coefficients import COEFFICIENTS
from agreement.coefficients.coefficient import ORDINAL, Coefficient
from agreement.coefficients.diagnostics import merged_value
from agreement.coefficients.ratings import MISSING, Ratings
from agreement.matrices import Matrix
from agreement.protocol import Protocol
from annotations import imported
from annotations.models import Draw
from projects.models import GuidelineVersion
from projects.task_types import TASK_TYPES

NOTHING = "–"
STEPS = ("linear", "quadratic")


@dataclass(frozen=True)
class WhatIf:
    """The coefficient of one closed draw as it was, and as it would have been."""

    draw: Draw
    title: str
    n: int
    value: str
    changed: str
    difference: str
    note: str


def closed_draws(version: GuidelineVersion) -> list[Draw]:
    """The closed draws of the version's MAJOR, the newest first."""
    rows = Draw.objects.closed().filter(wave__project=version.project_id, wave__major=version.major or 0)
    return list(rows.select_related("wave__version").defer("population").order_by("-wave__number"))


def merged(version: GuidelineVersion, key: str, one: str, other: str, *, at: datetime) -> list[WhatIf]:
    """What each closed draw of the version's MAJOR would say; draws that did not ask for both labels are left out."""
    found = []
    for draw in closed_draws(version):
        matrix = _matrix(draw, key, at=at)
        if matrix is not None and {one, other} <= set(matrix.ratings.labels):
            found.append(_what_if(draw, matrix, one, other))
    return found


def _matrix(draw: Draw, key: str, *, at: datetime) -> Matrix | None:
    asked = next((question for question in matrices.questions(draw) if question.key == key), None)
    return (
        None
        if asked is None or not matrices.is_single(asked)
        else matrices.of(draw, asked, by=matrices.raters(draw), at=at)
    )


def _what_if(draw: Draw, matrix: Matrix, one: str, other: str) -> WhatIf:
    ratings = matrix.ratings
    places = ratings.labels.index(one), ratings.labels.index(other)
    value, as_one = plain_value(ratings), merged_value(ratings, *places)
    ordinal = TASK_TYPES[matrix.question.task_type].level == ORDINAL
    title = _(COEFFICIENTS[_plain(ratings)].title)
    return WhatIf(
        draw=draw,
        title=_("%(title)s, without weights") % {"title": title} if ordinal else title,
        n=round(ratings.n_paired),
        value=_shown(value),
        changed=_shown(as_one),
        note=imported.mark(draw),
        difference=NOTHING if value is None or as_one is None else _signed(as_one - value),
    )


# -- another order of a scale ------------------------------------------------------------------------------------------


def reordered(version: GuidelineVersion, key: str, order: Sequence[str], *, at: datetime) -> list[WhatIf]:
    """What each closed draw of the version's MAJOR would say with its scale in this order.

    Of scales alone, and of draws that asked for the same labels: nobody can say where another one would stand.
    """
    found = []
    for draw in closed_draws(version):
        matrix = _matrix(draw, key, at=at)
        if matrix is not None and matrix.level == ORDINAL and set(matrix.ratings.labels) == set(order):
            found.append(_in_order(draw, matrix, order))
    return found


def _in_order(draw: Draw, matrix: Matrix, order: Sequence[str]) -> WhatIf:
    coefficient = COEFFICIENTS[_of_scale(draw, matrix)]
    value, changed = _of(coefficient, matrix.ratings), _of(coefficient, in_order(matrix.ratings, order))
    return WhatIf(
        draw=draw,
        title=_(coefficient.title),
        n=round(matrix.ratings.n_paired),
        value=_shown(value),
        changed=_shown(changed),
        note=imported.mark(draw),
        difference=NOTHING if value is None or changed is None else _signed(changed - value),
    )


def _of_scale(draw: Draw, matrix: Matrix) -> str:
    """Weighted kappa of two raters with the draw's weights, where these follow from the order alone; else alpha."""
    weights = Protocol.from_json(draw.protocol, [matrix.question]).questions[matrix.question.key].weights
    two = _plain(matrix.ratings) == "cohen_kappa"
    return f"weighted_kappa_{weights}" if two and weights in STEPS else "krippendorff_alpha_ordinal"


def _of(coefficient: Coefficient, ratings: Ratings) -> float | None:
    return coefficient.function(ratings).value if ratings.n_paired else None


def in_order(ratings: Ratings, order: Sequence[str]) -> Ratings:
    """The same ratings with the labels in this order."""
    now = [ratings.labels.index(label) for label in order]
    place = np.argsort(now)
    codes = np.where(ratings.codes == MISSING, MISSING, place[ratings.codes])
    values = ratings.values and tuple(ratings.values[each] for each in now)
    return replace(ratings, codes=codes, labels=tuple(order), values=values)


# -- one coefficient for both sides ------------------------------------------------------------------------------------


def plain_value(ratings: Ratings) -> float | None:
    """Kappa of two raters, else nominal alpha, of the labels as they are; what `merged_value` is held against."""
    return COEFFICIENTS[_plain(ratings)].function(ratings).value if ratings.n_paired else None


def _plain(ratings: Ratings) -> str:
    two = ratings.n_raters == 2 and not ratings.exchangeable
    return "cohen_kappa" if two else "krippendorff_alpha_nominal"


def _shown(value: float | None) -> str:
    return _("undefined") if value is None else number(value)


def _signed(value: float) -> str:
    return f"+{number(value)}" if value > 0 else number(value)
