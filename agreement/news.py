"""What `agreement` has to tell: what the gate of a closed draw says (see `projects.notices`)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from agreement import gates
from agreement.enums import GateOutcome
from annotations import draws
from projects.enums import Action, NoticeKind
from projects.models import Membership, Project
from projects.notices import KEPT, Found, Kind


def gate_changes(project: Project, people: Sequence[Membership], at: datetime) -> Iterable[Found]:
    """The newest decision of each gate, for those who may see agreement, but for who took it.

    There is a decision only once the draw is closed; one without a threshold holds nothing back, and is no news.
    """
    rows = gates.decisions(project).filter(at__gte=at - KEPT).select_related("draw__wave").order_by("at", "pk")
    newest = {row.draw_id: row for row in rows.defer("draw__population", "details", "reason")}
    for row in newest.values():
        if draws.has_threshold(row.draw.protocol):
            facts = {"wave": row.draw.wave.number, "outcome": row.outcome}
            yield from (Found(one.pk, str(row.pk), row.at, facts) for one in people if one.pk != row.by_id)


def _say(facts: Mapping[str, Any]) -> str:
    if facts["outcome"] == GateOutcome.WAIVED:
        return _("The gate of wave %(wave)s was waived.") % {"wave": facts["wave"]}
    words = {"wave": facts["wave"], "outcome": GateOutcome(facts["outcome"]).label}
    return _("The gate of wave %(wave)s says: %(outcome)s.") % words


GATE = Kind(NoticeKind.GATE, Action.SEE_AGREEMENT, gate_changes, _say, "agreement:agreement")
