"""The guideline's pages: who may see which, what they show, and that a draft is written without JavaScript."""

from uuid import uuid4

import pytest
from django.urls import reverse

from projects import drafts, guidelines, labels, styles
from projects.models import Example, GuidelineVersion
from projects.styles import Style
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead)


@pytest.fixture
def example(draft, lead) -> Example:
    return guidelines.add_example(
        draft,
        question_key="intent",
        content={"text": "Fix it or I sue"},
        value="complaint",
        confused_with="praise",
        rationale="because",
        by=lead,
    )


def url(name, project, *args):
    return reverse(f"projects:{name}", args=[project.uuid, *args])


READ = ("guideline", "guideline-versions")
DRAFT = (
    "guideline-draft",
    "guideline-draft-changes",
    "guideline-draft-discard",
    "guideline-questions",
    "guideline-question-new",
    "guideline-examples",
)


def every_page(project, version, example):
    """(name, arguments, for writers only) of every page that answers to GET."""
    return [
        *((name, (), False) for name in READ),
        ("guideline-version", (version.uuid,), False),
        ("guideline-differences", (version.uuid, version.uuid), False),
        *((name, (), True) for name in DRAFT),
        ("guideline-differences", (version.uuid, example.version.uuid), True),
        ("guideline-question", ("intent",), True),
        ("guideline-question-remove", ("intent",), True),
        ("guideline-label", ("intent", "praise"), True),
        ("guideline-label-remove", ("intent", "praise"), True),
        ("guideline-styles", ("intent",), True),
        ("guideline-example-new", ("intent",), True),
        ("guideline-example", (example.uuid,), True),
        ("guideline-example-remove", (example.uuid,), True),
    ]


def test_every_page_opens_for_those_who_may_and_for_nobody_else(
    version, example, admin, lead, anna, outsider, client_of, client
):
    found = []
    for name, args, writers_only in every_page(version.project, version, example):
        address = url(name, version.project, *args)
        answers = [client_of(who).get(address).status_code for who in (admin, lead, anna, outsider)]
        # A draft that an annotator asks for by its address does not exist for them; its pages they may not open.
        denied = {404} if name == "guideline-differences" else {403}
        fits = answers[:2] == [200, 200] and answers[2] in (denied if writers_only else {200}) and answers[3] == 404
        login = client.get(address)
        if not fits or login.status_code != 302 or "/login/" not in login["Location"]:
            found.append((name, args, answers, login.status_code))
    assert found == []
