"""A report as tables for LaTeX that need no package: the figures, the differences of versions, and what gates said."""

from collections.abc import Iterable
from datetime import datetime

from django.utils.translation import gettext as _

from agreement import methods, sentences
from agreement.charts import number
from agreement.reporting import Paper, Sheet

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


def document(paper: Paper, at: datetime) -> str:
    """One `tabular` of the figures, one of the differences where there are any, and notes on waived gates."""
    heads = [_("Question"), _("Guideline"), _("Wave"), _("Coefficient"), _("Value"), _("95 % interval")]
    heads += [_("Method of the interval"), _("Percent agreement"), _("Items"), _("Gate")]
    lines = [
        f"% {_comment(paper.project.name)}, {at.date().isoformat()}, Concord engine {', '.join(paper.engines)}",
        *_table(heads, [_cells(sheet) for sheet in paper.sheets]),
        *_differences(paper),
        *_notes(paper),
    ]
    return "\n".join(lines) + "\n"


def escaped(text: str) -> str:
    """Text as LaTeX prints it, whatever signs it has."""
    return "".join(LATEX.get(sign, sign) for sign in text)


def _comment(text: str) -> str:
    """A text inside a comment: nothing in it can end the line."""
    return " ".join(text.split())


def _table(heads: list[str], rows: Iterable[list[str]]) -> list[str]:
    begin = rf"\begin{{tabular}}{{{'l' * len(heads)}}}"
    return [begin, r"\hline", _line(heads), r"\hline", *map(_line, rows), r"\hline", r"\end{tabular}"]


def _line(cells: Iterable[str]) -> str:
    return " & ".join(escaped(cell) for cell in cells) + r" \\"


def _cells(sheet: Sheet) -> list[str]:
    result = sheet.run.result
    entry = result["statistics"][result["headline"]["key"]]
    value = number(entry["value"]) if "value" in entry else _("undefined")
    where = [sheet.question.text, sheet.draw.wave.version.number, str(sheet.draw.wave.number)]
    measured = [_(result["headline"]["title"]), value, sentences.interval(entry), methods.of_interval(entry)]
    return [*where, *measured, methods.percent(result), f"{entry['n']:g}", sheet.here.brief]


def _differences(paper: Paper) -> list[str]:
    """Each version minus the one before, where there is one."""
    found = [(sheet, sheet.difference) for sheet in paper.sheets if sheet.difference is not None]
    heads = [_("Question"), _("Wave"), _("Versions"), _("Coefficient"), _("Difference"), _("95 % interval")]
    heads.append(_("Percent agreement"))
    rows = []
    for sheet, each in found:
        where = [sheet.question.text, str(sheet.draw.wave.number), each.versions]
        rows.append([*where, each.title, each.shown, each.interval, each.observed])
    return ["", *_table(heads, rows)] if rows else []


def _notes(paper: Paper) -> list[str]:
    """That ratings were imported, and the waivers: what is printed with every figure of their draw."""
    first = [paper.of_draw(draw)[0] for draw in paper.draws]
    said = [(sheet.draw, words) for sheet in first for words in (sheet.note, sheet.gate.waiver_words)]
    notes = [_("Wave %(wave)s: %(said)s") % {"wave": draw.wave.number, "said": words} for draw, words in said if words]
    return [line for note in notes for line in ("", r"\noindent " + escaped(note))]
