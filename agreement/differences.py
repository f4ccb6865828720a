"""How a version's figure differs from the version before, with its interval, and how plain agreement differs beside it.

A difference of two coefficients may come from how often the labels occur alone (METHODS, section 8), so the percent
agreement of both draws stands beside it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from agreement import charts, runs, sentences
from agreement.models import Run
from annotations.models import Draw

PERCENT = "percent_agreement"
# (draw's uuid, question) -> the share of pairs of ratings that agree, where there is one.
Observed = Mapping[tuple[str, str], float]


@dataclass(frozen=True)
class Difference:
    """This draw minus the newest one of the version before. Shares are None where one of them has none.

    `value`, `low` and `high` are differences of the coefficient `title`; an interval that is missing is None.
    """

    new: str
    old: str
    draw: str
    title: str
    value: float
    low: float | None
    high: float | None
    level: float | None
    method: str
    observed_new: float | None
    observed_old: float | None

    @property
    def versions(self) -> str:
        return _("%(new)s minus %(old)s") % {"new": self.new, "old": self.old}

    @property
    def shown(self) -> str:
        return charts.signed(self.value)

    @property
    def interval(self) -> str:
        return "" if self.low is None or self.high is None else sentences.interval({"interval": [self.low, self.high]})

    @property
    def observed(self) -> str:
        """Percent agreement before and now, and the difference in points; empty where a draw has none."""
        if self.observed_new is None or self.observed_old is None:
            return ""
        about = {
            "old": f"{100 * self.observed_old:.1f}",
            "new": f"{100 * self.observed_new:.1f}",
            "points": f"{100 * (self.observed_new - self.observed_old):+.1f}".replace("-", "−"),
        }
        return _("%(old)s %% before, %(new)s %% now: %(points)s points") % about

    @property
    def sentence(self) -> str:
        """All of it in words, for a methods paragraph."""
        about = {"versions": self.versions, "title": self.title, "value": self.shown, "observed": self.observed}
        if self.interval:
            about |= {"level": f"{100 * (self.level or 0.95):g}", "interval": self.interval}
            said = _("The difference in %(title)s, %(versions)s, was %(value)s (%(level)s %% interval %(interval)s).")
        else:
            said = _("The difference in %(title)s, %(versions)s, was %(value)s.")
        if self.observed:
            said = f"{said} {_('Percent agreement: %(observed)s.')}"
        return said % about


def of(run: Run, draw: Draw, observed: Observed) -> Difference | None:
    """What a run says of the version before; None where there is none to compare with."""
    found = run.result.get("difference")
    if not found or "value" not in found:
        return None
    low, high = found.get("interval") or (None, None)
    return Difference(
        new=draw.wave.version.number,
        old=found["version"],
        draw=found["draw"],
        title=_(found["title"]),
        value=found["value"],
        low=low,
        high=high,
        level=found.get("level"),
        method=found.get("method", ""),
        observed_new=_share(run.result),
        observed_old=observed.get((found["draw"], run.question_key)),
    )


def observed_before(found: Iterable[Run], closed: Iterable[Draw]) -> dict[tuple[str, str], float]:
    """Percent agreement of the draws that these runs are compared with; one query, none without a comparison."""
    wanted = {run.result["difference"]["draw"] for run in found if run.result.get("difference")}
    uuids = {draw.pk: str(draw.uuid) for draw in closed if str(draw.uuid) in wanted}
    if not uuids:
        return {}
    newest = runs.newest_of([draw for draw in closed if draw.pk in uuids])
    shares = {(uuids[pk], key): _share(run.result) for (pk, key), run in newest.items()}
    return {which: share for which, share in shares.items() if share is not None}


def _share(result: Mapping[str, Any]) -> float | None:
    share: float | None = result["statistics"].get(PERCENT, {}).get("value")
    return share
