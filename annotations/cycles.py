"""One turn of an annotator: the label of this item and the claim of the next one, in one transaction.

One instead of two saves a wait for the disk. A label never waits for an item, though: where anything is in the way of
the two together, the label is saved by itself, and only then the next item is looked for.
"""

import logging
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.http import Http404

from annotations import labelling, serving
from annotations.labelling import Answers, Saved
from annotations.serving import Nothing, Task
from annotations.slots import Ending
from projects.errors import DomainError
from projects.models import Membership

logger = logging.getLogger(__name__)


def submit_and_next(
    member: Membership,
    assignment: UUID,
    *,
    answers: Answers,
    at: datetime,
    comment: str = "",
    seconds: float | None = None,
) -> tuple[Saved, Task | Nothing]:
    """`labelling.submit` and `serving.next_task`: both are committed when this returns. Raises what `submit` raises."""
    try:
        with transaction.atomic():
            ending = Ending()
            saved = labelling.save(
                member, assignment, answers=answers, at=at, comment=comment, seconds=seconds, ending=ending
            )
            task = serving.find(member, at=at, ending=ending)
            ending.write()
        return saved, task
    except (DomainError, Http404):
        raise
    except Exception:
        # Whatever it was, a lost race or worse: nothing was written, and each of the two by itself says what is wrong.
        logger.debug("A label and the next item of %s are taken one after the other.", member.uuid, exc_info=True)
    saved = labelling.submit(member, assignment, answers=answers, at=at, comment=comment, seconds=seconds)
    return saved, serving.next_task(member, at=at)
