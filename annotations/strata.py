"""What a draw is split by, and how much of each stratum it takes (DESIGN §3 "Share", "Enriched draw")."""

from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext as _

from annotations.enums import WaveKind
from annotations.models import Wave, WaveItem
from annotations.sampling import Plan, Tally
from projects.errors import Invalid
from projects.models import Project

STRATUM_LIMIT = 200  # characters, as the column has it
MINIMUM_LIMIT = 10_000
FACTOR, SHARE = "factor", "share_percent"

Enriched = Mapping[str, Mapping[str, str]]


def fields_of(project: Project) -> list[str]:
    """The metadata fields of the project's batches: what a draw can be split by."""
    fields = project.batches.values_list("metadata_fields", flat=True)
    return sorted({str(name) for names in fields for name in names})


def stratum_of(metadata: Mapping[str, Any], field: str) -> str:
    """The stratum of an item; without a field all are in one."""
    return str(metadata.get(field, ""))[:STRATUM_LIMIT] if field else ""


def declare(protocol: dict[str, Any], project: Project, choices: Mapping[str, Any]) -> None:
    """Put what a lead chose for this draw into its protocol: `strata_field`, `strata_minimum`, `enriched`.

    None stands for the project's default. Raises Invalid with a sentence for what makes no sense.
    """
    field = choices.get("strata_field")
    if field is not None and field != protocol.get("strata_field", ""):
        if field and field not in fields_of(project):
            raise Invalid(_("No imported item has a metadata field “%(name)s”.") % {"name": field})
        protocol["strata_field"] = field
    for name in ("strata_minimum", "enriched"):
        if choices.get(name) is not None:
            protocol[name] = choices[name]
    minimum, enriched = int(protocol.get("strata_minimum") or 0), protocol.get("enriched") or {}
    # Left out where nothing was chosen, so that such a protocol is the same as one from before these words.
    protocol.pop("strata_minimum", None)
    protocol.pop("enriched", None)
    if not 0 <= minimum <= MINIMUM_LIMIT:
        raise Invalid(
            _("A minimum of %(n)s per stratum: expected 0 to %(limit)s.") % {"n": minimum, "limit": MINIMUM_LIMIT}
        )
    if (minimum or enriched) and not protocol.get("strata_field"):
        raise Invalid(_("A minimum or an own share needs strata: choose the field that the draw is split by."))
    if minimum:
        protocol["strata_minimum"] = minimum
    if enriched:
        protocol["enriched"] = _enriched(enriched)
        own_shares(protocol)


def own_shares(protocol: Mapping[str, Any]) -> dict[str, Decimal]:
    """The share, in per cent, of each stratum that is over-sampled: its own, or the common one times its factor."""
    enriched, common = protocol.get("enriched") or {}, Decimal(str(protocol["share_percent"]))
    if enriched and not common:
        raise Invalid(
            _(
                "A share of 0 %% for the strata that are not over-sampled: nothing could be said about the whole. "
                "Give the rest a share, if a small one."
            )
            % {}
        )
    return {
        stratum: Decimal(rule[SHARE]) if SHARE in rule else min(Decimal(100), common * Decimal(rule[FACTOR]))
        for stratum, rule in enriched.items()
    }


def plan(project: Project, major: int, protocol: Mapping[str, Any], *, before: int | None = None) -> Plan:
    """How the draw of a wave with this protocol is shared out; `before` is its number, None for the next wave's."""
    return Plan(
        share_percent=Decimal(str(protocol["share_percent"])),
        minimum=int(protocol.get("strata_minimum") or 0),
        own=own_shares(protocol),
        history=_history(project, major, protocol, before),
    )


def _history(project: Project, major: int, protocol: Mapping[str, Any], before: int | None) -> dict[str, Tally]:
    """Items released and drawn before, by stratum, with these shares under this MAJOR."""
    earlier = Wave.unseen.filter(project=project, major=major, share_percent=Decimal(str(protocol["share_percent"])))
    if before is not None:
        earlier = earlier.filter(number__lt=before)
    rows = earlier.filter(is_imported=False, kind=WaveKind.FRESH).values_list("pk", "draw__protocol")
    same = [wave for wave, its in rows if _rule(its or {}) == _rule(protocol)]
    counted = WaveItem.objects.filter(wave__in=same).values("stratum").order_by()
    found = counted.annotate(released=Count("pk"), drawn=Count("draw"))
    return {row["stratum"]: Tally(row["released"], row["drawn"]) for row in found}


def _rule(protocol: Mapping[str, Any]) -> tuple[object, ...]:
    """An enriched draw uses up nothing of one that is not, nor the other way round."""
    return protocol.get("strata_minimum") or 0, protocol.get("enriched") or {}


def _enriched(given: Any) -> dict[str, dict[str, str]]:
    """{stratum: {"factor": "3"}} or {stratum: {"share_percent": "50"}} in one spelling."""
    expected = _("expected {“stratum”: {“factor”: “3”}} or {“stratum”: {“share_percent”: “50”}}")
    if not isinstance(given, Mapping):
        raise Invalid(_("Over-sampled strata: %(expected)s.") % {"expected": expected})
    found = {}
    for stratum, rule in given.items():
        if not isinstance(rule, Mapping) or len(rule) != 1 or not {FACTOR, SHARE} & set(rule):
            raise Invalid(_("Stratum “%(name)s”: %(expected)s.") % {"name": stratum, "expected": expected})
        ((way, value),) = rule.items()
        found[str(stratum)[:STRATUM_LIMIT]] = {way: _number(str(stratum), way, value)}
    return found


def _number(stratum: str, way: str, value: object) -> str:
    low, high = (Decimal(1), Decimal(1000)) if way == FACTOR else (Decimal(0), Decimal(100))
    about = {"name": stratum, "value": value, "low": f"{low:f}", "high": f"{high:f}"}
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not low <= number <= high or number != round(number, 3):
        sentence = (
            _("Stratum “%(name)s”: a factor of %(value)s: expected %(low)s to %(high)s, with at most three decimals.")
            if way == FACTOR
            else _("Stratum “%(name)s”: a share of %(value)s %%: expected %(low)s to %(high)s, three decimals at most.")
        )
        raise Invalid(sentence % about)
    return f"{number.normalize():f}"
