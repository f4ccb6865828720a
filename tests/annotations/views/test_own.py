"""My work beside the list: pace, final labels, own keys. Each shows its own member's only."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import adjudication, publishing, releasing
from annotations.models import Annotation, Case
from projects.models import Membership
from tests import factories
from tests.annotations import disputes

pytestmark = pytest.mark.django_db

PAGES = ("my-pace", "my-final-labels", "my-keys")
STATUS = {"anna": 200, "lead": 403, "admin": 403, "outsider": 404, "anonymous": 302}


def url(name: str, member) -> str:
    return reverse(f"annotations:{name}", args=[member.project.uuid])


def text(response) -> str:
    return response.content.decode()


@pytest.mark.parametrize("who", STATUS)
def test_access(request, anna, client, client_of, who):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))

    assert {visitor.get(url(name, anna)).status_code for name in PAGES} == {STATUS[who]}


def test_pace_shows_the_days_and_says_who_sees_them(project, lead, anna, ben, client_of):
    disputes.rated(project, [anna, ben], {"a": ("praise", "praise"), "b": ("praise", "praise")})
    Annotation.objects.filter(member=anna).update(submitted_at=timezone.now(), seconds=90.0)

    page = text(client_of(anna).get(url("my-pace", anna)))

    assert "you labelled 2 items, in 3 min. That is 40 an hour." in page
    assert "Only you see this page." in page
    assert "You have labelled nothing in the last 30 days" in text(client_of(ben).get(url("my-pace", ben)))


def test_final_labels_say_what_was_decided_and_why(project, lead, anna, ben, client_of):
    disputes.rated(project, [anna, ben], {"first": ("praise", "complaint")})
    client = client_of(anna)
    assert "Of your newest label with a result none came out otherwise." in text(
        client.get(url("my-final-labels", anna))
    )
    decision = {"value": "complaint", "rationale": "It asks for a remedy.", "cause": "slip"}
    adjudication.resolve(Case.objects.get(), **decision, by=lead, at=timezone.now())

    page = text(client.get(url("my-final-labels", anna)))

    assert "It asks for a remedy." in page
    assert "decided by lea. Cause: a slip" in page
    assert "ben" not in page


def test_final_labels_cost_the_same_for_one_and_three(project, lead, anna, ben, client_of):
    client = client_of(anna)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            page = text(client.get(url("my-final-labels", anna)))
        assert page.count("It asks.") == Case.objects.decided().count()
        return len(queries)

    def decide() -> None:
        for case in Case.objects.open():
            adjudication.resolve(
                case, value="complaint", rationale="It asks.", cause="slip", by=lead, at=timezone.now()
            )

    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint")})
    decide()
    client.get(url("my-final-labels", anna))
    one = cost()
    disputes.rated(project, [anna, ben], {"b": ("praise", "complaint"), "c": ("praise", "complaint")})
    decide()

    assert cost() == one


def test_keys_are_saved_and_stand_on_the_labels(project, lead, anna, client_of):
    client = client_of(anna)
    response = client.post(url("my-keys", anna), {"key-0": "k", "key-1": "", "key-2": ""}, follow=True)
    factories.items(project, 2)
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=0)

    assert "Your keys are saved." in text(response)
    page = text(client.get(url("label", anna)))
    assert 'value="complaint" id="q1-l1" data-key="k" aria-keyshortcuts="k"' in page


def test_own_keys_decide_a_case_too(project, lead, anna, ben, client_of):
    disputes.rated(project, [anna, ben], {"first": ("praise", "complaint")})
    both = factories.member(project, "bo", "lead", "annotator", hotkeys={"intent": {"complaint": "k"}})

    page = text(
        client_of(both).get(reverse("annotations:adjudication-case", args=[project.uuid, Case.objects.get().uuid]))
    )

    assert 'value="complaint" id="q1-l1" data-key="k"' in page


def test_a_collision_is_refused_with_a_sentence(anna, client_of):
    response = client_of(anna).post(url("my-keys", anna), {"key-0": "k", "key-1": "k"})

    assert response.status_code == 422
    assert "The key “k” is already that of “complaint”: take another one for “praise”." in text(response)
    assert Membership.objects.get(pk=anna.pk).hotkeys == {}


def test_a_neighbour_s_work_does_not_appear(project, lead, anna, ben, client_of):
    disputes.rated(project, [anna, ben], {"first": ("praise", "complaint")}, at=timezone.now() - timedelta(hours=2))
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    there = factories.member(neighbour, "anna")
    client = client_of(anna)

    assert "You have labelled nothing" in text(client.get(url("my-pace", there)))
    assert "No results are in yet" in text(client.get(url("my-final-labels", there)))
    client.post(url("my-keys", there), {"key-0": "k", "key-1": "", "key-2": ""})
    assert [Membership.objects.get(pk=one.pk).hotkeys for one in (anna, there)] == [{}, {"intent": {"complaint": "k"}}]


def test_the_page_leads_to_what_changed_since_the_version_read_before(project, version, lead, client_of):
    carl = factories.member(project, "carl", acknowledged=None)
    publishing.acknowledge(carl, version, at=timezone.now())
    factories.items(project, 2)
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=0)
    client = client_of(carl)
    assert "What changed since" not in text(client.get(url("label", carl)))
    newer = factories.version(project, 1, 1)
    publishing.acknowledge(carl, newer, at=timezone.now())

    page = text(client.get(url("label", carl)))

    link = reverse("projects:guideline-differences", args=[project.uuid, version.uuid, newer.uuid])
    assert f'href="{link}"' in page
    assert "What changed since 1.0" in page
