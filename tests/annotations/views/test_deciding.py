"""Pages around a case: one decision for several, second opinions, handing over, sending back, deciding together."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import adjudication, opinions, queue, together
from annotations.models import Case, Opinion, Proposal, Resolution, SentBack
from annotations.queue import Filters
from projects.models import Membership
from tests import factories
from tests.annotations import disputes
from tests.annotations.views.test_adjudication import RATERS, STATUS, address, deed, text

pytestmark = pytest.mark.django_db

DECISION = {"value": "complaint", "rationale": "It asks for a remedy.", "cause": "slip"}
PAIR = "?question=intent&pair=complaint%7Cpraise"
DEEDS = ("ask", "withdraw", "hand-over", "send-back", "propose")
HTMX = {"HX-Request": "true"}


@pytest.fixture
def raters(version):
    return [factories.member(version.project, name) for name in RATERS[:2]]


@pytest.fixture
def lou(version):
    return factories.member(version.project, "lou", "lead")


@pytest.fixture
def draw(project, lead, raters):
    said = {"first": ("praise", "complaint"), "second": ("praise", "complaint"), "third": ("praise", "question")}
    return disputes.rated(project, raters, said)


@pytest.fixture
def case(draw) -> Case:
    return disputes.case_of("first")


@pytest.fixture
def leading(client_of, lead):
    return client_of(lead)


# -- who may -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", STATUS)
def test_only_leads_see_the_page_of_one_decision_for_several(request, client, client_of, project, case, who):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))

    assert visitor.get(address("adjudication-alike", project) + PAIR).status_code == STATUS[who]


@pytest.mark.parametrize("who", [who for who in STATUS if who != "lead"])
def test_only_leads_do_anything(request, client, client_of, case, who):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))
    sent = DECISION | {"letter": "A", "reason": "why", "to": str(uuid4()), "cases": str(case.uuid), "decide": "yes"}

    for name in DEEDS:
        assert visitor.post(deed(name, case), sent).status_code == STATUS[who]
    assert visitor.post(address("adjudication-alike", case.item.project) + PAIR, sent).status_code == STATUS[who]

    assert (SentBack.objects.count(), Proposal.objects.count(), Resolution.objects.count()) == (0, 0, 0)
    assert not Case.objects.filter(wants_opinions=True).exists()


def test_a_neighbours_lead_finds_nothing(client_of, leading, case, lead):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = client_of(factories.member(neighbour, "nora", "lead"))

    for name in DEEDS:
        assert nora.get(deed(name, case)).status_code == 405
        assert nora.post(address(f"adjudication-{name}", neighbour, case.uuid), DECISION).status_code == 404
    answer = nora.post(
        address("adjudication-alike", neighbour) + PAIR, DECISION | {"cases": str(case.uuid), "decide": "yes"}
    )
    assert (answer.status_code, Resolution.objects.count()) == (302, 0)


@pytest.mark.parametrize("query", ["", "?question=intent", "?pair=complaint%7Cpraise"])
def test_one_decision_for_several_is_for_a_pair(leading, project, draw, query):
    assert leading.get(address("adjudication-alike", project) + query).status_code == 404


# -- blind -------------------------------------------------------------------------------------------------------------


def test_no_page_names_a_rater_before_the_decision(client_of, leading, project, case, lead, lou, raters):
    opinions.ask(disputes.case_of("third"), by=lead, at=timezone.now())
    opinions.give(disputes.case_of("third"), **DECISION, by=lead, at=timezone.now())
    leading.post(deed("claim", case), headers=HTMX)
    pages = [
        leading.get(address("adjudication", project)),
        leading.get(address("adjudication-alike", project) + PAIR),
        leading.post(address("adjudication-alike", project) + PAIR, DECISION | {"cases": str(case.uuid)}),
        leading.post(deed("claim", case), headers=HTMX),
        leading.post(deed("send-back", case), {"letter": "A", "reason": "Read it again."}, follow=True),
        leading.post(deed("send-back", case), {"letter": "A", "reason": ""}),
        leading.post(deed("hand-over", case), {"to": str(raters[0].uuid)}),
        leading.get(deed("case", disputes.case_of("third"))),
        leading.get(reverse("agreement:decisions", args=[project.uuid])),
    ]
    secrets = set(RATERS)
    for member in raters:
        secrets |= {str(member.uuid), f"/{member.pk}/", member.user.email}
    for annotation in case.item.annotations.all():
        secrets |= {str(annotation.uuid), str(annotation.assignment.uuid)}

    for response in pages:
        seen = text(response) + str(response.headers)
        assert [secret for secret in secrets if secret in seen] == []


def test_who_also_labels_is_offered_to_nobody_as_the_next_holder(leading, client_of, case, lead, lou, raters):
    """To leave out a lead because they rated this item would say that they did."""
    raters[0].is_lead = True
    raters[0].save()

    fragment = text(leading.post(deed("claim", case), headers=HTMX))

    assert (lou.name in fragment, raters[0].name in fragment) == (True, False)
    assert adjudication.takers(lead) == [lou]


# -- one decision for several ------------------------------------------------------------------------------------------


def test_several_are_shown_then_decided(leading, project, draw):
    cases = [disputes.case_of(name) for name in ("first", "second")]
    page = text(leading.get(address("adjudication", project) + PAIR))
    link = re.search(r'data-alike href="([^"]*)"', page)[1].replace("&amp;", "&")
    ticked = re.findall(r'name="cases" value="([^"]*)" checked', text(leading.get(link)))
    assert set(ticked) == {str(case.uuid) for case in cases}

    preview = text(leading.post(link, DECISION | {"cases": ticked}))
    assert "2 cases become “complaint”" in preview
    assert Resolution.objects.count() == 0
    assert "It asks for a remedy." in text(leading.post(link, DECISION | {"cases": ticked, "back": "yes"}))

    done = leading.post(link, DECISION | {"cases": ticked, "decide": "yes"}, follow=True)
    assert "2 cases are decided." in text(done)
    assert Resolution.objects.filter(standing=True, value="complaint").count() == 2
    assert done.redirect_chain[0][0] == address("adjudication", project) + PAIR


def test_what_is_missing_in_one_decision_for_several_is_said(leading, project, draw):
    link = address("adjudication-alike", project) + PAIR
    ticked = [str(disputes.case_of(name).uuid) for name in ("first", "second")]

    for lacking in (*DECISION, "cases"):
        sent = {name: value for name, value in (DECISION | {"cases": ticked}).items() if name != lacking}
        assert leading.post(link, sent).status_code == 422
    assert leading.post(link, DECISION | {"cases": ["x"]}).status_code == 422
    assert Resolution.objects.count() == 0


def test_a_case_that_somebody_took_meanwhile_is_left_out_and_said(leading, project, draw, lou):
    ticked = [str(disputes.case_of(name).uuid) for name in ("first", "second")]
    adjudication.claim(disputes.case_of("second"), by=lou, at=timezone.now())

    assert "(lou)" in text(leading.get(address("adjudication-alike", project) + PAIR))
    sent = DECISION | {"cases": ticked, "decide": "yes"}
    done = leading.post(address("adjudication-alike", project) + PAIR, sent, follow=True)

    assert "1 case is decided. 1 was left out" in text(done)


def test_one_decision_for_several_costs_the_same_to_show_with_one_and_with_three(leading, project, raters):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert leading.get(address("adjudication-alike", project) + PAIR).status_code == 200
        return len(found)

    disputes.rated(project, raters, {"a": ("praise", "complaint")})
    queries()  # a published guideline is rendered once
    one = queries()
    disputes.rated(project, raters, {"b": ("praise", "complaint"), "c": ("complaint", "praise")})

    assert queries() == one


# -- the queue ---------------------------------------------------------------------------------------------------------


def test_the_queue_says_why_it_is_in_this_order(leading, project, draw):
    page = text(leading.get(address("adjudication", project)))

    assert "The worst first" in page
    assert re.findall(r'queue-reason">([^<]*)', page) == [
        "2 of the 3 conflicts",
        "1 of the 3 conflicts",
    ]


def test_a_confusion_has_one_heading_whatever_wave_its_conflicts_are_of(leading, project, draw, raters):
    more = {"fourth": ("praise", "question"), "fifth": ("complaint", "praise"), "sixth": ("question", "praise")}
    disputes.rated(project, raters, more, at=factories.NOW + timedelta(days=1))

    page = text(leading.get(address("adjudication", project)))

    headings = re.findall(r'class="queue-group"><bdi>([^<]*)</bdi>', page)
    assert headings == ["complaint / praise", "praise / question"]


def test_steps_of_a_scale_are_named(client_of, project, version, lead, raters):
    factories.question(version, "urgency", ("none", "some", "much"), task_type="ordinal")
    said = {"far": ({"urgency": "none", "intent": "praise"}, {"urgency": "much", "intent": "praise"})}
    disputes.rated(project, raters, said)

    page = text(client_of(lead).get(address("adjudication", project)))

    assert "2 of 2 steps apart, the only conflict" in page


# -- the page with its next case ---------------------------------------------------------------------------------------


def test_to_the_page_itself_a_decision_answers_with_the_next_address_and_one_sentence(leading, case, lead):
    following = queue.following(lead, Filters(question="intent"), at=timezone.now(), case=case)

    answer = leading.post(deed("resolve", case) + "?question=intent", DECISION, headers=HTMX)

    assert (answer.status_code, answer["HX-Redirect"]) == (200, deed("case", following) + "?question=intent")
    again = deed("case", case) + "?question=intent"
    assert text(answer).strip() == (
        '<p class="notice notice--success" data-left="2">Decided. 2 conflicts are left. '
        f'<a data-last href="{again}">Look at it again</a> <kbd class="kbd">z</kbd></p>'
    )
    assert "HX-Request" in answer["Vary"]
    assert "Decided." not in text(leading.get(answer["HX-Redirect"]))


def test_the_last_decision_leads_to_the_queue(leading, case, lead):
    for name in ("second", "third"):
        adjudication.resolve(disputes.case_of(name), **DECISION, by=lead, at=timezone.now())

    answer = leading.post(deed("resolve", case), DECISION, headers=HTMX)

    assert (text(answer), answer["HX-Redirect"]) == ("", address("adjudication", case.item.project))
    assert "No conflict is left for you" in text(leading.get(answer["HX-Redirect"]))


def test_to_the_page_itself_what_is_missing_comes_back_as_the_whole_page(leading, case):
    answer = leading.post(deed("resolve", case), DECISION | {"rationale": ""}, headers=HTMX)

    assert (answer.status_code, "<main" in text(answer), "HX-Redirect" in answer) == (422, True, False)


def test_rationales_used_before_are_offered_with_their_cause(leading, case, lead):
    adjudication.resolve(disputes.case_of("second"), **DECISION, by=lead, at=timezone.now())

    page = text(leading.get(deed("case", case)))

    entry = 'data-cause="slip" data-value="&quot;complaint&quot;" data-text="It asks for a remedy." data-of-pair>'
    assert entry in page
    assert "Decided before" in page


def test_words_that_tell_two_texts_apart_are_marked(leading, case):
    case.item.content = {"one": "She <b>sold</b> it.", "two": "She <b>bought</b> it."}
    case.item.save()

    page = text(leading.get(deed("case", case)))

    assert "She &lt;b&gt;<mark>sold</mark>&lt;/b&gt; it." in page
    assert "She &lt;b&gt;<mark>bought</mark>&lt;/b&gt; it." in page


# -- second opinion ----------------------------------------------------------------------------------------------------


def test_two_leads_decide_without_seeing_each_other(client_of, leading, case, lou):
    page = leading.post(deed("ask", case), follow=True)
    assert "Your opinion" in text(page)
    assert "second opinion wanted" in text(leading.get(address("adjudication", case.item.project)))
    leading.post(deed("resolve", case), DECISION | {"rationale": "What lea thinks."})

    mine, others = text(leading.get(deed("case", case))), text(client_of(lou).get(deed("case", case)))
    assert ("What lea thinks." in mine, "Another lead’s opinion is waited for" in mine) == (True, True)
    assert ("What lea thinks." in others, "Your opinion" in others) == (False, True)

    client_of(lou).post(deed("resolve", case), DECISION | {"value": "praise", "rationale": "What lou thinks."})
    for client in (leading, client_of(lou)):
        both = text(client.get(deed("case", case)))
        assert ("What lea thinks." in both, "What lou thinks." in both, "Your decision" in both) == (True, True, True)
    assert "0 got the same label" in text(_report_of_one_decided(leading, case))


def _report_of_one_decided(leading, case):
    leading.post(deed("resolve", case), DECISION)
    return leading.get(reverse("agreement:decisions", args=[case.item.project.uuid]))


def test_an_opinion_goes_on_to_the_next_case(leading, case, lou):
    leading.post(deed("ask", case))

    answer = leading.post(deed("resolve", case), DECISION, follow=True)

    assert "Your opinion is kept. 2 conflicts are left." in text(answer)
    assert Opinion.objects.count() == 1


def test_a_request_can_be_taken_back(leading, case, lou):
    leading.post(deed("ask", case))

    assert "Your decision" in text(leading.post(deed("withdraw", case), follow=True))


def test_the_api_neither_decides_alone_nor_shows_an_opinion(client_of, leading, case, lead, lou):
    opinions.ask(case, by=lead, at=timezone.now())
    opinions.give(case, **DECISION | {"rationale": "What lea thinks."}, by=lead, at=timezone.now())
    api, at = client_of(lou), [case.item.project.uuid, case.uuid]

    shown = api.get(reverse("api:conflict", args=at))
    sent = api.post(reverse("api:resolve", args=at), DECISION, content_type="application/json")

    assert (shown.status_code, "What lea thinks." in text(shown)) == (200, False)
    assert (sent.status_code, sent.json()["error"]["code"]) == (409, "opinions_wanted")


# -- handing over, sending back ----------------------------------------------------------------------------------------


def test_a_held_case_is_handed_over(leading, case, lou):
    leading.post(deed("claim", case))

    done = leading.post(deed("hand-over", case), {"to": str(lou.uuid)}, follow=True)

    case.refresh_from_db()
    assert (case.claimed_by, "lou holds the case now" in text(done)) == (lou, True)
    assert leading.post(deed("resolve", case), DECISION).status_code == 409


def test_only_the_holder_hands_over_and_only_to_those_offered(leading, case, lou, raters):
    assert leading.post(deed("hand-over", case), {"to": str(lou.uuid)}).status_code == 422
    leading.post(deed("claim", case))
    for to in (raters[0].uuid, uuid4(), "x"):
        assert leading.post(deed("hand-over", case), {"to": str(to)}).status_code == 422
    assert not Case.objects.filter(claimed_by=lou).exists()


def test_a_label_that_is_sent_back_is_in_my_work_of_its_rater_alone(leading, client_of, project, case, raters):
    leading.post(deed("send-back", case), {"letter": "A", "reason": "Read the last sentence."})
    rater, other = case.first.member, case.second.member

    mine = text(client_of(rater).get(address("my-work", project)))
    assert ("Read the last sentence." in mine, other.name in mine) == (True, False)
    assert "Read the last sentence." not in text(client_of(other).get(address("my-work", project)))
    assert "Sent back: Read the last sentence." in text(leading.get(deed("case", case)))

    row = SentBack.objects.get()
    assert client_of(other).post(address("sent-back-keep", project, row.uuid)).status_code == 404
    client_of(rater).post(address("sent-back-keep", project, row.uuid))
    assert "Read the last sentence." not in text(client_of(rater).get(address("my-work", project)))


def test_my_work_costs_the_same_with_one_and_with_three_labels_sent_back(leading, client_of, project, draw, raters):
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert client_of(raters[0]).get(address("my-work", project)).status_code == 200
        return len(found)

    def send(name: str) -> None:
        case = disputes.case_of(name)
        letter = "A" if case.first.member == raters[0] else "B"
        leading.post(deed("send-back", case), {"letter": letter, "reason": "Look again."})

    send("first")
    queries()
    one = queries()
    send("second")
    send("third")

    assert queries() == one


# -- together ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def team(project, case, raters) -> list[Membership]:
    """The two raters; the first is a lead, too, and the project lets them decide together."""
    project.protocol["decide_together"] = True
    project.save()
    raters[0].is_lead = True
    raters[0].save()
    return raters


def test_a_team_of_two_decides_together(client_of, project, case, team):
    proposer, other = client_of(team[0]), client_of(team[1])
    assert "?own=yes" in text(proposer.get(address("adjudication", project)))
    assert "case 0 0 says" in text(proposer.get(address("adjudication", project) + "?own=yes"))
    assert "Decide it together" in text(proposer.get(deed("case", case)))

    proposer.post(deed("propose", case), DECISION)
    assert "is to confirm it" in text(proposer.get(deed("case", case)))
    work = text(other.get(address("my-work", project)))
    assert "It asks for a remedy." in work
    row = Proposal.objects.get()
    assert proposer.post(address("proposal-answer", project, row.uuid), {"confirm": "yes"}).status_code == 404
    other.post(address("proposal-answer", project, row.uuid), {"confirm": "yes"})

    assert Resolution.objects.get().kind == "consensus"
    assert "It asks for a remedy." not in text(other.get(address("my-work", project)))


def test_a_proposal_that_is_refused_leaves_the_case_open(client_of, project, case, team):
    proposer = client_of(team[0])
    proposer.post(deed("propose", case), DECISION)

    client_of(team[1]).post(address("proposal-answer", project, Proposal.objects.get().uuid), {"refuse": "yes"})

    assert "did not agree to the last proposal" in text(proposer.get(deed("case", case)))
    assert Resolution.objects.count() == 0


def test_what_is_missing_in_a_proposal_is_said(client_of, case, team):
    answer = client_of(team[0]).post(deed("propose", case), DECISION | {"rationale": ""})

    assert (answer.status_code, "Say why" in text(answer)) == (422, True)


def test_without_the_project_s_leave_nobody_proposes(client_of, project, case, team):
    project.protocol["decide_together"] = False
    project.save()

    assert client_of(team[0]).post(deed("propose", case), DECISION).status_code == 403
    assert "Decide it together" not in text(client_of(team[0]).get(deed("case", case)))
    assert together.allowed(project) is False
