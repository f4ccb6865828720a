"""Entries of samples' figures, in the shape that `figures.py` describes: a value with n and interval, or why none."""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from agreement.charts import number
from agreement.coefficients import COEFFICIENTS
from agreement.coefficients.bootstrap import REPLICATES, interval
from agreement.coefficients.intervals import wilson
from agreement.coefficients.ratings import Ratings

Entry = dict[str, Any]
NONE_YET = "Nothing was rated yet."


def share(found: int, n: int) -> Entry:
    """A share with Wilson's interval; undefined of nothing."""
    if not n:
        return {"undefined": "no_items", "sentence": NONE_YET, "n": 0, "found": 0}
    spread = wilson(found, n)
    return {
        "value": found / n,
        "found": found,
        "n": n,
        "interval": [spread.low, spread.high],
        "level": spread.level,
        "method": spread.method,
    }


def coefficient(key: str, ratings: Ratings, *, seed: int) -> Entry:
    """A coefficient of two columns with its bootstrap interval, or the reason why it is undefined."""
    known = COEFFICIENTS[key]
    answer = known.function(ratings)
    if answer.value is None:
        found: Entry = {"undefined": answer.undefined, "sentence": answer.sentence, "n": int(answer.n)}
        return found if answer.observed is None else found | {"observed": answer.observed}
    spread = interval(ratings, known.statistic(ratings), seed=seed, replicates=REPLICATES)
    found = {"value": answer.value, "observed": answer.observed, "expected": answer.expected, "n": int(answer.n)}
    if spread is not None:
        found |= {
            "interval": [spread.low, spread.high],
            "level": spread.level,
            "method": spread.method,
            "replicates": spread.replicates,
            "seed": seed,
        }
    return found


def said(entry: Mapping[str, Any]) -> str:
    """An entry in one phrase: the value with its interval, or that it is undefined, and why."""
    if "value" not in entry:
        return _("undefined: %(why)s") % {"why": _(entry["sentence"])}
    if "interval" not in entry:
        return number(entry["value"])
    low, high = entry["interval"]
    return _("%(value)s (%(low)s to %(high)s)") % {
        "value": number(entry["value"]),
        "low": number(low),
        "high": number(high),
    }
