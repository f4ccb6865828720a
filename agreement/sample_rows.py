"""The figures of ended samples as rows of a file: intra-rater agreement, label migration, rates of correction."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from agreement import bridge_figures, check_figures, repeat_figures
from agreement.sample_entries import Entry
from annotations import samples
from annotations.enums import WaveKind, WaveState
from annotations.models import Draw, Wave
from projects.models import Project
from projects.task_types import Json

FIELDS = (
    "sample",
    "kind",
    "of",
    "version",
    "question",
    "measure",
    "rater",
    "rater_id",
    "label",
    "new_label",
    "value",
    "found",
    "n",
    "observed",
    "expected",
    "low",
    "high",
    "level",
    "method",
    "undefined",
)
Row = dict[str, Json]


def rows(project: Project, hidden: Sequence[Draw]) -> Iterator[tuple[int, Mapping[str, Json]]]:
    """A row for each figure of each sample that has ended, oldest first; open ones are interim and never in it."""
    for done, wave in enumerate(_ended(project), start=1):
        for row in OF_KIND[wave.kind](wave):
            yield done, dict.fromkeys(FIELDS) | _common(wave) | row


def total(project: Project) -> int:
    return len(_ended(project))


def _ended(project: Project) -> list[Wave]:
    return list(samples.of_project(project).filter(state=WaveState.CLOSED).order_by("pk"))


def _common(wave: Wave) -> Row:
    of = wave.sample.of
    return {"sample": str(wave), "kind": wave.kind, "of": str(of) if of else None, "version": wave.version.number}


def figure(entry: Entry) -> Row:
    """An entry as columns: a value with its interval, or why there is none."""
    low, high = entry.get("interval", (None, None))
    kept = {name: entry.get(name) for name in ("value", "found", "n", "observed", "expected", "level", "method")}
    return kept | {"low": low, "high": high, "undefined": entry.get("sentence")}


def _of_repeat(wave: Wave) -> Iterator[Row]:
    for one in repeat_figures.of_wave(wave):
        for row in (one.pooled, *one.people):
            who: Row = {
                "question": one.question.key,
                "rater": row.member.name if row.member else "pooled",
                "rater_id": str(row.member.uuid) if row.member else None,
            }
            if one.table:
                yield who | {"measure": f"intra-rater agreement, {one.title}"} | figure(row.kappa)
            yield who | {"measure": "intra-rater agreement, share of equal answers"} | figure(row.same)


def _of_spot_check(wave: Wave) -> Iterator[Row]:
    for rate in check_figures.of_wave(wave):
        about: Row = {
            "question": rate.question.key if rate.question else "any",
            "measure": "share of checked labels that were corrected",
        }
        yield about | figure(rate.corrected)


def _of_bridge(wave: Wave) -> Iterator[Row]:
    for table in bridge_figures.of_wave(wave):
        about: Row = {"question": table.question.key}
        for row in table.rows:
            mine = about | {"label": row.key}
            for cell in row.cells:
                yield mine | {"measure": "label migration", "new_label": cell.label.key} | figure(cell.share)
            made = " | ".join(label.key for label in row.predicted)
            yield mine | {"measure": "as the stored mapping predicts", "new_label": made} | figure(row.hit)
        yield about | {"measure": "as the stored mapping predicts"} | figure(table.hit)


OF_KIND: dict[str, Callable[[Wave], Iterator[Row]]] = {
    WaveKind.REPEAT: _of_repeat,
    WaveKind.BRIDGE: _of_bridge,
    WaveKind.SPOTCHECK: _of_spot_check,
}
