"""Runs: when a draw's figures are computed, and what one computation keeps.

Nobody tells this module about submissions; it asks. An open draw is stale when its stamp (latest ended window, newest
measured revision, engine) differs from the one its last run saw, both older than a few seconds so that a burst of
submits is read once. A draw is computed once more as it closes, judged by its gate, and then no longer asked.
"""

import logging
import time
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber

from agreement import figures, gates, matrices
from agreement.coefficients import ENGINE_VERSION
from agreement.models import Run, Watch
from annotations.enums import DrawState
from annotations.models import Annotation, Draw
from projects import access
from projects.models import Question

logger = logging.getLogger(__name__)

SETTLED = timedelta(seconds=5)
OPEN_DRAW_EVERY = timedelta(minutes=1)
FAILED = "failed"
# Interim figures are a way to the final one: of each question the newest few stay.
INTERIM_KEPT = 3


def stale(at: datetime) -> list[Draw]:
    """The draws to compute now: closed ones without their final run at once, open ones once a minute at most."""
    recently = Q(watch__computed_at__gt=at - OPEN_DRAW_EVERY)
    final = Q(state=DrawState.CLOSED) & Q(watch__final=True)
    # A computation that failed is tried again after the same minute, not every few seconds.
    waits = Q(state=DrawState.OPEN) & recently | Q(watch__stamp=FAILED) & recently
    live = Draw.objects.filter(access.live("wave__project"))
    rows = _stamped(live.exclude(state=DrawState.ABANDONED).exclude(final).exclude(waits), at)
    return [draw for draw in rows if not draw.is_open or _differs(draw)]


def is_stale(draw: Draw, *, at: datetime) -> bool:
    """Whether the figures of `draw` lag behind its ratings; a page asks for a computation then."""
    return bool(lagging([draw], at=at))


def lagging(draws: Iterable[Draw], *, at: datetime) -> list[Draw]:
    """Those of some draws whose figures lag behind: one query for all that are not final."""
    asked = {draw.pk: draw for draw in draws if draw.is_open or not is_final(draw)}
    if not asked:
        return []
    seen = _stamped(
        Draw.objects.filter(access.live("wave__project"), pk__in=asked).exclude(state=DrawState.ABANDONED), at
    )
    return [asked[one.pk] for one in seen if (_differs(one) if one.is_open else not is_final(one))]


def is_final(draw: Draw) -> bool:
    """Whether the draw is closed and its final figures are computed."""
    watch = getattr(draw, "watch", None)
    return watch is not None and watch.final


def sweep(*, at: datetime) -> list[Draw]:
    """Compute all stale draws. One that fails is logged, tried again later, and stops none of the others."""
    done = []
    for draw in stale(at):
        try:
            compute(draw, at=at)
        except Exception:
            logger.exception("The figures of draw %s could not be computed", draw.uuid)
            Watch.objects.update_or_create(draw=draw, defaults={"stamp": FAILED, "computed_at": at, "final": False})
        else:
            done.append(draw)
    return done


def compute(draw: Draw, *, at: datetime) -> list[Run]:
    """Compute every question of `draw`. May be repeated: inputs that a run has seen already are not computed again.

    Of a closed draw this is the final computation, after which its gate decides, once.
    """
    # Read before the ratings: a draw that closes in between gets an interim run, and its final one in the next sweep.
    fresh = _stamped(Draw.objects.filter(pk=draw.pk).select_related("wave__version", "wave__project"), at).get()
    asked = [question for question in matrices.questions(fresh) if matrices.is_measured(question)]
    context = figures.Context.of(fresh, at=at)
    runs = [_run(fresh, question, context, at=at) for question in asked]
    prune(fresh)
    _finish(fresh, runs, asked, at=at)
    return runs


def prune(draw: Draw) -> None:
    """Let go of the interim runs of `draw` that newer ones have taken the place of; final ones stay."""
    newer = Window(RowNumber(), partition_by=[F("question_key")], order_by=[F("created_at").desc(), F("pk").desc()])
    ranked = draw.runs.filter(interim=True).annotate(place=newer).filter(place__gt=INTERIM_KEPT)
    Run.objects.filter(pk__in=list(ranked.values_list("pk", flat=True))).delete()


def newest(draw: Draw, question_key: str | Subquery) -> Run | None:
    """The newest figures of a draw and question; the final ones once the draw is closed and computed."""
    return draw.runs.filter(question_key=question_key).order_by("-created_at", "-pk").first()


def newest_of(draws: Iterable[Draw]) -> dict[tuple[int, str], Run]:
    """(draw, question) -> its newest run, in one query."""
    same = Run.objects.filter(draw=OuterRef("draw"), question_key=OuterRef("question_key"))
    newest_pk = Subquery(same.order_by("-created_at", "-pk").values("pk")[:1])
    rows = Run.objects.filter(draw__in=list(draws), pk=newest_pk)
    return {(run.draw_id, run.question_key): run for run in rows}


def _stamped(rows: QuerySet[Draw], at: datetime) -> QuerySet[Draw]:
    settled = at - SETTLED
    given = Annotation.objects.filter(draw=OuterRef("pk"))
    ended = given.filter(window_ends__lte=settled).order_by("-window_ends").values("window_ends")[:1]
    revised = given.filter(measured_at__lte=settled).order_by("-measured_at").values("measured_at")[:1]
    # The population of a large wave is megabytes, and no figure is made from it.
    rows = rows.defer("population").select_related("watch")
    return rows.annotate(last_ended=Subquery(ended), last_revised=Subquery(revised))


def _stamp(draw: Draw) -> str:
    """`draw` comes from `_stamped`, which brings the two times."""
    times = (getattr(draw, name) for name in ("last_ended", "last_revised"))
    return "|".join([*(time.isoformat() if time else "" for time in times), ENGINE_VERSION])


def _differs(draw: Draw) -> bool:
    seen = getattr(draw, "watch", None)
    return seen is None or seen.stamp != _stamp(draw)


def _run(draw: Draw, question: Question, context: figures.Context, *, at: datetime) -> Run:
    started = time.monotonic()
    matrix = matrices.of(draw, question, by=context.raters, at=at)
    digest = figures.digest(draw, matrix, context)
    known = draw.runs.filter(question_key=question.key, digest=digest).first()
    if known is not None:
        # Inputs that come back (a correction taken back) make the run that has them the newest one again.
        Run.objects.filter(pk=known.pk).update(created_at=at)
        return known
    result = figures.compute(draw, matrix, context)
    made, _created = Run.objects.get_or_create(
        draw=draw,
        question_key=question.key,
        digest=digest,
        defaults={
            "engine": ENGINE_VERSION,
            "interim": draw.is_open,
            "n": result["n"],
            "drawn": draw.size,
            "result": result,
            "seconds": time.monotonic() - started,
            "created_at": at,
        },
    )
    return made


@transaction.atomic
def _finish(draw: Draw, runs: Sequence[Run], asked: Sequence[Question], *, at: datetime) -> None:
    """Remember what was seen. Of two workers that finish a closed draw at once, one lets its gate decide."""
    seen = {"stamp": _stamp(draw), "computed_at": at}
    watch, _created = Watch.objects.get_or_create(draw=draw, defaults=seen)
    if draw.is_open:
        Watch.objects.filter(pk=watch.pk, final=False).update(**seen)
        return
    if Watch.objects.filter(pk=watch.pk, final=False).update(**seen, final=True) and not draw.is_imported:
        gates.decide(draw, runs, questions=asked, at=at)
