"""The recompute kit: a project's closed measurements in one file, with the ratings, protocol and figures of each.

`manage.py recompute` checks the figures against the ratings with nothing else at hand. One JSON object a line, told
apart by "record":

  kit       schema, engine, project
  draw      its protocol, guideline version, strata, raters and questions with their labels; then, of this draw,
  item      where spans are asked for: the places of the tokens in the item's texts, without the texts
  rating    one rater's measured answers to one item, the ratings of an item together and after their "item"
  skip      one rater's skip of one item
  figures   the result of the run that pages and reports show, for each question

Open draws are left out: their figures are interim. People are named by their lasting ids, items by theirs.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from agreement import markings, matrices, runs
from agreement.coefficients import ENGINE_VERSION
from agreement.markings import TOKENISATION
from agreement.models import Run
from annotations.enums import AssignmentState
from annotations.models import Annotation, Assignment, Draw
from projects.models import Project, Question
from projects.task_types import Json

SCHEMA = 2
CHUNK = 2000

Numbered = Iterator[tuple[int, Mapping[str, Json]]]


def rows(project: Project, hidden: Sequence[Draw]) -> Numbered:
    """The lines of the kit, each with the number of ratings so far. `hidden` draws are open and never in it."""
    yield (
        0,
        {
            "record": "kit",
            "schema": SCHEMA,
            "engine": ENGINE_VERSION,
            "project": {"uuid": str(project.uuid), "name": project.name},
        },
    )
    done = 0
    draws = list(_closed(project))
    runs_of = runs.newest_of(draws)
    for draw in draws:
        asked = matrices.questions(draw)
        yield done, _draw_row(draw, asked)
        for row in _ratings(draw, with_tokens=any(map(matrices.has_spans, asked))):
            done += row["record"] == "rating"
            yield done, row
        yield from ((done, skip) for skip in _skips(draw))
        found = (runs_of.get((draw.pk, question.key)) for question in asked)
        yield from ((done, _figures_row(draw, run)) for run in found if run is not None and not run.interim)


def total(project: Project) -> int:
    """The ratings that a kit holds."""
    return Annotation.objects.filter(draw__in=_closed(project), slot__isnull=False).count()


def _closed(project: Project) -> QuerySet[Draw]:
    found = Draw.objects.closed().filter(wave__project=project).order_by("wave__number")
    return found.select_related("wave__version").defer("population")


def _draw_row(draw: Draw, asked: Sequence[Question]) -> Mapping[str, Json]:
    return {
        "record": "draw",
        "draw": str(draw.uuid),
        "wave": draw.wave.number,
        "version": draw.wave.version.number,
        "closing": draw.closing,
        "closed_at": draw.closed_at.isoformat() if draw.closed_at else None,
        "size": draw.size,
        "imported": draw.is_imported,
        "protocol": draw.protocol,
        "tokenisation": TOKENISATION,
        "strata": {name: list(sizes) for name, sizes in matrices.stratum_sizes(draw).items()},
        "raters": [str(member.uuid) for member in matrices.raters(draw)],
        "questions": [
            {
                "key": question.key,
                "task_type": question.task_type,
                "labels": [
                    {"key": label.key, "name": label.name, "value": label.value, "order": label.order}
                    for label in question.labels.all()
                ],
            }
            for question in asked
        ],
    }


def _ratings(draw: Draw, *, with_tokens: bool) -> Iterator[Mapping[str, Json]]:
    fields = [
        "item__uuid",
        "item__external_id",
        "wave_item__stratum",
        "member__uuid",
        "version__major",
        "version__minor",
        "answers",
        *(["item__content"] if with_tokens else []),
    ]
    found = matrices.measured(draw).order_by("wave_item_id", "pk").values_list(*fields)
    last, row = None, tuple[Any, ...]()
    for row in found.iterator(chunk_size=CHUNK):
        item, external_id, stratum, rater, major, minor, answers = row[:7]
        if with_tokens and item != last:
            places: dict[str, Json] = {name: _pairs(ends) for name, ends in markings.tokens_of(row[7]).items()}
            yield {"record": "item", "item": str(item), "tokens": places}
        last = item
        yield {
            "record": "rating",
            "item": str(item),
            "item_id": external_id,
            "stratum": stratum,
            "rater": str(rater),
            "version": f"{major}.{minor}",
            "answers": answers,
        }


def _pairs(tokens: Sequence[tuple[int, int]]) -> list[Json]:
    return [[start, end] for start, end in tokens]


def _skips(draw: Draw) -> Iterator[Mapping[str, Json]]:
    skipped = Assignment.objects.filter(slot__draw=draw, state=AssignmentState.SKIPPED).order_by("pk")
    found = skipped.values_list("item__uuid", "member__uuid", "skip_reason")
    for item, rater, reason in found.iterator(chunk_size=CHUNK):
        yield {"record": "skip", "item": str(item), "rater": str(rater), "reason": reason}


def _figures_row(draw: Draw, run: Run) -> Mapping[str, Json]:
    return {
        "record": "figures",
        "draw": str(draw.uuid),
        "question": run.question_key,
        "engine": run.engine,
        "digest": run.digest,
        "n": run.n,
        "drawn": run.drawn,
        "computed_at": run.created_at.isoformat(),
        "result": run.result,
    }
