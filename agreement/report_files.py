"""The files of a report: its figures as JSON, as a flat CSV and as a LaTeX table, and the methods paragraph as text.

JSON is one object:

  schema, project, made_at, named    `named`: raters are ids, and people's names beside them; else numbers that hold
              within a draw, as they always are where the reader may still decide cases of a draw
  draws       [{draw wave version closing closed_at reason size imported note protocol gate questions}], the newest
              first; `note` has to stand beside every figure of the draw
  gate        {outcome reason log: [{at outcome by reason}]}
  questions   [{key text task_type engine digest computed_at raters gate difference result}]; `raters` are the names of
              the ids, `gate` is {outcome brief findings: [{part name outcome value threshold on}]}, `difference` is
              told in `agreement.differences` and a result in `agreement.figures`

CSV has a row for each statistic: of the whole draw, or of a label, pair, rater, stratum or role (`part` and `name`).
Where there is a version before, it has one for each difference from it (`part` "difference", `name` that version).
`gate` is what a threshold said of the row, else empty; `gate_of_question`, the waiver and what has to stand beside
every figure (`note`) are in every row of a draw.
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from agreement import methods, people, report_latex
from agreement.differences import Difference
from agreement.gate_pages import Said
from agreement.reporting import Paper, Sheet
from projects.formats import FORMATS

SCHEMA = 1
# The figures that a threshold for each label is for.
BY_LABEL = ("per_class_kappa", "per_class_alpha")
COLUMNS = (
    "draw",
    "wave",
    "version",
    "closed_at",
    "question",
    "question_text",
    "part",
    "name",
    "statistic",
    "headline",
    "value",
    "undefined",
    "low",
    "high",
    "level",
    "method",
    "n",
    "threshold",
    "threshold_on",
    "gate",
    "gate_of_question",
    "waived_by",
    "waived_at",
    "waiver_reason",
    "note",
    "engine",
)


@dataclass(frozen=True)
class Kind:
    """A file of a report. `write` gets the report and the time, and gives the text."""

    key: str
    title: str | Promise
    suffix: str
    media_type: str
    write: Callable[[Paper, datetime], str]


def as_json(paper: Paper, at: datetime) -> str:
    about = {
        "schema": SCHEMA,
        "project": {"uuid": str(paper.project.uuid), "name": paper.project.name},
        "made_at": at.isoformat(),
        "named": paper.scope.named,
        "draws": [_draw(paper.of_draw(draw)) for draw in paper.draws],
    }
    return json.dumps(about, ensure_ascii=False, allow_nan=False, indent=1) + "\n"


def as_csv(paper: Paper, at: datetime) -> str:
    stream = io.BytesIO()
    rows = (row for sheet in paper.sheets for row in _rows(sheet))
    FORMATS["csv"].write(rows, stream, COLUMNS)
    return stream.getvalue().decode()


def as_methods(paper: Paper, at: datetime) -> str:
    return "\n\n".join(methods.paragraphs(paper)) + "\n"


def _draw(sheets: list[Sheet]) -> dict[str, Any]:
    draw, gate = sheets[0].draw, sheets[0].gate
    log = [
        {"at": each.at.isoformat(), "outcome": each.outcome, "by": each.by, "reason": each.reason} for each in gate.log
    ]
    return {
        "draw": str(draw.uuid),
        "wave": draw.wave.number,
        "version": draw.wave.version.number,
        "closing": draw.closing,
        "closed_at": draw.closed_at.isoformat() if draw.closed_at else None,
        "reason": draw.reason,
        "size": draw.size,
        "imported": draw.is_imported,
        "note": sheets[0].note,
        "protocol": _protocol(sheets),
        "gate": {"outcome": gate.outcome, "reason": gate.reason, "log": log},
        "questions": [_question(sheet) for sheet in sheets],
    }


def _protocol(sheets: list[Sheet]) -> Mapping[str, Any]:
    """Who the expert is, is told where raters are."""
    protocol: Mapping[str, Any] = sheets[0].draw.protocol
    if "expert" not in protocol or all(sheet.named for sheet in sheets):
        return protocol
    numbers = people.pseudonyms(sheets[0].draw, sheets[0].run.result["raters"])
    return {**protocol, "expert": numbers.get(protocol["expert"], "")}


def _question(sheet: Sheet) -> dict[str, Any]:
    return {
        "key": sheet.question.key,
        "text": sheet.question.text,
        "task_type": sheet.question.task_type,
        "engine": sheet.run.engine,
        "digest": sheet.run.digest,
        "computed_at": sheet.run.created_at.isoformat(),
        "raters": sheet.names if sheet.named else None,
        "gate": _judged(sheet),
        "difference": asdict(sheet.difference) if sheet.difference else None,
        "result": sheet.result(),
    }


def _judged(sheet: Sheet) -> dict[str, Any]:
    here = sheet.here
    findings: list[dict[str, Any]] = [
        {
            "part": each.part,
            "name": each.name,
            "outcome": each.words,
            "value": each.value,
            "threshold": each.threshold,
            "on": each.on,
        }
        for each in here.all
    ]
    return {"outcome": here.outcome, "brief": here.brief, "findings": findings}


def _rows(sheet: Sheet) -> Iterator[dict[str, Any]]:
    result = sheet.result()
    names = {str(label["key"]): label["name"] for label in result["labels"]}
    for key, found in result["statistics"].items():
        if isinstance(found, Mapping):
            yield _row(sheet, "whole", "", key, found)
            continue
        for entry in found:
            part = next((name for name in ("label", "pair", "rater") if name in entry), "")
            of_what = entry.get(part, "")
            parts = of_what if isinstance(of_what, list) else [of_what]
            name = " / ".join(names.get(str(each)) or sheet.names.get(str(each), str(each)) for each in parts)
            yield _row(sheet, part, name, key, entry)
    for stratum in result["strata"]:
        yield _row(sheet, stratum.get("by", "stratum"), stratum["stratum"], result["headline"]["key"], stratum)
    if sheet.difference is not None:
        yield from _differences(sheet, sheet.difference)


def _differences(sheet: Sheet, found: Difference) -> Iterator[dict[str, Any]]:
    """This draw minus the version before, and percent agreement of that version: the one of this draw has its row."""
    kept = sheet.run.result["difference"]
    entry = {key: kept[key] for key in ("value", "interval", "level", "method") if key in kept}
    yield _row(sheet, "difference", found.old, kept["key"], {**entry, "n": sheet.run.n})
    if found.observed_old is not None and found.observed_new is not None:
        change = {"value": found.observed_new - found.observed_old, "n": sheet.run.n}
        yield _row(sheet, "difference", found.old, "percent_agreement", change)


def _row(sheet: Sheet, part: str, name: str, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    low, high = entry.get("interval") or (None, None)
    closed = sheet.draw.closed_at
    return {
        "draw": str(sheet.draw.uuid),
        "wave": sheet.draw.wave.number,
        "version": sheet.draw.wave.version.number,
        "closed_at": closed.isoformat() if closed else None,
        "question": sheet.question.key,
        "question_text": sheet.question.text,
        "part": part,
        "name": name,
        "statistic": key,
        "headline": part == "whole" and key == sheet.run.result["headline"]["key"],
        "value": entry.get("value"),
        "undefined": entry.get("undefined"),
        "low": low,
        "high": high,
        "level": entry.get("level"),
        "method": entry.get("method"),
        "n": entry["n"],
        **_gate(sheet, part, name, key, entry),
        "note": sheet.note,
        "engine": sheet.run.engine,
    }


def _gate(sheet: Sheet, part: str, name: str, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the gate said of a row, and of its question; who waived it, when and why, wherever somebody did."""
    said, waiver = _said(sheet, part, name, key, entry), sheet.gate.waiver
    return {
        "threshold": said.threshold if said else None,
        "threshold_on": said.on if said else None,
        "gate": said.words if said else None,
        "gate_of_question": sheet.here.brief,
        "waived_by": waiver.by if waiver else None,
        "waived_at": waiver.at.isoformat() if waiver else None,
        "waiver_reason": waiver.reason if waiver else None,
    }


def _said(sheet: Sheet, part: str, name: str, key: str, entry: Mapping[str, Any]) -> Said | None:
    """The finding on the figure of a row: on the headline, on a label against the rest or on a stratum."""
    here = sheet.here
    if part == "whole" and key == sheet.run.result["headline"]["key"]:
        return here.whole[0] if here.whole else None
    if part == "label" and key in BY_LABEL:
        return here.labels.get(str(entry["label"])) or here.labels.get(name)
    return here.strata.get(name) if part == "stratum" else None


KINDS = {
    kind.key: kind
    for kind in (
        Kind("json", "JSON", ".json", "application/json", as_json),
        Kind("csv", "CSV", ".csv", "text/csv", as_csv),
        Kind("latex", gettext_lazy("LaTeX table"), ".tex", "text/x-tex", report_latex.document),
        Kind("methods", gettext_lazy("Methods as text"), ".txt", "text/plain", as_methods),
    )
}
