"""The acts of `agreement` that a project's log keeps; see `projects.activities`."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agreement.enums import GateOutcome
from projects.activities import MEASUREMENT, SETTINGS, Facts, Kind, with_reason
from projects.enums import Action

_AGREEMENT: dict[str, Any] = {"url_name": "agreement:agreement", "action": Action.SEE_AGREEMENT}


def _outcome(facts: Facts) -> Facts:
    return dict(facts) | {"outcome": GateOutcome(facts["outcome"]).label}


def _terms(facts: Facts) -> Facts:
    """The names of changed terms, in words where they have some."""
    known = {
        "share_percent": _("share of the overlap"),
        "ratings_per_item": _("ratings per item"),
        "strata_field": _("strata"),
        "window_submits": _("correction time in labels"),
        "window_minutes": _("correction time in minutes"),
        "lease_minutes": _("time for an item"),
        "minimum_n": _("smallest n"),
        "resolution_rule": _("resolution rule"),
        "practice_pass_percent": _("pass mark of the practice"),
        "decide_together": _("deciding together"),
        "expert": _("expert"),
        "questions": _("coefficients and thresholds"),
    }
    return dict(facts) | {"fields": ", ".join(known.get(name, name) for name in facts["fields"])}


KINDS = (
    Kind(
        "gate_decided",
        MEASUREMENT,
        gettext_lazy("gate decided"),
        gettext_lazy("The gate of wave %(number)s says: %(outcome)s."),
        _outcome,
        **_AGREEMENT,
    ),
    Kind(
        "gate_waived",
        MEASUREMENT,
        gettext_lazy("gate waived"),
        gettext_lazy("Waived the gate of wave %(number)s%(reason)s."),
        with_reason,
        **_AGREEMENT,
    ),
    Kind(
        "protocol_changed",
        SETTINGS,
        gettext_lazy("protocol changed"),
        gettext_lazy("Changed the protocol of the draws to come: %(fields)s."),
        _terms,
        url_name="agreement:protocol",
        action=Action.SETTINGS,
    ),
)
