"""`manage.py agreement FILE`: the agreement figures of a file of ratings, without a project and without a database.

The answer of --json is one object:

  file, scale         what was read, and as what
  labels, raters      labels in their order, raters in that of the columns (long files: by name)
  n_items             items in the file, also those that nobody rated
  statistics          NAME -> {"value", "n", "interval": [low, high], "method", "level", "se", ...}
                      or {"undefined": REASON, "sentence", "n"}; what is per label, pair or rater is a list of such
                      objects with "label", "pair" or "rater" beside. "large_sample": [low, high] is the interval on
                      Fisher's z scale, given beside a bootstrap one
  headline            {"key", "title", "reason", "beside"}: the NAME that the design calls for, and why
  diagnostics         [{"key", "numbers", "sentence"}]: what the figures should be read with
  notes               sentences on how the file was understood
  uses, table         uses of each label by each rater; for two raters the table of counts, the first one's labels down
  answers             multilabel: the distinct sets, which `uses` and `table` count; `labels` are their members
  seed, engine, weights, expert, exchangeable

REASON is no_pairs, no_variation, one_category, one_item or no_defined_pair. Keys may be added; these stay.
"""

import json
import re
from argparse import RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter

from agreement import answers, codebooks, files, printing
from agreement.coefficients import LEVELS
from agreement.coefficients.bootstrap import LEVEL, REPLICATES
from agreement.coefficients.coefficient import NOMINAL
from projects.formats import FORMATS

LAYOUTS = """
long    one rating a row, in columns item, rater and label (--item, --rater, --label name others)
wide    one item a row and one column a rater: --raters anna,ben. A column `item` is used where there is one, so that
        the ratings of an item may stand on several rows. With --count COLUMN a row stands for so many items, so a
        published table goes in as it is

In CSV and TSV every cell is a text and an empty one is a missing rating; of a multilabel scale its labels are separated
by ; and a lone ; is the answer "none of them". In JSONL and JSON 1, "1" and true are three labels, null is a missing
rating and nothing else is, and an answer of a multilabel scale is a list.

  manage.py agreement ratings.csv --labels yes,no
  manage.py agreement sheet.csv --raters anna,ben,cara --scale ordinal --labels low,medium,high --weights quadratic
  manage.py agreement table.csv --raters first,second --count items --labels '["yes", "no"]' --json
"""


class Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Django's order of the options; texts as they are written."""


class Command(BaseCommand):
    help = "Agreement figures of a file of ratings (CSV, TSV, JSONL, JSON), without a project.\n" + LAYOUTS
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        description = str(__doc__).split("\n\n", 1)[1]
        parser = super().create_parser(prog_name, subcommand, formatter_class=Formatter, epilog=description, **kwargs)
        # A list that begins with a negative number, as in --labels -1,0,1, is a value and no option.
        parser._negative_number_matcher = re.compile(r"-\.?\d")
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="the file; - reads the standard input")
        columns = parser.add_argument_group("columns")
        columns.add_argument("--item", help="the column of the item (item); wide: '' where rows are items")
        columns.add_argument("--rater", default="rater", help="long: the column of the rater (rater)")
        columns.add_argument("--label", default="label", help="long: the column of the label (label)")
        columns.add_argument("--raters", metavar="A,B,…", help="wide: the raters' columns, a comma or JSON list")
        columns.add_argument("--count", default="", metavar="COLUMN", help="wide: how many items a row stands for")
        columns.add_argument("--exchangeable", action="store_true", help="rating places, not people: nothing by rater")
        columns.add_argument("--format", choices=sorted(FORMATS), help="recognised unless given")
        scale = parser.add_argument_group("labels")
        scale.add_argument("--scale", choices=LEVELS, default=NOMINAL, help=f"{NOMINAL} unless given")
        scale.add_argument("--labels", metavar="A,B,…", help="all labels in order, used or not: a comma or JSON list")
        scale.add_argument(
            "--values", metavar="1,2,…", help="the number of each label, for interval and ratio distance"
        )
        scale.add_argument(
            "--weights",
            metavar="linear|quadratic|FILE",
            help="the headline's on an ordinal scale; a file of disagreement weights, rows and columns in label order, "
            "adds weighted_kappa_custom",
        )
        scale.add_argument("--expert", metavar="RATER", help="one rater is the measure for the others")
        made = parser.add_argument_group("intervals and answer")
        made.add_argument("--no-interval", action="store_true", help="no resampling")
        made.add_argument("--seed", type=int, default=1, help="of the resampling (1)")
        made.add_argument("--replicates", type=int, default=REPLICATES, help=f"of the resampling ({REPLICATES})")
        made.add_argument("--confidence", type=float, default=LEVEL, help=f"of the intervals ({LEVEL})")
        made.add_argument("--json", action="store_true", help="one JSON object, described below")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            answer = _answer(options)
        except OSError as error:
            raise CommandError(f"{error.filename} cannot be read: {error.strerror}.") from error
        except codebooks.BadWeights as error:
            raise CommandError(f"{options['weights']}: {error}") from error
        except ValueError as error:
            raise CommandError(f"{options['file']}: {error}") from error
        if options["json"]:
            self.stdout.write(json.dumps(answer, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write(printing.report(answer, options["file"]), ending="")


def _answer(options: dict[str, Any]) -> dict[str, Any]:
    declared, layout, asked = _declared(options), _layout(options), _asked(options)
    standard_input = options["file"] == "-"
    with open(0 if standard_input else options["file"], "rb", closefd=not standard_input) as stream:
        loaded = files.read(stream, options["file"], layout, declared, options["format"])
    return {"file": options["file"], **answers.of(loaded, declared, asked)}


def _declared(options: dict[str, Any]) -> codebooks.Declared:
    labels, typed = codebooks.listed(options["labels"]) if options["labels"] is not None else (None, True)
    values = codebooks.numbers(options["values"]) if options["values"] is not None else None
    return codebooks.Declared(options["scale"], labels, typed, values)


def _layout(options: dict[str, Any]) -> files.Layout:
    raters = codebooks.listed(options["raters"])[0] if options["raters"] is not None else ()
    return files.Layout(
        item=options["item"],
        rater=options["rater"],
        label=options["label"],
        raters=tuple(codebooks.text_of(rater) for rater in raters),
        count=options["count"],
        exchangeable=options["exchangeable"],
    )


def _asked(options: dict[str, Any]) -> answers.Asked:
    if not 0 < options["confidence"] < 1:
        raise codebooks.BadRatings(f"--confidence {options['confidence']:g}: expected a number between 0 and 1.")
    if not 1 <= options["replicates"] <= 1_000_000:
        raise codebooks.BadRatings(f"--replicates {options['replicates']}: expected 1 to 1,000,000.")
    if options["seed"] < 0:
        raise codebooks.BadRatings(f"--seed {options['seed']}: expected 0 or more.")
    weights, matrix = options["weights"], None
    if weights not in (None, answers.LINEAR, answers.QUADRATIC):
        matrix, weights = _matrix(Path(weights)), answers.CUSTOM
    return answers.Asked(
        weights,
        matrix,
        options["expert"],
        not options["no_interval"],
        options["seed"],
        options["replicates"],
        options["confidence"],
    )


def _matrix(path: Path) -> list[list[float]]:
    """Declared weights; whatever is wrong with them is said of their file, not of that of the ratings."""
    try:
        return codebooks.matrix(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise codebooks.BadWeights("The file is not UTF-8 text: write one row of numbers for each label.") from error
    except codebooks.BadRatings as error:
        raise codebooks.BadWeights(str(error)) from error
