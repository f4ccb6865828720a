"""The page that publishes, and the page on which annotators read what changed."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotations import draws, releasing
from annotations.models import Acknowledgement
from projects import guidelines, label_plans
from projects.models import GuidelineVersion
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team, says

pytestmark = pytest.mark.django_db

PUBLISH_STATUS = {"lead": 200, "admin": 200, "anna": 403, "outsider": 404, "anonymous": 302}
READ_STATUS = {"lead": 403, "admin": 403, "anna": 200, "outsider": 404, "anonymous": 302}


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    draft = guidelines.draft_of(version.project, by=lead)
    guidelines.add_example(draft, question_key="intent", content={"text": "Refund me."}, value="complaint", by=lead)
    return draft


def address(name: str, project) -> str:
    return reverse(f"annotations:{name}", args=[project.uuid])


def form_of(draft: GuidelineVersion, **changes: str) -> dict[str, str]:
    seen = guidelines.consequences(draft).seen
    return {"draft": str(draft.uuid), "seen": seen, "change": "material", "reason": "Refunds are settled."} | changes


def text(response) -> str:
    return response.content.decode()


def visitor(request, client, client_of, who):
    return client if who == "anonymous" else client_of(request.getfixturevalue(who))


@pytest.mark.parametrize("who", PUBLISH_STATUS)
def test_leads_and_admins_see_the_publish_page(request, client, client_of, project, draft, who):
    client = visitor(request, client, client_of, who)

    assert client.get(address("publish", project)).status_code == PUBLISH_STATUS[who]


@pytest.mark.parametrize("who", ["anna", "outsider", "anonymous"])
def test_nobody_else_publishes(request, client, client_of, project, draft, who):
    client = visitor(request, client, client_of, who)

    assert client.post(address("publish", project), form_of(draft)).status_code == PUBLISH_STATUS[who]
    draft.refresh_from_db()
    assert draft.is_draft


@pytest.mark.parametrize("who", READ_STATUS)
def test_who_labels_sees_what_changed(request, client, client_of, project, draft, who, anna, lead):
    Acknowledgement.objects.all().delete()
    project.memberships.update(acknowledged=None)
    client = visitor(request, client, client_of, who)

    assert client.get(address("acknowledge", project)).status_code == READ_STATUS[who]


def test_a_neighbours_draft_is_not_published(client_of, draft):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = client_of(factories.member(neighbour, "nora", "lead"))

    assert nora.post(address("publish", neighbour), form_of(draft)).status_code == 409
    assert nora.post(address("publish", draft.project), form_of(draft)).status_code == 404
    draft.refresh_from_db()
    assert draft.is_draft


def test_the_page_spells_out_what_publishing_means(client_of, project, draft, lead, anna, ben):
    factories.items(project, 10)
    releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=Decimal(50))
    Team([anna, ben]).work(turns=4)
    factories.items(project, 3, prefix="new")

    page = " ".join(text(client_of(lead).get(address("publish", project))).split())

    assert "Material: 2.0" in page
    assert "Wave 1 closes." in page
    assert "of 10 ratings" in page
    assert "2 annotators read what changed" in page
    assert "Not possible, because this changes the rules" in page
    assert "fresh items are there for the next wave" in page


def test_the_page_lists_the_conflicts_that_the_draft_does_not_answer(client_of, project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"differ": ("praise", "complaint")})
    guidelines.draft_of(project, by=lead)

    page = text(client_of(lead).get(address("publish", project)))

    assert "complaint / praise" in page
    assert "nothing yet" in page


def test_publishing_goes_to_the_guideline_and_says_so(client_of, project, draft, lead):
    answer = client_of(lead).post(address("publish", project), form_of(draft), follow=True)

    assert "Guideline 2.0 is published." in text(answer)
    assert guidelines.newest(project).number == "2.0"


def test_a_form_sent_twice_publishes_once(client_of, project, draft, lead):
    client, form = client_of(lead), form_of(draft)
    client.post(address("publish", project), form)

    again = client.post(address("publish", project), form)

    assert (again.status_code, guidelines.newest(project).number) == (409, "2.0")


def test_a_draft_that_changed_meanwhile_is_shown_again(client_of, project, draft, lead):
    form = form_of(draft)
    guidelines.add_example(draft, question_key="intent", content={"text": "Thanks!"}, value="praise", by=lead)

    answer = client_of(lead).post(address("publish", project), form)

    assert (answer.status_code, guidelines.newest(project).number) == (409, "1.0")
    assert "The draft was changed after you opened this page" in text(answer)


def test_a_wrong_choice_is_refused_with_the_reason(client_of, project, draft, lead):
    answer = client_of(lead).post(address("publish", project), form_of(draft, change="editorial"))

    assert (answer.status_code, guidelines.newest(project).number) == (422, "1.0")
    assert "cannot be published as editorial" in text(answer)


def test_publishing_needs_a_reason(client_of, project, draft, lead):
    assert client_of(lead).post(address("publish", project), form_of(draft, reason="")).status_code == 422


def test_a_first_version_asks_for_no_kind_of_change(client_of, db):
    project = factories.project("New")
    lead = factories.member(project, "lea", "lead")
    draft = guidelines.draft_of(project, by=lead)
    factories.question(draft)
    guidelines.save_text(draft, text="# Rules", revision=draft.revision, by=lead)
    client, form = client_of(lead), form_of(draft, reason="")
    del form["change"]

    page = text(client.get(address("publish", project)))
    client.post(address("publish", project), form)

    assert "Publish the first guideline" in page
    assert guidelines.newest(project).number == "1.0"


def test_without_a_draft_the_page_leads_to_the_guideline(client_of, project, version, lead):
    assert client_of(lead).get(address("publish", project)).url == reverse("projects:guideline", args=[project.uuid])


# -- conflicts beside the draft ----------------------------------------------------------------------------------------

WRITES_STATUS = {"lead": 200, "admin": 200, "anna": 403, "outsider": 404, "anonymous": 302}


@pytest.mark.parametrize("who", WRITES_STATUS)
def test_who_writes_sees_the_conflicts_that_are_left(request, client, client_of, project, draft, who):
    client = visitor(request, client, client_of, who)

    assert client.get(address("draft-conflicts", project)).status_code == WRITES_STATUS[who]


def test_conflicts_are_listed_until_an_example_answers_them(client_of, project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"differ": ("praise", "complaint"), "again": ("complaint", "praise")})
    draft = guidelines.draft_of(project, by=lead)
    client = client_of(lead)
    before = text(client.get(address("draft-conflicts", project)))
    guidelines.add_example(
        draft, question_key="intent", content={"text": "x"}, value="praise", confused_with="complaint", by=lead
    )

    after = text(client.get(address("draft-conflicts", project)))

    assert "complaint / praise" in before
    assert "2 conflicts" in before
    assert "example/?label=complaint&amp;not=praise" in before
    assert "complaint / praise" not in after
    assert "Every confusion of the last measurements is answered." in after


def test_two_labels_that_are_one_in_the_draft_are_answered(client_of, project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"differ": ("praise", "complaint"), "other": ("praise", "question")})
    draft = guidelines.draft_of(project, by=lead)
    label_plans.merge(draft.questions.get().labels.get(key="complaint"), into="praise", by=lead)
    client = client_of(lead)

    left, page = (text(client.get(address(name, project))) for name in ("draft-conflicts", "publish"))

    assert ("complaint / praise" in left, "praise / question" in left) == (False, True)
    assert "one label now" in page


def test_beside_the_draft_stand_the_most_frequent_ones(client_of, project, lead, anna, ben, monkeypatch):
    monkeypatch.setattr("annotations.views.publishing.BESIDE_SHOWN", 1)
    said = {"a": ("praise", "complaint"), "b": ("complaint", "praise"), "c": ("praise", "question")}
    disputes.rated(project, [anna, ben], said)
    guidelines.draft_of(project, by=lead)

    part = text(client_of(lead).get(address("draft-conflicts", project), headers={"HX-Request": "true"}))

    assert ("complaint / praise" in part, "praise / question" in part, "and 1 rarer one" in part) == (True, False, True)


def test_a_pass_mark_is_told_before_publishing(client_of, project, draft, lead):
    project.protocol |= {"practice_pass_percent": 80}
    project.save()

    page = text(client_of(lead).get(address("publish", project)))

    assert "practise on its 1 new example until 80 % are right" in page


def test_beside_the_draft_it_is_a_fragment(client_of, project, draft, lead):
    client = client_of(lead)
    whole = client.get(address("draft-conflicts", project))
    part = client.get(address("draft-conflicts", project), headers={"HX-Request": "true"})

    assert "HX-Request" in whole["Vary"]
    assert ("<html" in text(whole), "<html" in text(part)) == (True, False)
    assert address("draft-conflicts", project) in text(
        client.get(reverse("projects:guideline-draft", args=[project.uuid]))
    )


def test_an_admin_who_does_not_adjudicate_gets_no_link_to_the_queue(client_of, project, lead, admin, anna, ben):
    disputes.rated(project, [anna, ben], {"differ": ("praise", "complaint")})
    guidelines.draft_of(project, by=lead)

    page = text(client_of(admin).get(address("draft-conflicts", project), headers={"HX-Request": "true"}))

    assert "complaint / praise" in page
    assert address("adjudication", project) not in page


def test_a_neighbours_conflicts_are_not_listed(client_of, project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"differ": ("praise", "complaint")})
    neighbour = factories.version(factories.project("Neighbour")).project
    nora = factories.member(neighbour, "nora", "lead")
    guidelines.draft_of(neighbour, by=nora)

    assert "complaint / praise" not in text(client_of(nora).get(address("draft-conflicts", neighbour)))


def test_without_a_draft_the_conflicts_lead_to_the_guideline(client_of, project, version, lead):
    assert client_of(lead).get(address("draft-conflicts", project)).url == reverse(
        "projects:guideline", args=[project.uuid]
    )


def test_as_many_queries_for_three_confusions_as_for_one(client_of, project, lead, anna, ben):
    client = client_of(lead)

    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            client.get(address("draft-conflicts", project))
        return len(queries)

    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint")})
    guidelines.draft_of(project, by=lead)
    count()
    one = count()
    disputes.rated(project, [anna, ben], {"b": ("praise", "question"), "c": ("complaint", "question")})

    assert count() == one


# -- what becomes of old labels ----------------------------------------------------------------------------------------


def test_the_publish_page_says_what_becomes_of_retired_labels(client_of, project, version, lead, anna):
    factories.items(project, 2)
    wave = releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=Decimal(0))
    Team([anna], says("question")).work()
    draws.close_wave(wave, by=lead, at=factories.NOW, reason="done")
    draft = guidelines.draft_of(project, by=lead)
    row = draft.questions.get().labels.get(key="question")
    label_plans.retire(row, becomes="", by=lead)
    client = client_of(lead)

    kept = " ".join(text(client.get(address("publish", project))).split())
    label_plans.choose(draft, "intent", "question", becomes="praise", by=lead)
    mapped = " ".join(text(client.get(address("publish", project))).split())

    assert "2 single labels are kept, marked outdated." in kept
    assert "2 single labels become “praise” in exports, marked mapped." in mapped


# -- reading -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def published(client_of, project, draft, lead, anna):
    client_of(lead).post(address("publish", project), form_of(draft))
    return guidelines.newest(project)


def test_the_news_are_the_changes_and_one_button(client_of, project, published, anna):
    page = text(client_of(anna).get(address("acknowledge", project)))

    assert "What changed from 1.0 to 2.0" in page
    assert "Refund me." in page
    assert "Refunds are settled." in page
    assert page.count("I have read this") == 1


def test_i_have_read_this_goes_on_to_the_next_item(client_of, project, published, anna):
    client = client_of(anna)

    answer = client.post(address("acknowledge", project), {"version": str(published.uuid)})

    anna.refresh_from_db()
    assert answer.url == address("label", project)
    assert anna.acknowledged == published
    assert client.get(address("acknowledge", project)).url == address("label", project)


def test_a_form_of_an_older_version_comes_back_with_the_newer_one(client_of, project, version, published, anna):
    client = client_of(anna)

    answer = client.post(address("acknowledge", project), {"version": str(version.uuid)}, follow=True)

    assert "2.0 was published meanwhile" in text(answer)
    anna.refresh_from_db()
    assert anna.acknowledged == version


@pytest.mark.parametrize("sent", ["", "nonsense", "7fd1a7e8-7f8b-4a55-9d3c-0d4a4f1e0a11"])
def test_a_version_that_is_not_there_is_not_acknowledged(client_of, project, published, anna, sent):
    assert client_of(anna).post(address("acknowledge", project), {"version": sent}).status_code == 404


def test_a_neighbours_version_is_not_acknowledged(client_of, project, published, anna):
    foreign = factories.version(factories.project("Neighbour"))

    assert client_of(anna).post(address("acknowledge", project), {"version": str(foreign.uuid)}).status_code == 404


def test_somebody_new_reads_the_whole_guideline(client_of, project, version):
    newcomer = factories.member(project, "nina", acknowledged=None)

    page = text(client_of(newcomer).get(address("acknowledge", project)))

    assert "Read it, then begin." in page
    assert "It is complaint." in page
