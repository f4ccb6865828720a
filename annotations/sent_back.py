"""Labels sent back to their raters, with a reason, once their draw has closed (DESIGN §2.4, §2.10).

The lead does not learn by it who rated: a label is sent back by the letter under which the case shows it. What the
rater corrects is a layer on top; no figure moves.
"""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.http import Http404
from django.utils.translation import gettext as _

from annotations import adjudication
from annotations.enums import DrawState, SlotKind
from annotations.models import Case, SentBack, SentBackQuerySet
from projects.errors import DomainError, Invalid
from projects.models import Membership

LETTERS = ("A", "B")


@transaction.atomic
def send(case: Case, *, letter: str, reason: str, by: Membership, at: datetime) -> SentBack:
    """Ask the rater whose label `case` shows under `letter` to look at it again. Sent twice it is one.

    Raises OwnRating, Invalid, and DomainError for ratings that were made elsewhere.
    """
    adjudication.refuse_own(case, by)
    if letter not in LETTERS:
        raise Invalid(_("There is no rater “%(letter)s” in this case: choose A or B.") % {"letter": letter})
    if not reason.strip():
        raise Invalid(_("Say why: the rater reads it beside the item."))
    annotation = case.first if letter == "A" else case.second
    if annotation.slot and annotation.slot.kind == SlotKind.IMPORTED:
        raise DomainError(_("These ratings were made elsewhere: nobody can be asked here."), code="imported")
    Case.objects.select_for_update().get(pk=case.pk)  # of two who ask at once the second finds the first one's reason
    waiting = case.sent_back.waiting().filter(annotation=annotation).first()
    if waiting is not None:
        return waiting
    reason = adjudication.clean_text(reason.strip(), _("reason"))
    adjudication.record("label_sent_back", case, by=by, at=at)
    return SentBack.objects.create(annotation=annotation, case=case, reason=reason, by=by, at=at)


def to(member: Membership) -> SentBackQuerySet:
    """What `member` is asked to look at again; nothing of it before the draw of the label has closed."""
    rows = SentBack.objects.waiting().filter(annotation__member=member, case__draw__state=DrawState.CLOSED)
    return rows.select_related("annotation__item", "annotation__version", "by__user", "case")


def waiting_for(people: Sequence[Membership]) -> SentBackQuerySet:
    """`to` for several people at once."""
    rows = SentBack.objects.waiting().filter(annotation__member__in=people, case__draw__state=DrawState.CLOSED)
    return rows.select_related("annotation")


def keep(member: Membership, sent: UUID, *, at: datetime) -> None:
    """`member` has looked, and stands by the label. Raises Http404 for what was not sent to them."""
    row = SentBack.objects.filter(uuid=sent, annotation__member=member).first()
    if row is None:
        raise Http404(_("Nothing of the kind was sent back to you."))
    SentBack.objects.filter(pk=row.pk, kept_at__isnull=True).update(kept_at=at)
