"""What a planned change of a label set touches, and what agreement would have been had two labels been one."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from agreement import matrices
from agreement.charts import number
from agreement.coefficients import COEFFICIENTS
from agreement.coefficients.coefficient import ORDINAL
from agreement.coefficients.diagnostics import merged_value
from agreement.coefficients.ratings import Ratings
from agreement.matrices import Matrix
from annotations import imported
from annotations.models import Draw
from projects.models import GuidelineVersion
from projects.task_types import TASK_TYPES

NOTHING = "–"


@dataclass(frozen=True)
class WhatIf:
    """The coefficient of one closed draw as it was, and as it would have been with two labels taken for one."""

    draw: Draw
    title: str
    n: int
    value: str
    merged: str
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
        merged=_shown(as_one),
        note=imported.mark(draw),
        difference=NOTHING if value is None or as_one is None else _signed(as_one - value),
    )


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
