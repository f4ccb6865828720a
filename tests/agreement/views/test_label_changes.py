"""The page that plans changes of a label set: who may open it, what it says, and the forms that do it."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations.models import Draw
from projects import drafts, labels
from projects.models import GuidelineVersion, Label
from tests import factories
from tests.agreement import rows

pytestmark = pytest.mark.django_db

SAID = [("praise", "praise")] * 4 + [("complaint", "question")] * 3 + [("complaint", "complaint")] * 3
POSTS = {"merge": {"into": "complaint"}, "split": {"labels": "Ask\nBeg"}, "retire": {}, "becomes": {}}


@pytest.fixture
def draw(version, lead, anna, ben) -> Draw:
    said = [{anna: a, ben: b} for a, b in SAID]
    return rows.draw(version, said, by=lead, closing="complete")


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead)


def page(draft: GuidelineVersion, query: str = "", question: str = "intent") -> str:
    return reverse("agreement:label-changes", args=[draft.project.uuid, question]) + query


def deed(draft: GuidelineVersion, name: str, label: str = "question") -> str:
    return reverse(f"projects:guideline-label-{name}", args=[draft.project.uuid, "intent", label])


def text(response) -> str:
    return " ".join(response.content.decode().split())


def keys(draft: GuidelineVersion) -> list[str]:
    return list(Label.objects.filter(question__version=draft).values_list("key", flat=True))


@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, draft, who, status):
    client = client_of(request.getfixturevalue(who))

    assert client.get(page(draft)).status_code == status
    assert client.get(page(draft, "?change=merge&label=question&into=praise")).status_code == status


def test_anonymous_is_sent_to_the_log_in(client, draft):
    assert client.get(page(draft)).url == f"{reverse('projects:login')}?next={page(draft)}"


@pytest.mark.parametrize("name", POSTS)
def test_only_those_who_write_the_guideline_change_labels(client, client_of, draft, anna, outsider, name):
    sent = {"draft": str(draft.uuid)} | POSTS[name]

    answers = [client_of(who).post(deed(draft, name), sent).status_code for who in (anna, outsider)]

    assert (answers, client.post(deed(draft, name), sent).status_code) == ([403, 404], 302)
    assert keys(draft) == ["complaint", "praise", "question"]


def test_a_neighbours_labels_and_ratings_are_not_here(client_of, draft, draw):
    neighbour = factories.version(factories.project("Neighbours"))
    factories.question(neighbour, "secret", ("x", "y"))
    nora = factories.member(neighbour.project, "nora", "lead")
    theirs = drafts.draft_of(neighbour.project, by=nora)
    client = client_of(nora)

    assert "never given" in text(client.get(page(theirs)))
    assert (
        client.get(
            page(draft, question="secret").replace(str(draft.project.uuid), "0" * 8 + "-0000-4000-8000-" + "0" * 12)
        ).status_code
        == 404
    )
    assert client.post(deed(theirs, "merge"), {"draft": str(draft.uuid), "into": "praise"}).status_code == 409


@pytest.mark.parametrize(
    "query", ["?change=explode&label=praise", "?change=merge&label=nothing", "?change=merge", "?change=split&label="]
)
def test_a_change_that_cannot_be_does_not_exist(client_of, draft, lead, query):
    assert client_of(lead).get(page(draft, query)).status_code == 404


def test_a_question_that_is_not_there_does_not_exist(client_of, draft, lead):
    assert client_of(lead).get(page(draft, question="tone")).status_code == 404


def test_the_page_counts_what_was_given_under_each_version(client_of, draft, draw, lead):
    shown = text(client_of(lead).get(page(draft)))

    assert "1.0: 9 ratings" in shown
    assert "1.0: 3 ratings" in shown


def test_a_wave_that_is_being_measured_is_not_counted(client_of, version, draft, lead, anna, ben):
    rows.draw(version, [{anna: "praise", ben: "praise"}], by=lead)

    shown = text(client_of(lead).get(page(draft)))

    assert "never given" in shown
    assert "Wave 1 is not counted while its measurement is open." in shown


def test_a_merge_is_shown_with_both_figures_and_then_done(client_of, draft, draw, lead):
    client = client_of(lead)
    shown = text(client.get(page(draft, "?change=merge&label=question&into=complaint")))

    for wanted in ("It touches 3 ratings", ".55", "1.00", "Fewer labels are easier to agree on"):
        assert wanted in shown, wanted

    answer = client.post(deed(draft, "merge"), {"draft": str(draft.uuid), "into": "complaint"}, follow=True)

    draft.refresh_from_db()
    assert "“question” is “complaint” in the draft" in text(answer)
    assert (keys(draft), draft.label_mapping) == (["complaint", "praise"], {"intent": {"question": "complaint"}})
    assert "Retired in the draft" in text(client.get(page(draft)))


def test_a_label_is_divided(client_of, draft, lead):
    client_of(lead).post(deed(draft, "split"), {"draft": str(draft.uuid), "labels": "Ask: wants to know\nBeg"})

    draft.refresh_from_db()
    assert keys(draft) == ["complaint", "praise", "ask", "beg"]
    assert draft.label_mapping == {"intent": {"question": ["ask", "beg"]}}


def test_dividing_into_nothing_is_refused_with_the_reason(client_of, draft, lead):
    answer = client_of(lead).post(deed(draft, "split"), {"draft": str(draft.uuid), "labels": ""})

    assert (answer.status_code, keys(draft)) == (422, ["complaint", "praise", "question"])
    assert "one a line" in text(answer)


def test_a_label_is_retired_and_old_ones_are_mapped_later(client_of, draft, lead):
    client, sent = client_of(lead), {"draft": str(draft.uuid)}

    client.post(deed(draft, "retire"), sent | {"becomes": ""})
    client.post(deed(draft, "becomes"), sent | {"becomes": "praise"})

    draft.refresh_from_db()
    assert (keys(draft), draft.label_mapping) == (["complaint", "praise"], {"intent": {"question": "praise"}})


def test_what_touches_no_rating_is_previewed_too(client_of, draft, draw, lead):
    asked = draft.questions.get()
    first = asked.labels.get(key="complaint")
    labels.edit_label(first, name="Fault", definition="Something is wrong.", by=lead)
    labels.add_label(asked, name="Threat", definition="They say what they will do.", by=lead)
    labels.move_label(asked.labels.get(key="question"), to=0, by=lead)

    shown = text(client_of(lead).get(page(draft)))

    assert "was called “complaint”" in shown
    assert "It is on these ratings, none of which changes: 1.0: 9 ratings" in shown
    assert "It touches no rating: what was labelled before was not asked for it." in shown
    assert "The order is now question, Fault, praise; it was complaint, praise, question." in shown
    assert "20 ratings have one of these labels and keep it." in shown
    assert "These labels have no order for the figures" in shown


def test_a_scale_in_another_order_shows_both_figures(client_of, project, lead, anna, ben):
    version = project.versions.published().get()
    version.questions.update(task_type="ordinal")
    rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, closing="complete")
    draft = drafts.draft_of(project, by=lead)
    labels.move_label(draft.questions.get().labels.get(key="question"), to=0, by=lead)

    shown = text(client_of(lead).get(page(draft)))

    assert "Agreement, had the scale been in this order" in shown
    assert ("In this order" in shown, "Weighted kappa" in shown) == (True, True)


def test_a_draft_that_changes_nothing_previews_nothing(client_of, draft, draw, lead):
    assert "Changed in the draft" not in text(client_of(lead).get(page(draft)))


def test_the_questions_page_leads_here_once_something_is_published(client_of, draft, lead, project):
    address = reverse("projects:guideline-questions", args=[draft.project.uuid])

    assert page(draft) in text(client_of(lead).get(address))


def test_as_many_queries_for_six_labels_as_for_three(client_of, draft, draw, lead):
    client = client_of(lead)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(page(draft, "?change=merge&label=question&into=complaint"))
        return len(queries)

    count()
    three = count()
    question = draft.questions.get()
    labels.add_labels(question, [labels.NewLabel(f"Label {n}") for n in range(3)], by=lead)

    assert count() == three
