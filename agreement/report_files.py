"""The files of a report: its figures as JSON, as a flat CSV and as a LaTeX table, and the methods paragraph as text.

JSON is one object:

  schema, project, made_at, named    `named`: raters are ids, and people's names beside them; else numbers that hold
              within a draw, as they always are where the reader may still decide cases of a draw
  draws       [{draw wave version closing closed_at reason size protocol gate questions}], the newest first
  gate        {outcome reason log: [{at outcome by reason}]}
  questions   [{key text task_type engine digest computed_at raters result}]; `raters` are the names of the ids, and a
              result is told in `agreement.figures`

CSV has a row for each statistic: of the whole draw, or of a label, pair, rater, stratum or role (`part` and `name`).
"""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement import methods, people, sentences
from agreement.charts import number
from agreement.reporting import Paper, Sheet
from projects.formats import FORMATS

SCHEMA = 1
COLUMNS = (
    "draw",
    "wave",
    "version",
    "closed_at",
    "question",
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
    "engine",
)
# What means something to LaTeX, and how it is written as itself.
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "−": r"$-$",
    "–": "--",
    "“": "``",
    "”": "''",
    "’": "'",
    "\n": " ",
}


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


def as_latex(paper: Paper, at: datetime) -> str:
    """A `tabular` that needs no package; a comment above it says where it comes from."""
    heads = [_("Question"), _("Guideline"), _("Wave"), _("Coefficient"), _("Value"), _("95 % interval"), _("Items")]
    lines = [
        f"% {_comment(paper.project.name)}, {at.date().isoformat()}, Concord engine {', '.join(paper.engines)}",
        r"\begin{tabular}{lllllll}",
        r"\hline",
        " & ".join(escaped(head) for head in heads) + r" \\",
        r"\hline",
        *(" & ".join(escaped(cell) for cell in _cells(sheet)) + r" \\" for sheet in paper.sheets),
        r"\hline",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def as_methods(paper: Paper, at: datetime) -> str:
    return "\n\n".join(methods.paragraphs(paper)) + "\n"


def escaped(text: str) -> str:
    """Text as LaTeX prints it, whatever signs it has."""
    return "".join(LATEX.get(sign, sign) for sign in text)


def _comment(text: str) -> str:
    """A text inside a comment: nothing in it can end the line."""
    return " ".join(text.split())


def _cells(sheet: Sheet) -> list[str]:
    result = sheet.run.result
    entry = result["statistics"][result["headline"]["key"]]
    value = number(entry["value"]) if "value" in entry else _("undefined")
    where = [sheet.question.text, sheet.draw.wave.version.number, str(sheet.draw.wave.number)]
    return [*where, _(result["headline"]["title"]), value, sentences.interval(entry), f"{entry['n']:g}"]


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
        "result": sheet.result(),
    }


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


def _row(sheet: Sheet, part: str, name: str, key: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    low, high = entry.get("interval") or (None, None)
    closed = sheet.draw.closed_at
    return {
        "draw": str(sheet.draw.uuid),
        "wave": sheet.draw.wave.number,
        "version": sheet.draw.wave.version.number,
        "closed_at": closed.isoformat() if closed else None,
        "question": sheet.question.key,
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
        "engine": sheet.run.engine,
    }


KINDS = {
    kind.key: kind
    for kind in (
        Kind("json", "JSON", ".json", "application/json", as_json),
        Kind("csv", "CSV", ".csv", "text/csv", as_csv),
        Kind("latex", gettext_lazy("LaTeX table"), ".tex", "text/x-tex", as_latex),
        Kind("methods", gettext_lazy("Methods as text"), ".txt", "text/plain", as_methods),
    )
}
