"""The confusion table of a run: its counts, how strongly each is tinted, and where the items behind it are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from agreement import charts
from annotations.models import Draw


@dataclass(frozen=True)
class Cell:
    """A cell of the confusion table: `url` leads to its cases, None draws nothing."""

    count: int
    tint: int
    same: bool
    url: str
    words: str


@dataclass(frozen=True)
class Heat:
    """The confusion table. Folded, a cell counts both ways round and says of nobody who said which."""

    labels: list[str]
    rows: list[tuple[str, list[Cell | None], int]]
    totals: list[int]
    folded: bool
    down: str
    across: str
    caption: str


def heat(result: Mapping[str, Any], draw: Draw, names: Mapping[str, str], *, by_rater: bool) -> Heat:
    """Two raters by rater; more, or where that is kept back, pairs of ratings without who said which."""
    labels = result["labels"]
    folded = not by_rater or "table" not in result
    table = result["coincidences"] if folded else result["table"]
    largest = max((table[i][j] for i in range(len(labels)) for j in range(len(labels)) if i != j), default=0)
    rows = []
    for i, one in enumerate(labels):
        cells: list[Cell | None] = []
        for j, other in enumerate(labels):
            count = int(table[i][j])
            words = _("%(one)s and %(other)s: %(n)s") % {"one": one["name"], "other": other["name"], "n": count}
            linked = count and not result["interim"]
            url = cell_url(draw, result["question"], one["key"], other["key"]) if linked else ""
            tint = 0 if i == j else charts.heat(count, largest)
            cells.append(None if folded and j > i else Cell(count, tint, i == j, url, words))
        rows.append((one["name"], cells, int(sum(table[i]))))
    totals = [int(sum(row[j] for row in table)) for j in range(len(labels))]
    people = [names.get(rater, rater) for rater in result["raters"]]
    down, across = (people[0], people[1]) if not folded else ("", "")
    return Heat([label["name"] for label in labels], rows, totals, folded, down, across, _caption(result, down, across))


def _caption(result: Mapping[str, Any], down: str, across: str) -> str:
    """What a cell counts; who stands down and across, where raters are told."""
    about, level = {"down": down, "across": across}, result.get("level")
    if level == "multilabel":
        said = _(
            "On the diagonal both people gave the label; elsewhere one gave the one label and not the other, and the "
            "second person the other way round."
        )
    elif level == "spans":
        said = _("Spans that two people marked with the same borders, by the label that each gave.")
    elif down:
        return _("Items by what %(down)s (down) and %(across)s (across) said.") % about
    else:
        return _("Pairs of ratings of the same item. A cell counts both ways round: it does not say who said which.")
    return f"{said} {_('Down: %(down)s; across: %(across)s.') % about}" if down else said


def cell_url(draw: Draw, question_key: str, one: str, other: str) -> str:
    """One address for both ways round: it says of nobody who said which."""
    first, second = sorted((one, other))
    return reverse("agreement:cell", args=[draw.wave.project.uuid, draw.uuid, question_key, first, second])
