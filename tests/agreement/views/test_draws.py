"""The pages of agreement: who may open them, what they say, and what they keep back."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import gates, runs
from agreement.enums import GateOutcome
from annotations import conflicts
from annotations.models import Draw, Look, Seat
from projects.models import GuidelineVersion, Membership
from tests import factories
from tests.agreement import rows
from tests.factories import NOW

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(seconds=10)
PAIRS = ("anna and ben", "anna and cara")
SAID = (
    [("praise", "praise")] * 6
    + [("complaint", "complaint")] * 5
    + [("praise", "complaint")] * 3
    + [("complaint", "question")]
)


def pairs(anna: Membership, ben: Membership, said=SAID) -> list[dict[Membership, str]]:
    return [{anna: a, ben: b} for a, b in said]


@pytest.fixture
def closed(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    draw = rows.draw(version, pairs(anna, ben), by=lead, closing="complete", rules={"intent": {"threshold": 0.7}})
    conflicts.open_cases(draw, at=LATER)
    runs.compute(draw, at=LATER)
    return draw


@pytest.fixture
def opened(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    draw = rows.draw(version, pairs(anna, ben), by=lead, size=40)
    runs.compute(draw, at=LATER)
    return draw


def address(name: str, draw: Draw, *more: str) -> str:
    return reverse(f"agreement:{name}", args=[draw.wave.project.uuid, draw.uuid, *more])


def text(response) -> str:
    return " ".join(response.content.decode().split())


# -- access -----------------------------------------------------------------------------------------------------------


def pages(draw: Draw) -> dict[str, str]:
    return {
        "agreement": reverse("agreement:agreement", args=[draw.wave.project.uuid]),
        "draw": address("draw", draw, "intent"),
        "cell": address("cell", draw, "intent", "complaint", "praise"),
    }


@pytest.mark.parametrize("page", ["agreement", "draw", "cell"])
@pytest.mark.parametrize(("who", "status"), [("admin", 200), ("lead", 200), ("anna", 403), ("outsider", 404)])
def test_access(request, client_of, closed, page, who, status) -> None:
    client = client_of(request.getfixturevalue(who))

    assert client.get(pages(closed)[page]).status_code == status


@pytest.mark.parametrize("page", ["agreement", "draw", "cell"])
def test_anonymous_is_sent_to_the_log_in(client, closed, page) -> None:
    response = client.get(pages(closed)[page])

    assert (response.status_code, response.url) == (302, f"{reverse('projects:login')}?next={pages(closed)[page]}")
    assert isinstance(response.wsgi_request.user, AnonymousUser)


@pytest.mark.parametrize("name", ["draw", "cell"])
def test_draw_of_another_project_does_not_exist(client_of, closed, name) -> None:
    other = factories.version(factories.project("Neighbours")).project
    boss = factories.member(other, "nora", "lead", "admin")
    url = pages(closed)[name].replace(str(closed.wave.project.uuid), str(other.uuid))

    assert client_of(boss).get(url).status_code == 404


def test_draws_of_a_neighbour_are_not_listed(client_of, closed, lead) -> None:
    other = factories.version(factories.project("Neighbours"))
    boss, cara, dan = (factories.member(other.project, *who) for who in (("nora", "lead"), ("cara",), ("dan",)))
    theirs = rows.draw(other, [{cara: "praise", dan: "praise"}], by=boss, closing="complete")
    runs.compute(theirs, at=LATER)

    page = text(client_of(lead).get(pages(closed)["agreement"]))

    assert (str(closed.uuid) in page, str(theirs.uuid) in page) == (True, False)


@pytest.mark.parametrize("args", [["tone"], ["intent", "complaint", "threat"]], ids=["question", "label"])
def test_what_the_draw_did_not_ask_does_not_exist(client_of, closed, lead, args) -> None:
    assert client_of(lead).get(address("cell" if len(args) > 1 else "draw", closed, *args)).status_code == 404


# -- blindness --------------------------------------------------------------------------------------------------------


@pytest.fixture
def both(version: GuidelineVersion) -> Membership:
    """A lead who also annotates."""
    return factories.member(version.project, "lou", "lead", "annotator")


def test_lead_who_annotates_sees_no_figure_of_an_open_draw(client_of, opened, both) -> None:
    client = client_of(both)
    listed = text(client.get(pages(opened)["agreement"]))

    assert client.get(pages(opened)["draw"]).status_code == 403
    assert ("Cohen" in listed, "15 of 40" in listed, "chart-point" in listed) == (False, False, False)
    assert Look.objects.count() == 0


def test_home_tells_a_lead_who_annotates_nothing_of_an_open_draw(client_of, opened, both) -> None:
    page = text(client_of(both).get(reverse("agreement:home", args=[opened.wave.project.uuid])))

    assert ("in overlap" in page, "of 40" in page, "interim" in page) == (False, False, False)


def test_lead_who_gave_up_sees_the_interim_figure(client_of, opened, both) -> None:
    Seat.objects.create(wave=opened.wave, member=both, gave_up_at=NOW)

    assert client_of(both).get(pages(opened)["draw"]).status_code == 200


def test_look_at_an_interim_figure_is_logged_once(client_of, opened, lead) -> None:
    client = client_of(lead)
    for page in ("draw", "agreement", "draw"):
        client.get(pages(opened)[page])

    assert [look.member for look in Look.objects.all()] == [lead]


def test_look_at_a_closed_draw_is_not_logged(client_of, closed, lead) -> None:
    client_of(lead).get(pages(closed)["draw"])

    assert Look.objects.count() == 0


def test_cells_of_an_open_draw_are_refused(client_of, opened, lead) -> None:
    response = client_of(lead).get(pages(opened)["cell"])

    assert (response.status_code, "shown when it closes" in text(response)) == (409, True)
    assert "/cell/" not in text(client_of(lead).get(pages(opened)["draw"]))


def test_who_said_which_is_kept_back_while_a_case_is_open(client_of, closed, lead, admin) -> None:
    for_lead = text(client_of(lead).get(pages(closed)["draw"]))
    for_admin = text(client_of(admin).get(pages(closed)["draw"]))

    assert ("Items by what" in for_lead, "Tables by pair" in for_lead) == (False, False)
    assert ("Items by what anna (down) and ben (across) said." in for_admin, "Tables by pair" in for_admin) == (
        True,
        True,
    )


def test_page_names_no_rater_while_the_viewer_may_decide_an_open_case(client_of, version, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    said = [{anna: "praise", ben: "complaint"}, {ben: "complaint", cara: "complaint"}, {anna: "praise", cara: "praise"}]
    draw = rows.draw(version, said, by=lead, closing="complete")
    conflicts.open_cases(draw, at=LATER)
    runs.compute(draw, at=LATER)

    page = text(client_of(lead).get(pages(draw)["draw"])).split("<main")[1]

    assert [name in page for name in ("anna", "ben", "cara", "Rater 1 and Rater 2")] == [False, False, False, True]


def test_who_said_which_is_kept_back_while_the_draw_is_open(client_of, version, lead, admin, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    said = [{anna: "praise", ben: "complaint"}, {ben: "complaint", cara: "praise"}, {anna: "praise", cara: "question"}]
    draw = rows.draw(version, said, by=lead, size=9)
    runs.compute(draw, at=LATER)

    for_lead, for_admin = (text(client_of(who).get(pages(draw)["draw"])).split("<main")[1] for who in (lead, admin))

    assert [name in for_lead for name in ("anna", "ben", "cara", "Tables by pair")] == [False] * 4
    assert [name in for_admin for name in ("anna", "ben", "cara", "Tables by pair")] == [True] * 4
    assert "is shown once this draw is closed and its conflicts are decided" in for_lead


def test_both_ways_round_have_one_address(client_of, closed, admin) -> None:
    page = text(client_of(admin).get(pages(closed)["draw"]))

    assert ("/cell/complaint/praise/" in page, "/cell/praise/complaint/" in page) == (True, False)


def test_cell_names_no_rater(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(pages(closed)["cell"]))

    assert ("3 items." in page, page.count("complaint, praise")) == (True, 3)
    assert (">anna" in page, ">ben" in page, "anna" in page.split("<main")[1], "ben" in page.split("<main")[1]) == (
        False,
        False,
        False,
        False,
    )


def test_cell_leads_to_its_cases(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(pages(closed)["cell"]))

    links = [
        reverse("annotations:adjudication-case", args=[closed.wave.project.uuid, case.uuid])
        for case in closed.cases.filter(pair_key="complaint|praise")
    ]
    assert (len(links), [link in page for link in links]) == (3, [True] * 3)


def test_cell_on_the_diagonal_has_the_items_that_agree(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(address("cell", closed, "intent", "praise", "praise")))

    assert "6 items." in page


# -- what is said -----------------------------------------------------------------------------------------------------


def test_page_says_the_figure_as_a_sentence(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(pages(closed)["draw"]))

    # 11 of 15 agree; margins 9, 6, 0 and 6, 8, 1.
    assert "Cohen&#x27;s kappa .51, 95 % between ." in page
    assert "on 15 items rated by 2 people." in page
    assert "Observed agreement .73, expected by chance .45." in page


def test_interim_page_says_how_far_it_is(client_of, opened, lead) -> None:
    page = text(client_of(lead).get(pages(opened)["draw"]))

    assert ("Interim, 15 of 40" in page, "Gate of the draw: not enough data" in page) == (True, True)


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ([], "No item has two ratings that could be compared."),
        ([("praise", None)] * 3, "No item has two ratings that could be compared."),
        ([("praise", "praise")] * 3, "Only one label was used, so agreement by chance would be complete"),
    ],
    ids=["empty overlap", "one rater", "one class"],
)
def test_undefined_is_said_with_its_reason(client_of, version, lead, anna, ben, said, sentence) -> None:
    given = [{m: v for m, v in zip((anna, ben), pair, strict=True) if v} for pair in said]
    draw = rows.draw(version, given, by=lead, size=5, closing="short")
    runs.compute(draw, at=LATER)
    client = client_of(lead)

    for url in (pages(draw)["agreement"], pages(draw)["draw"]):
        page = text(client.get(url))
        assert (sentence in page, "nan" in page.lower().split()) == (True, False)
    assert text(client.get(pages(draw)["draw"])).count("undefined") >= 1


def test_no_word_for_a_number_is_printed(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(pages(closed)["draw"])).lower()

    words = ("substantial", "moderate", "almost perfect", "slight agreement", "fair agreement")
    assert [word for word in words if word in page] == []


def test_page_without_figures_yet_says_so(client_of, version, lead, anna, ben) -> None:
    draw = rows.draw(version, pairs(anna, ben), by=lead, closing="complete")

    assert "not computed yet" in text(client_of(lead).get(pages(draw)["draw"]))


def test_three_raters_see_pairs_with_their_n(client_of, version, lead, anna, ben) -> None:
    cara = factories.member(version.project, "cara")
    said = [{anna: "praise", ben: "praise"}, {ben: "complaint", cara: "complaint"}, {anna: "praise", cara: "praise"}]
    draw = rows.draw(version, said, by=lead, closing="complete")
    runs.compute(draw, at=LATER)

    page = text(client_of(lead).get(pages(draw)["draw"]))

    assert "Krippendorff&#x27;s alpha (nominal) 1.00" in page
    found = [f'{pair}</th><td class="number" data-label="Items">1</td>' in page for pair in PAIRS]
    assert found == [True, True]
    assert "All 3 raters hang together" in page


def test_early_closing_prints_reason_and_looks(client_of, version, lead, anna, ben) -> None:
    draw = rows.draw(version, pairs(anna, ben), by=lead, size=30, closing="early", reason="The label set changes.")
    Look.objects.create(draw=draw, member=lead, at=NOW)
    runs.compute(draw, at=LATER)

    page = text(client_of(lead).get(pages(draw)["draw"]))

    assert "The label set changes." in page
    assert "The interim figure had been seen by lea." in page
    assert "15 of the 30 items drawn have two ratings or more." in page


def test_versions_stand_side_by_side_with_their_difference(client_of, closed, version, lead, anna, ben) -> None:
    second = factories.version(version.project, 2, 0)
    said = pairs(anna, ben, [("praise", "praise"), ("complaint", "complaint")] * 20 + [("praise", "complaint")])
    runs.compute(rows.draw(second, said, by=lead, closing="complete"), at=LATER)

    page = text(client_of(lead).get(pages(closed)["agreement"]))

    assert "2.0 minus 1.0: +." in page
    assert [f">Guideline {number}</th>" in page for number in ("1.0", "2.0")] == [True, True]
    assert (page.count('class="chart-break"'), page.count('class="chart-point"')) == (1, 2)


def test_list_costs_the_same_queries_for_more_draws(client_of, version, lead, anna, ben) -> None:
    client = client_of(lead)

    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(reverse("agreement:agreement", args=[version.project.uuid]))
        return len(captured)

    def add() -> None:
        draw = rows.draw(version, pairs(anna, ben), by=lead, closing="complete")
        runs.compute(draw, at=LATER)

    add()
    with_one = queries()
    add()
    add()

    assert queries() == with_one


def test_cell_costs_the_same_queries_for_more_items(client_of, version, lead, anna, ben) -> None:
    client = client_of(lead)

    def queries(items: int) -> int:
        draw = rows.draw(version, pairs(anna, ben, [("praise", "complaint")] * items), by=lead, closing="complete")
        conflicts.open_cases(draw, at=LATER)
        with CaptureQueriesContext(connection) as captured:
            client.get(pages(draw)["cell"])
        return len(captured)

    assert queries(1) == queries(3)


def test_sets_of_labels_with_an_expert_have_a_page_and_a_report(client_of, version, lead, anna, ben) -> None:
    factories.question(version, "topics", ("list", "map"), text="What is it about?", task_type="multilabel")
    said = [{anna: {"topics": ["list"]}, ben: {"topics": ["list", "map"]}}, {anna: {"topics": []}, ben: {"topics": []}}]
    draw = rows.draw(version, said, by=lead, closing="complete", expert=str(ben.uuid))
    runs.compute(draw, at=LATER)
    client = client_of(lead)

    report = reverse("agreement:report", args=[lead.project.uuid])
    shown = [client.get(url) for url in (address("draw", draw, "topics"), f"{report}?tables=yes")]

    parts = [text(response).split("Kappa of each label with the expert")[1] for response in shown]
    assert [('<th scope="row">list</th>' in part, '<th scope="row">map</th>' in part) for part in parts] == [
        (True, True),
        (True, True),
    ]


# -- waiving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("who", "status"), [("admin", 302), ("lead", 302), ("anna", 403), ("outsider", 404)])
def test_waive_access(request, client_of, closed, who, status) -> None:
    client: Client = client_of(request.getfixturevalue(who))

    response = client.post(address("waive", closed), {"reason": "Only a pilot."})

    waived = gates.newest(closed).outcome == GateOutcome.WAIVED
    assert (response.status_code, waived) == (status, status == 302)


def test_waive_without_a_reason_changes_nothing(client_of, closed, lead) -> None:
    response = client_of(lead).post(address("waive", closed), {"reason": " "})

    assert (response.status_code, gates.newest(closed).outcome) == (422, GateOutcome.HOLD)


def test_waived_gate_names_who_and_why(client_of, closed, lead) -> None:
    client = client_of(lead)
    client.post(address("waive", closed), {"reason": "Only a pilot."})

    page = text(client.get(pages(closed)["draw"]))

    assert ("Gate of the draw: waived" in page, "Waived by lea: Only a pilot." in page) == (True, True)


# -- gates on the page ------------------------------------------------------------------------------------------------


@pytest.fixture
def two_questions(version: GuidelineVersion, lead: Membership, anna: Membership, ben: Membership) -> Draw:
    """A draw that asks two questions; only the first has a threshold, which it misses."""
    factories.question(version, "tone", ("calm", "angry"), text="How does it sound?")
    said = [{anna: {"intent": a, "tone": "calm"}, ben: {"intent": b, "tone": "angry"}} for a, b in SAID]
    draw = rows.draw(version, said, by=lead, closing="complete", rules={"intent": {"threshold": 0.7}})
    runs.compute(draw, at=LATER)
    return draw


def test_gate_is_told_once_for_its_draw_and_by_the_text_of_the_question(client_of, two_questions, lead) -> None:
    page = text(client_of(lead).get(pages(two_questions)["agreement"])).split("<main")[1]
    gates_section = page.split('id="gates"')[1]

    assert page.count("guideline 1.0: hold.") == 1
    assert "“What is the intent?”: the lower bound of Cohen&#x27;s kappa is" in gates_section
    assert "intent: " not in page


def test_question_without_a_threshold_says_so_and_leads_to_the_gate(client_of, two_questions, lead) -> None:
    page = text(client_of(lead).get(address("draw", two_questions, "tone")))

    assert ("Gate of the draw: hold" in page, "No threshold is set for this question." in page) == (True, True)
    assert f'{reverse("agreement:agreement", args=[lead.project.uuid])}#gates"' in page
    assert "What is the intent?" not in page


def test_gate_that_holds_says_the_two_ways_out(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(pages(closed)["draw"]))

    assert "Two ways out: a new guideline and a fresh wave, or more ratings per item in the next wave." in page
    assert reverse("annotations:wave-open", args=[lead.project.uuid]) in page


def test_gate_remembers_what_it_said_before_it_was_waived(client_of, closed, lead) -> None:
    client = client_of(lead)
    client.post(address("waive", closed), {"reason": "Only a pilot."})

    page = text(client.get(pages(closed)["agreement"]))

    assert "guideline 1.0: waived.</b> Waived by lea: Only a pilot." in page
    assert (": hold. “What is the intent?”" in page, ": waived, lea. Only a pilot." in page) == (True, True)


def test_one_draw_needs_no_picture_of_its_own(client_of, closed, lead) -> None:
    page = text(client_of(lead).get(pages(closed)["agreement"]))

    assert ("chart-point" in page, ">.51</td>" in page) == (False, True)
