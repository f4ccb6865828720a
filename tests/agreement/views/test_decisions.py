"""What the decisions of a wave say, every number of it against a computation of its own."""

import re
from collections import Counter

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agreement import decisions, runs
from annotations import adjudication, conflicts
from annotations.models import Annotation, Case, Draw
from projects.models import Membership
from tests import factories
from tests.agreement import rows
from tests.agreement.views.test_draws import LATER, text

pytestmark = pytest.mark.django_db

STATUS = {"lead": 200, "admin": 403, "anna": 403, "outsider": 404, "anonymous": 302}
SAID = (
    [("praise", "praise")] * 9
    + [("complaint", "complaint")] * 8
    + [("question", "question")] * 5
    + [("praise", "complaint")] * 6
    + [("complaint", "praise")] * 2
    + [("complaint", "question")] * 3
)
SILENT, SLIP = "guideline_silent", "slip"


def decide(draw: Draw, pair: str, decided, by: Membership) -> None:
    cases = Case.objects.open().filter(draw=draw, pair_key=pair).order_by("pk")
    for case, (value, cause) in zip(cases, decided, strict=False):
        adjudication.resolve(case, value=value, rationale="why", cause=cause, by=by, at=LATER)


@pytest.fixture
def draw(version, lead, anna, ben) -> Draw:
    made = rows.draw(version, [{anna: a, ben: b} for a, b in SAID], by=lead, closing="complete")
    conflicts.open_cases(made, at=LATER)
    runs.compute(made, at=LATER)
    return made


@pytest.fixture
def decided(draw, lead) -> Draw:
    """Of praise and complaint three are decided for the one and one for the other; of complaint and question one."""
    said = [("complaint", SILENT), ("complaint", SLIP), ("complaint", SILENT), ("praise", SLIP)]
    decide(draw, "complaint|praise", said, lead)
    decide(draw, "complaint|question", [("question", SLIP)], lead)
    return draw


@pytest.fixture
def address(project) -> str:
    return reverse("agreement:decisions", args=[project.uuid])


# -- who may ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", STATUS)
def test_only_leads_see_it(request, client, client_of, address, draw, who):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))

    assert visitor.get(address).status_code == STATUS[who]


def test_a_neighbour_sees_nothing_of_it(client_of, decided, address):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = client_of(factories.member(neighbour, "nora", "lead"))
    own = reverse("agreement:decisions", args=[neighbour.uuid])

    assert "0 conflicts are decided by people" in text(nora.get(own))
    assert nora.get(address).status_code == 404
    assert nora.get(f"{own}?draw={decided.uuid}").status_code == 404


@pytest.mark.parametrize("name", ["x", "00000000-0000-0000-0000-000000000000"])
def test_a_draw_that_is_not_there_is_not_found(client_of, lead, decided, address, name):
    assert client_of(lead).get(f"{address}?draw={name}").status_code == 404


# -- which rule to write first -----------------------------------------------------------------------------------------


def kappa(said) -> float:
    """Cohen's kappa of weighted pairs, by its definition."""
    n = sum(weight for *_labels, weight in said)
    observed = sum(weight for one, other, weight in said if one == other) / n
    first, second = Counter(), Counter()
    for one, other, weight in said:
        first[one] += weight
        second[other] += weight
    return (observed - (pe := sum(first[key] * second[key] for key in first) / n**2)) / (1 - pe)


def settled(one: str, other: str, share: float) -> float:
    found = []
    for a, b in SAID:
        found += [(one, one, share), (other, other, 1 - share)] if {a, b} == {one, other} else [(a, b, 1)]
    return kappa([row for row in found if row[2]])


def test_the_rule_that_wins_most_comes_first_with_what_it_wins(decided, lead):
    section = decisions.of(lead, [decided], decided, at=LATER).sections[0]

    before = kappa([(a, b, 1) for a, b in SAID])
    # Three of four decisions on the first pair were for complaint; the one on the other was for question.
    after = {"praise": settled("complaint", "praise", 3 / 4), "question": settled("complaint", "question", 0)}
    assert section.before == f"{before:.3f}".removeprefix("0")
    assert [(rule.names, rule.items, rule.decided, rule.lacking) for rule in section.rules] == [
        (["complaint", "praise"], 8, 4, 2),
        (["complaint", "question"], 3, 1, 0),
    ]
    for rule, value in zip(section.rules, after.values(), strict=True):
        assert rule.after == f"{value:.3f}".removeprefix("0")
        assert rule.gained == f"+{value - before:.3f}".replace("+0.", "+.")


def test_the_page_says_it_in_a_sentence_and_links_to_the_cases(client_of, lead, decided, address):
    page = text(client_of(lead).get(address))

    assert re.search(r"settles <b><bdi>complaint / praise</bdi></b>, Cohen\S+s kappa would be \.\d{3} instead of", page)
    assert f"?question=intent&amp;pair=complaint%7Cpraise&amp;draw={decided.uuid}" in page


def test_a_question_of_parts_says_why_no_rule_is_offered(version, lead, anna, ben, client_of, address):
    factories.question(version, "parts", ("fault",), task_type="spans")
    mark = [{"field": "text", "start": 0, "end": 4, "label": "fault"}]
    said = [{anna: {"parts": mark}, ben: {"parts": []}}] * 3
    made = rows.draw(version, said, by=lead, closing="complete")
    conflicts.open_cases(made, at=LATER)
    runs.compute(made, at=LATER)

    assert "computed where an answer is one label" in text(client_of(lead).get(address))


# -- annotators -------------------------------------------------------------------------------------------------------


def test_annotators_beside_the_decisions_and_the_pairwise_figure(client_of, lead, decided, address):
    decide(decided, "complaint|praise", [("complaint", SLIP)] * 9, lead)
    decide(decided, "complaint|question", [("question", SLIP)] * 9, lead)

    section = decisions.of(lead, [decided], decided, at=LATER).sections[0]

    by_hand = Counter()
    for case in Case.objects.decided():
        value = case.resolutions.get(standing=True).value
        for row in Annotation.objects.filter(item=case.item):
            by_hand[row.member.name] += row.answers["intent"] == value
    figure = f"{kappa([(a, b, 1) for a, b in SAID]):.2f}".removeprefix("0")
    assert [(one.beside.name, one.beside.n, one.beside.same, one.pairs) for one in section.persons] == [
        ("anna", 11, by_hand["anna"], f"{figure} with ben (33 items)"),
        ("ben", 11, by_hand["ben"], f"{figure} with anna (33 items)"),
    ]
    page = text(client_of(lead).get(address))
    assert ("no measure of how well anybody labels" in page, "All overlap items: Cohen" in page) == (True, True)


def test_who_has_no_decided_item_is_named_in_the_pairs_of_others_too(version, lead, anna, ben, client_of, address):
    carl = factories.member(version.project, "carl")
    said = [{anna: "praise", ben: "complaint"}] * 6
    said += [{anna: "praise", carl: "praise"}] * 12 + [{anna: "complaint", carl: "complaint"}] * 10
    made = rows.draw(version, said, by=lead, closing="complete")
    conflicts.open_cases(made, at=LATER)
    runs.compute(made, at=LATER)

    def pairs() -> list[tuple[str, bool]]:
        section = decisions.of(lead, [made], made, at=LATER).sections[0]
        return [(one.beside.name, one.pairs.endswith(" with carl (22 items)")) for one in section.persons]

    decide(made, "complaint|praise", [("praise", SLIP)] * 5, lead)
    assert pairs() == [("anna", False), ("ben", False)]
    decide(made, "complaint|praise", [("praise", SLIP)], lead)
    assert pairs() == [("anna", True), ("ben", False)]
    assert str(carl.uuid) not in text(client_of(lead).get(address))


def test_while_a_case_is_open_nobody_s_agreement_with_others_is_named(client_of, lead, decided, address):
    section = decisions.of(lead, [decided], decided, at=LATER).sections[0]

    assert (section.named, [one.pairs for one in section.persons]) == (False, ["", ""])
    assert "once all conflicts of this question in this wave are decided" in text(client_of(lead).get(address))


def test_an_item_with_another_question_undecided_is_not_counted_for_anybody(version, lead, anna, ben):
    factories.question(version, "tone", ("calm", "angry"))
    said = [{anna: {"intent": "praise", "tone": "calm"}, ben: {"intent": "complaint", "tone": "angry"}}] * 6
    made = rows.draw(version, said, by=lead, closing="complete")
    conflicts.open_cases(made, at=LATER)
    runs.compute(made, at=LATER)
    for case in Case.objects.filter(question_key="intent"):
        adjudication.resolve(case, value="praise", rationale="why", cause=SLIP, by=lead, at=LATER)

    def counted() -> list[tuple[str, int]]:
        section = decisions.of(lead, [made], made, at=LATER).sections[0]
        return [(one.beside.name, one.beside.n) for one in section.persons]

    assert counted() == []
    for case in Case.objects.filter(question_key="tone"):
        adjudication.resolve(case, value="calm", rationale="why", cause=SLIP, by=lead, at=LATER)
    assert counted() == [("anna", 6), ("ben", 6)]


# -- waves ------------------------------------------------------------------------------------------------------------


def test_the_newest_wave_with_a_decision_is_shown_and_the_others_are_links(
    client_of, lead, anna, ben, decided, address
):
    second = rows.draw(decided.wave.version, [{anna: "praise", ben: "question"}] * 2, by=lead, closing="complete")
    conflicts.open_cases(second, at=LATER)
    runs.compute(second, at=LATER)
    leading = client_of(lead)

    first = text(leading.get(address))
    assert (f"?draw={second.uuid}" in first, "5 conflicts are decided by people" in first) == (True, True)
    assert "0 conflicts are decided by people" in text(leading.get(f"{address}?draw={second.uuid}"))
    every = text(leading.get(f"{address}?draw=all"))
    assert ("5 conflicts are decided by people" in every, "Which rule to write first" in every) == (True, False)


def test_it_costs_the_same_however_much_is_decided(client_of, lead, decided, address):
    leading = client_of(lead)

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            assert leading.get(address).status_code == 200
        return len(found)

    queries()
    few = queries()
    decide(decided, "complaint|praise", [("complaint", SLIP)] * 9, lead)

    assert queries() == few
