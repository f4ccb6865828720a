"""The adjudication pages: who sees them, that they name no rater before the decision, and that they work."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import adjudication, cases
from annotations.models import Case, Resolution
from projects.models import Example
from tests import factories
from tests.annotations import disputes

pytestmark = pytest.mark.django_db

RATERS = ("rater-one", "rater-two", "rater-three")
PAGES = ("adjudication", "adjudication-next", "adjudication-case")
DEEDS = ("claim", "release", "resolve", "preview", "reopen", "example")
DECISION = {"value": "complaint", "rationale": "It asks for a remedy.", "cause": "slip"}
STATUS = {"lead": 200, "admin": 403, "anna": 403, "outsider": 404, "anonymous": 302}


@pytest.fixture
def raters(version):
    return [factories.member(version.project, name) for name in RATERS]


@pytest.fixture
def draw(project, lead, raters):
    said = {"first": ("praise", "complaint", "praise"), "second": ("question", "praise", "praise")}
    return disputes.rated(project, raters, said)


@pytest.fixture
def case(draw) -> Case:
    return disputes.case_of("first")


@pytest.fixture
def leading(client_of, lead):
    return client_of(lead)


def address(name: str, project, *more) -> str:
    return reverse(f"annotations:{name}", args=[project.uuid, *more])


def deed(name: str, case: Case) -> str:
    return address(f"adjudication-{name}", case.item.project, case.uuid)


def text(response) -> str:
    return response.content.decode()


# -- who may -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", STATUS)
@pytest.mark.parametrize("page", PAGES)
def test_only_leads_see_the_pages(request, client, client_of, project, case, who, page):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))

    response = visitor.get(address(page, project, *([case.uuid] if page == "adjudication-case" else [])))

    assert response.status_code == (302 if page == "adjudication-next" and who == "lead" else STATUS[who])
    if who == "anonymous":
        assert response.url.startswith(reverse("projects:login"))


@pytest.mark.parametrize("who", [who for who in STATUS if who != "lead"])
@pytest.mark.parametrize("name", DEEDS)
def test_only_leads_do_anything(request, client, client_of, case, who, name):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))

    assert visitor.post(deed(name, case), DECISION | {"reason": "why"}).status_code == STATUS[who]
    assert (Case.objects.get(pk=case.pk).state, Case.objects.get(pk=case.pk).claimed_by) == ("open", None)


@pytest.mark.parametrize("name", DEEDS)
def test_a_deed_is_not_done_by_looking(leading, case, name):
    assert leading.get(deed(name, case)).status_code == 405


def test_a_neighbours_cases_neither_appear_nor_answer(client_of, leading, case):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = client_of(factories.member(neighbour, "nora", "lead"))

    page = text(nora.get(address("adjudication", neighbour)))

    assert "No conflict is open" in page
    assert nora.get(address("adjudication-case", neighbour, case.uuid)).status_code == 404
    assert nora.get(address("adjudication-next", neighbour) + f"?after={case.uuid}").status_code == 404
    for name in DEEDS:
        posted = nora.post(address(f"adjudication-{name}", neighbour, case.uuid), DECISION | {"reason": "why"})
        assert posted.status_code == 404
    assert leading.get(address("adjudication-case", case.item.project, uuid4())).status_code == 404


@pytest.mark.parametrize("query", ["?draw=x", "?state=closed", "?after=7", "?pair=%00"])
def test_an_address_that_cannot_be_is_not_found(leading, project, draw, query):
    assert leading.get(address("adjudication", project) + query).status_code == 404


# -- blind -------------------------------------------------------------------------------------------------------------


def test_no_page_names_a_rater_before_the_decision(leading, project, case, lead):
    everything = [
        leading.get(address("adjudication", project)),
        leading.get(address("adjudication", project) + "?pair=complaint|praise&question=intent&stratum="),
        leading.get(deed("case", case)),
        leading.post(deed("claim", case), headers={"HX-Request": "true"}),
        leading.post(deed("preview", case), DECISION | {"content-0": "Refund me."}, headers={"HX-Request": "true"}),
        leading.post(deed("preview", case), DECISION | {"content-0": "Refund me."}),
        leading.post(deed("resolve", case), {"value": "threat"}),
    ]
    adjudication.resolve(case, **DECISION, by=lead, at=timezone.now())
    adjudication.reopen(case, reason="misread", by=lead, at=timezone.now())
    everything.append(leading.get(deed("case", case)))
    secrets = set(RATERS)
    for member in project.memberships.filter(alias__in=RATERS).select_related("user"):
        secrets |= {str(member.uuid), f"/{member.pk}/", member.user.email}
    for annotation in case.item.annotations.all():
        secrets |= {str(annotation.uuid), str(annotation.assignment.uuid)}

    for response in everything:
        seen = text(response) + str(response.headers) + response.request["PATH_INFO"]
        assert [secret for secret in secrets if secret in seen] == []
        assert "Rater A" in seen or "Your decision" not in seen


def test_the_names_are_shown_once_it_is_decided(leading, case, lead):
    adjudication.resolve(case, **DECISION, by=lead, at=timezone.now())

    page = text(leading.get(deed("case", case)))

    assert case.first.member.name in page
    assert case.second.member.name in page
    assert "Rater A" not in page


def test_the_page_of_two_raters_who_swapped_their_labels_is_the_same(leading, case):
    def page() -> str:
        return re.sub(
            r'name="csrfmiddlewaretoken" value="\w+"|X-CSRFToken": "\w+"', "", text(leading.get(deed("case", case)))
        )

    before = page()
    # Whose rating stands under which letter must not show.
    Case.objects.filter(pk=case.pk).update(first=case.second, second=case.first)

    assert page() == before


# -- the queue ---------------------------------------------------------------------------------------------------------


def test_the_queue_groups_by_confusion_with_counts(leading, project, draw):
    page = text(leading.get(address("adjudication", project)))

    assert re.findall(r'queue-group"><bdi>([^<]*)', page) == ["complaint / praise", "praise / question"]
    assert "case 0 0 says something" in page


def test_a_filter_is_a_link_that_narrows_the_list(leading, project, draw):
    page = text(leading.get(address("adjudication", project)))
    link = re.search(r'href="(\?[^"]*pair=praise[^"]*)"', page)[1].replace("&amp;", "&")

    narrowed = text(leading.get(address("adjudication", project) + link))

    assert re.findall(r'queue-group"><bdi>([^<]*)', narrowed) == ["praise / question"]


def test_a_lead_who_rated_sees_how_many_are_left_out(client_of, project, draw, raters):
    raters[0].is_lead = True
    raters[0].save()

    page = text(client_of(raters[0]).get(address("adjudication", project)))

    assert "2 more conflicts are on items that you rated yourself" in page
    assert "says something of its own" not in page


def test_a_case_that_somebody_holds_says_who(leading, project, case, version):
    lou = factories.member(project, "lou", "lead")
    adjudication.claim(case, by=lou, at=timezone.now())

    assert "lou is deciding" in text(leading.get(address("adjudication", project)))
    assert "lou is deciding this case until" in text(leading.get(deed("case", case)))


def test_the_queue_costs_the_same_with_one_and_with_three_rows(leading, project, lead, raters):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert leading.get(address("adjudication", project)).status_code == 200
        return len(found)

    disputes.rated(project, raters, {"a": ("praise", "complaint", "praise")})
    one = queries()
    disputes.rated(project, raters, {"b": ("praise", "question", "praise"), "c": ("question", "complaint", "praise")})

    assert queries() == one


def test_a_case_costs_the_same_whatever_is_beside_it(leading, project, lead, raters):
    def queries(name: str) -> int:
        with CaptureQueriesContext(connection) as found:
            assert leading.get(deed("case", disputes.case_of(name))).status_code == 200
        return len(found)

    disputes.rated(project, raters, {"a": ("praise", "complaint", "praise")})
    queries("a")  # a published guideline is rendered once
    one = queries("a")
    disputes.rated(project, raters, {"b": ("praise", "question", "praise"), "c": ("question", "complaint", "praise")})

    assert queries("a") == one


# -- the case ----------------------------------------------------------------------------------------------------------


def test_a_case_shows_item_labels_rules_and_comments(leading, case):
    case.first.comment = "It says thanks, too."
    case.first.save()

    page = text(leading.get(deed("case", case)))

    assert case.item.content["text"] in page
    for said in ("Rater A", "Rater B", "It is complaint.", "It is praise.", "It says thanks, too."):
        assert said in page
    assert page.count(' data-key="') == 3


def test_holding_a_case_is_asked_for_as_the_page_opens(leading, case, lead):
    assert "hx-post" in text(leading.get(deed("case", case)))

    fragment = text(leading.post(deed("claim", case), headers={"HX-Request": "true"}))

    assert "You hold this case until" in fragment
    assert cases.holder_of(cases.find(lead, case.uuid), at=timezone.now()) == lead


def test_without_javascript_a_button_holds_and_lets_go(leading, case):
    assert leading.post(deed("claim", case)).url == deed("case", case)
    assert "You hold this case" in text(leading.get(deed("case", case)))

    leading.post(deed("release", case))

    assert "Nobody holds this case" in text(leading.get(deed("case", case)))


def test_leaving_the_page_lets_go(leading, case):
    leading.post(deed("claim", case))

    assert leading.post(deed("release", case), {"leave": "1"}).status_code == 204
    case.refresh_from_db()
    assert case.claimed_by is None


def test_a_claim_that_comes_second_is_told_who_is_first(leading, case, project):
    lou = factories.member(project, "lou", "lead")
    adjudication.claim(case, by=lou, at=timezone.now())

    answer = leading.post(deed("claim", case), headers={"HX-Request": "true"})

    assert (answer.status_code, "lou is deciding this case" in text(answer)) == (200, True)
    assert leading.post(deed("claim", case)).status_code == 409


def test_deciding_goes_on_to_the_next_case_under_the_same_filters(leading, case):
    other = disputes.case_of("second")

    answer = leading.post(deed("resolve", case) + "?question=intent", DECISION)

    assert answer.url == deed("case", other) + "?question=intent"
    assert "Decided. 1 conflict is left." in text(leading.get(answer.url))


def test_after_the_last_decision_the_queue_says_so(leading, case, project, lead):
    adjudication.resolve(disputes.case_of("second"), **DECISION, by=lead, at=timezone.now())

    answer = leading.post(deed("resolve", case), DECISION, follow=True)

    assert answer.redirect_chain == [(address("adjudication", project), 302)]
    assert "No conflict is left for you" in text(answer)


def test_a_form_sent_twice_decides_once(leading, case):
    for _time in range(2):
        assert leading.post(deed("resolve", case), DECISION).status_code == 302

    assert Resolution.objects.count() == 1


@pytest.mark.parametrize("lacking", DECISION)
def test_what_is_missing_is_said_and_what_was_written_comes_back(leading, case, lacking):
    sent = {name: value for name, value in DECISION.items() if name != lacking}

    answer = leading.post(deed("resolve", case), sent)

    assert (answer.status_code, Resolution.objects.count()) == (422, 0)
    assert lacking == "rationale" or "It asks for a remedy." in text(answer)


def test_a_decision_on_a_held_case_loses_nothing_that_was_written(leading, case, project):
    lou = factories.member(project, "lou", "lead")
    adjudication.claim(case, by=lou, at=timezone.now())

    answer = leading.post(deed("resolve", case), DECISION)

    assert (answer.status_code, Resolution.objects.count()) == (409, 0)
    assert "lou is deciding this case until" in text(answer)
    assert "It asks for a remedy." in text(answer)


def test_a_claim_that_ran_out_does_not_keep_its_holder_from_deciding(leading, case, lead):
    adjudication.claim(case, by=lead, at=timezone.now() - timedelta(hours=1))

    assert leading.post(deed("resolve", case), DECISION).status_code == 302


def test_a_case_that_another_lead_decided_meanwhile_shows_the_decision(leading, case, project):
    lou = factories.member(project, "lou", "lead")
    adjudication.resolve(case, **DECISION, by=lou, at=timezone.now())

    answer = leading.post(deed("resolve", case), DECISION | {"value": "praise"})

    assert answer.status_code == 409
    assert "lou decided this case" in text(answer)


def test_an_own_case_has_no_form_and_says_why(client_of, case, raters):
    raters[0].is_lead = True
    raters[0].save()
    client = client_of(raters[0])

    page = text(client.get(deed("case", case)))

    assert "You rated this item yourself: somebody else decides it." in page
    assert "Your decision" not in page
    assert "hx-post" not in page
    assert client.post(deed("resolve", case), DECISION).status_code == 403
    assert client.post(deed("claim", case)).status_code == 403


# -- example and reopening ---------------------------------------------------------------------------------------------


def test_use_as_example_puts_the_wording_into_the_draft(leading, case):
    leading.post(
        deed("resolve", case),
        DECISION | {"as_example": "on", "content-0": "Refund me.", "kind": "near_miss", "example_rationale": ""},
    )

    example = Example.objects.get()
    assert (example.content, example.value, example.confused_with, example.kind, example.rationale) == (
        {"text": "Refund me."},
        "complaint",
        "praise",
        "near_miss",
        "It asks for a remedy.",
    )


def test_a_wanted_example_without_a_text_decides_nothing(leading, case):
    answer = leading.post(deed("resolve", case), DECISION | {"as_example": "on", "content-0": " ", "kind": "clear"})

    assert (answer.status_code, Resolution.objects.exists()) == (422, False)


def test_the_preview_shows_the_example_and_saves_nothing(leading, case):
    sent = {"value": "complaint", "content-0": "Refund <b>me</b>."}

    fragment = text(leading.post(deed("preview", case), sent, headers={"HX-Request": "true"}))
    page = leading.post(deed("preview", case), sent)

    assert "Refund &lt;b&gt;me&lt;/b&gt;." in fragment
    assert page.status_code == 200
    assert "Refund &lt;b&gt;me&lt;/b&gt;." in text(page)
    assert not Example.objects.exists()
    assert not case.item.project.versions.filter(state="draft").exists()


def test_the_preview_points_at_what_looks_like_personal_details(leading, case):
    sent = DECISION | {"as_example": "on", "content-0": "Call 0170 5550199.", "kind": "clear"}

    shown, clean = (
        text(leading.post(deed("preview", case), sent | changes, headers={"HX-Request": "true"}))
        for changes in ({}, {"content-0": "Call [redacted]."})
    )

    assert ("personal details: 0170 5550199" in shown, "personal details" in clean) == (True, False)


def test_a_decided_case_has_the_same_editor_with_its_preview(leading, case, lead):
    adjudication.resolve(case, **DECISION, by=lead, at=timezone.now())
    sent = {"content-0": "Somebody wrote this.", "kind": "near_miss"}

    page = text(leading.post(deed("preview", case), sent))
    fragment = text(leading.post(deed("preview", case), sent, headers={"HX-Request": "true"}))

    for shown in (page, fragment):
        assert "Somebody wrote this." in shown
        assert "It asks for a remedy." in shown
    assert ("<main" in page, "<main" in fragment) == (True, False)
    assert Example.objects.count() == 0


def test_what_was_taken_out_of_an_example_is_nowhere_in_it(leading, case):
    case.item.content = {"text": "Call Mia Berger."}
    case.item.save()
    leading.post(
        deed("resolve", case), DECISION | {"as_example": "on", "content-0": "Call [redacted].", "kind": "clear"}
    )

    example = Example.objects.get()

    assert (example.content, case.item.content) == ({"text": "Call [redacted]."}, {"text": "Call Mia Berger."})
    draft = reverse("projects:guideline-examples", args=[case.item.project.uuid])
    assert ("Call [redacted]." in text(leading.get(draft)), "Mia" in text(leading.get(draft))) == (True, False)


def test_a_text_that_is_an_example_already_is_said(leading, case, lead):
    leading.post(
        deed("resolve", case), DECISION | {"as_example": "on", "content-0": case.item.content["text"], "kind": "clear"}
    )
    leading.post(deed("reopen", case), {"reason": "misread"})

    assert "This text is an example in the draft already." in text(leading.get(deed("case", case)))


def test_a_decision_becomes_an_example_afterwards(leading, case, lead):
    adjudication.resolve(case, **DECISION, by=lead, at=timezone.now())

    leading.post(deed("example", case), {"content-0": "Refund me.", "kind": "clear"})

    assert Example.objects.get().content == {"text": "Refund me."}
    assert "It is an example in the draft" in text(leading.get(deed("case", case)))


def test_an_empty_example_is_refused_in_its_form(leading, case, lead):
    adjudication.resolve(case, **DECISION, by=lead, at=timezone.now())

    answer = leading.post(deed("example", case), {"content-0": " ", "kind": "clear"})

    assert (answer.status_code, Example.objects.exists()) == (422, False)
    assert "This field is required." in text(answer)


def test_reopening_shows_the_earlier_decision_below_the_case(leading, case, lead):
    adjudication.resolve(case, **DECISION, by=lead, at=timezone.now())
    assert leading.post(deed("reopen", case), {"reason": ""}).status_code == 422

    answer = leading.post(deed("reopen", case), {"reason": "The rule was misread."}, follow=True)

    assert "Earlier decisions" in text(answer)
    assert "The rule was misread." in text(answer)
    assert "Your decision" in text(answer)


def test_reopening_an_open_case_is_refused(leading, case):
    assert leading.post(deed("reopen", case), {"reason": "why"}).status_code == 409


def test_a_decided_case_leads_to_the_cell_that_it_came_from_and_an_open_one_does_not(
    leading, project, draw, case, lead
):
    cell = reverse("agreement:cell", args=[project.uuid, draw.uuid, "intent", "complaint", "praise"])
    assert cell not in text(leading.get(address("adjudication-case", project, case.uuid)))

    leading.post(deed("resolve", case), DECISION)

    assert cell in text(leading.get(address("adjudication-case", project, case.uuid)))
    assert leading.get(cell).status_code == 200
