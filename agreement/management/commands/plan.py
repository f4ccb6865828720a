"""`manage.py plan FORM`: before labelling, how many overlap items a question needs. No database.

The answer of --json is one object: `form`, what was asked, and of `width`, `compare` and `limits`

  items, exact        items that all raters have to rate: whole, and as the formula has it
  rarest              how many of them carry the rarest label, expected
  method              whose formula it is
  batch, share_percent    with --batch: the share of so many items that this is, rounded up to a tenth

and of `third-rater` a `reliability` for each number of raters. `sentences` say it in words.
"""

import json
from argparse import RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter
from django.utils.translation import gettext as _

from agreement import codebooks, plan_words, planning
from agreement.charts import number
from agreement.planning import SampleSize

FORMS = """
  manage.py plan width --kappa .6 --half-width .1 --prevalence .3 --batch 5000
  manage.py plan compare --kappa .4 --against .6 --shares .3,.6,.1 --raters 3
  manage.py plan compare --kappa .6 --against .4 --margins .3,.25 --two-sided
  manage.py plan limits --kappa .4 --lower .3 --upper .5 --prevalence .3
  manage.py plan third-rater --kappa .4
"""
MOST_RATERS = 10


class Formatter(DjangoHelpFormatter, RawDescriptionHelpFormatter):
    """Django's order of the options; texts as they are written."""


class Command(BaseCommand):
    help = "How many overlap items a measurement needs, and what a further rating buys.\n" + FORMS
    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        description = str(__doc__).split("\n\n", 1)[1]
        return super().create_parser(prog_name, subcommand, formatter_class=Formatter, epilog=description, **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        forms = parser.add_subparsers(dest="form", required=True, metavar="FORM")
        width = forms.add_parser("width", help="an interval no wider than this to each side")
        width.add_argument("--kappa", type=float, required=True, help="the kappa that is expected")
        width.add_argument("--half-width", type=float, required=True, help="from the estimate to either end")
        width.add_argument("--confidence", type=float, default=0.95, help="of the interval (0.95)")
        compare = forms.add_parser("compare", help="tell one kappa from another")
        compare.add_argument("--kappa", type=float, required=True, help="the kappa to be told apart from (H0)")
        compare.add_argument("--against", type=float, required=True, help="the kappa that is expected")
        compare.add_argument("--raters", type=int, default=2, help="ratings per item (2)")
        compare.add_argument("--power", type=float, default=0.8, help="chance to find the difference (0.8)")
        compare.add_argument("--alpha", type=float, default=0.05, help="error of the test (0.05)")
        compare.add_argument("--margins", metavar="P,Q", help="share of the first of two labels for each of two raters")
        compare.add_argument("--two-sided", action="store_true", help="with --margins; without them it always is")
        limits = forms.add_parser("limits", help="an interval between two limits; two raters, two labels")
        limits.add_argument("--kappa", type=float, required=True, help="the kappa that is expected")
        limits.add_argument("--lower", type=float, required=True, help="the lower end of the interval")
        limits.add_argument("--upper", type=float, help="its upper end; without one the interval is one-sided")
        limits.add_argument("--alpha", type=float, default=0.05, help="error of the interval (0.05)")
        third = forms.add_parser("third-rater", help="what a third rating buys")
        third.add_argument("--kappa", type=float, required=True, help="agreement of two single raters")
        third.add_argument("--raters", type=int, default=3, help="ratings per item (3)")
        for form in (width, compare, limits):
            form.add_argument("--prevalence", type=float, help="share of the first of two labels")
            form.add_argument("--batch", type=int, help="items of the batch, for the share that this is of it")
        for form in (width, compare):
            form.add_argument("--shares", metavar="P,Q,…", help="share of each label")
        for form in (width, compare, limits, third):
            form.add_argument("--json", action="store_true", help="one JSON object, described by plan --help")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            answer = ANSWERS[options["form"]](options)
        except planning.Refused as refused:
            raise CommandError(plan_words.refusal(refused)) from refused
        except ValueError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(json.dumps(answer, ensure_ascii=False, allow_nan=False))
        else:
            self.stdout.write("\n".join(answer["sentences"]))


def _width(options: dict[str, Any]) -> dict[str, Any]:
    kappa, half_width, level = options["kappa"], options["half_width"], options["confidence"]
    size = planning.for_width(kappa, half_width, _shares(options), level=level)
    about: dict[str, object] = {
        "items": size.items,
        "kappa": number(kappa),
        "half": f"{half_width:g}",
        "level": f"{100 * level:g}",
    }
    said = _(
        "%(items)s items, rated by both of two raters: at kappa %(kappa)s the %(level)s %% interval then reaches"
        " %(half)s to each side."
    )
    return _sized(options, size, said % about, kappa=kappa, half_width=half_width, confidence=level)


def _compare(options: dict[str, Any]) -> dict[str, Any]:
    kappa, against, power, alpha = (options[name] for name in ("kappa", "against", "power", "alpha"))
    asked = {"kappa": kappa, "against": against, "power": power, "alpha": alpha}
    about: dict[str, object] = {
        "kappa": number(kappa),
        "against": number(against),
        "power": f"{100 * power:g}",
        "alpha": f"{100 * alpha:g}",
    }
    if options["margins"] is None:
        if options["two_sided"]:
            raise ValueError("--two-sided is for --margins: without margins the test is two-sided as it is.")
        raters = options["raters"]
        size = planning.to_tell_apart(kappa, against, _shares(options), raters=raters, power=power, alpha=alpha)
        about |= {"items": size.items, "raters": raters}
        said = _(
            "%(items)s items with %(raters)s ratings each: if kappa is %(against)s, it is then told apart from"
            " %(kappa)s in %(power)s of 100 cases, with an error of %(alpha)s %%, two-sided."
        )
        return _sized(options, size, said % about, **asked, raters=raters, two_sided=True)
    margins, two_sided = _margins(options), options["two_sided"]
    size = planning.to_tell_apart_with_margins(kappa, against, margins, power=power, alpha=alpha, two_sided=two_sided)
    about |= {"items": size.items, "sides": _("two-sided") if two_sided else _("one-sided")}
    said = _(
        "%(items)s items, rated by both of two raters: if kappa is %(against)s, it is then told apart from %(kappa)s in"
        " %(power)s of 100 cases, with an error of %(alpha)s %%, %(sides)s."
    )
    return _sized(options, size, said % about, **asked, margins=list(margins), two_sided=two_sided)


def _limits(options: dict[str, Any]) -> dict[str, Any]:
    kappa, lower, upper, alpha = (options[name] for name in ("kappa", "lower", "upper", "alpha"))
    if options["prevalence"] is None:
        raise ValueError("--prevalence is missing: the share of the first of the two labels.")
    size = planning.for_limits(kappa, lower, upper, options["prevalence"], alpha=alpha)
    about: dict[str, object] = {
        "items": size.items,
        "kappa": number(kappa),
        "lower": number(lower),
        "level": f"{100 * (1 - alpha):g}",
    }
    if upper is None:
        said = _(
            "%(items)s items, rated by both of two raters: at kappa %(kappa)s the %(level)s %% lower limit is then"
        )
        said = f"{said} %(lower)s."
    else:
        about["upper"] = number(upper)
        said = _(
            "%(items)s items, rated by both of two raters: at kappa %(kappa)s the %(level)s %% interval then lies"
            " between %(lower)s and %(upper)s."
        )
    return _sized(options, size, said % about, kappa=kappa, lower=lower, upper=upper, alpha=alpha)


def _third_rater(options: dict[str, Any]) -> dict[str, Any]:
    kappa, raters = options["kappa"], options["raters"]
    if not 2 <= raters <= MOST_RATERS:
        raise ValueError(f"--raters {raters}: expected 2 to {MOST_RATERS} ratings per item.")
    found = {each: planning.with_raters(kappa, each) for each in range(2, raters + 1)}
    sentences = [
        _("The mean or majority label of %(raters)s raters has a reliability of %(value)s.")
        % {"raters": each, "value": number(value)}
        for each, value in found.items()
    ]
    sentences.append(
        _("A rule of thumb (Spearman-Brown), from kappa %(kappa)s of two raters.") % {"kappa": number(kappa)}
    )
    rows = [{"raters": each, "reliability": value} for each, value in found.items()]
    return {"form": options["form"], "kappa": kappa, "reliability": rows, "sentences": sentences}


def _sized(options: dict[str, Any], size: SampleSize, said: str, **asked: Any) -> dict[str, Any]:
    answer = {"form": options["form"], **asked, "items": size.items, "exact": size.exact, "rarest": size.rarest}
    answer |= {"method": size.method, "batch": options["batch"], "share_percent": None}
    sentences = [said, _rarest(size)]
    if options["batch"] is not None:
        share = planning.share_percent(size.items, options["batch"])
        answer["share_percent"] = share
        about = {"share": f"{share:g}", "batch": options["batch"]}
        sentences.append(_("That is %(share)s %% of a batch of %(batch)s items.") % about)
    sentences.append(_("Method: %(method)s.") % {"method": size.method})
    return {**answer, "sentences": sentences}


def _rarest(size: SampleSize) -> str:
    return _("About %(n)s of them carry the rarest label; rare labels, not items, decide what can be told.") % {
        "n": round(size.rarest)
    }


def _shares(options: dict[str, Any]) -> Sequence[float]:
    """The shares of the labels, from --shares or --prevalence."""
    if (options["shares"] is None) == (options["prevalence"] is None):
        raise ValueError("Say how often the labels are used: --prevalence for two labels, or --shares for all of them.")
    if options["shares"] is not None:
        return codebooks.numbers(options["shares"])
    return [options["prevalence"], 1 - options["prevalence"]]


def _margins(options: dict[str, Any]) -> tuple[float, float]:
    if options["prevalence"] is not None or options["shares"] is not None:
        raise ValueError("--margins says how often the labels are used: leave out --prevalence and --shares.")
    if options["raters"] != 2:
        raise ValueError(f"--margins is for two raters, not {options['raters']}.")
    margins = codebooks.numbers(options["margins"])
    if len(margins) != 2:
        raise ValueError(f"--margins {options['margins']}: expected two numbers, one for each rater.")
    return margins[0], margins[1]


ANSWERS = {"width": _width, "compare": _compare, "limits": _limits, "third-rater": _third_rater}
