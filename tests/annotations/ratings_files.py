"""Files of ratings, and the way through an import, for tests."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.files.base import ContentFile

from annotations import imported, imported_report
from annotations.models import Wave
from annotations.rating_layouts import Layout
from projects import jobs
from projects.models import Job, Membership

# Three people label four items; on the second all differ, on the fourth nobody but Ann spoke.
LONG = (
    "id,text,rater,label\n"
    "1,It crashes,Ann,complaint\n"
    "1,,Bob,complaint\n"
    "2,How do I pay?,Ann,question\n"
    "2,,Bob,complaint\n"
    "2,,Cid,praise\n"
    "3,Lovely,Ann,praise\n"
    "3,,Cid,praise\n"
    "4,Hm,Ann,question\n"
    "4,,Bob,\n"
)


def upload(content: str | bytes | Sequence[Mapping[str, Any]], name: str = "") -> ContentFile:
    if not isinstance(content, str | bytes):
        content, name = "".join(json.dumps(row) + "\n" for row in content), name or "ratings.jsonl"
    return ContentFile(content.encode() if isinstance(content, str) else content, name=name or "ratings.csv")


def read(by: Membership, content: Any = LONG, layout: Layout | None = None, name: str = "") -> Job:
    """The finished preview of a file."""
    job = imported.start(by.project, upload=upload(content, name), by=by, layout=layout)
    return jobs.work_now(job)


def bring(by: Membership, content: Any = LONG, layout: Layout | None = None, **decided: Any) -> Wave:
    """The wave that a file makes."""
    job = read(by, content, layout)
    assert (job.state, job.message) == ("done", "")
    made = jobs.work_now(imported.confirm(job, by=by, **decided))
    assert (made.state, made.message) == ("done", "")
    wave = imported.wave_of(made)
    assert wave is not None
    return wave


def rows_of(job: Job) -> list[tuple[int, str, str]]:
    """(row, problem, message) of what is left out."""
    return [(row.number, row.problem, row.message) for row in imported_report.problems(job)]
