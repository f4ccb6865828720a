"""Pages and API around the rule of a protocol: what waits for a third rating, what was decided by nobody."""

import random
import re
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import adjudication, cycles, panels, releasing, serving
from annotations.models import Assignment, Case, Resolution
from annotations.panels import Declared
from tests import factories
from tests.annotations.disputes import case_of
from tests.annotations.test_blindness import seen
from tests.annotations.thirds import LATER, closed, give, settle
from tests.annotations.views.test_adjudication import STATUS, address, deed, text
from tests.annotations.views.test_cycle import STATEMENTS
from tests.api import Api

pytestmark = pytest.mark.django_db

TORN = {f"torn {i}": ("praise", "complaint") for i in range(3)}
DECISION = {"value": "praise", "rationale": "It praises.", "cause": "slip"}


@pytest.fixture
def ann(version):
    return factories.member(version.project, "ann")


@pytest.fixture
def bob(version):
    return factories.member(version.project, "bob")


@pytest.fixture
def cara(version):
    return factories.member(version.project, "cara")


@pytest.fixture
def draw(project, lead, ann, bob, cara):
    return closed("third_majority", project, [ann, bob], TORN)[0]


@pytest.fixture
def case(draw) -> Case:
    return case_of("torn 0")


@pytest.fixture
def leading(client_of, lead):
    return client_of(lead)


@pytest.fixture
def version(project):
    """As published ones are: with its digest, by which it is kept in memory."""
    return factories.version(project, digest="e" * 64)


def words(response) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", text(response)).split())


# -- who may -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", [who for who in STATUS if who != "lead"])
def test_only_leads_take_back(request, client, client_of, draw, case, who):
    visitor = client if who == "anonymous" else client_of(request.getfixturevalue(who))
    wave = reverse("annotations:wave-take-back", args=[draw.wave.project.uuid, draw.wave.uuid])

    assert visitor.post(deed("take-back", case)).status_code == STATUS[who]
    assert visitor.post(wave).status_code == STATUS[who]
    assert Case.objects.waiting().count() == 3


def test_nothing_is_taken_back_by_looking(leading, draw, case):
    wave = reverse("annotations:wave-take-back", args=[draw.wave.project.uuid, draw.wave.uuid])

    assert (leading.get(deed("take-back", case)).status_code, leading.get(wave).status_code) == (405, 405)


def test_a_neighbour_takes_nothing_back(client_of, draw, case):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    nora = client_of(factories.member(neighbour, "nora", "lead"))

    assert nora.post(address("adjudication-take-back", neighbour, case.uuid)).status_code == 404
    assert nora.post(reverse("annotations:wave-take-back", args=[neighbour.uuid, draw.wave.uuid])).status_code == 404
    assert "torn" not in text(nora.get(address("adjudication", neighbour) + "?state=waiting"))
    assert Case.objects.waiting().count() == 3


# -- the queue ---------------------------------------------------------------------------------------------------------


def test_what_waits_is_counted_beside_the_queue_and_is_no_work_for_the_lead(leading, project, draw):
    queue = leading.get(address("adjudication", project))
    waiting = leading.get(address("adjudication", project) + "?state=waiting")

    assert "Open 0 Waiting for a third rating 3 Decided 0" in words(queue)
    assert "No conflict is open." in words(queue)
    assert waiting.context["queue"].total == len(waiting.context["queue"].rows) == 3
    assert "There is nothing to do here." in words(waiting)
    assert "Start with the first" not in words(waiting)


def test_without_a_rule_the_queue_knows_no_waiting(leading, project, lead, ann, bob):
    closed("lead", project, [ann, bob], TORN)

    assert "Open 3 Decided 0" in words(leading.get(address("adjudication", project)))


def test_the_list_of_what_waits_takes_as_many_queries_with_one_as_with_three(leading, project, draw):
    def count() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert leading.get(address("adjudication", project) + "?state=waiting").status_code == 200
        return len(queries)

    count()
    three = count()
    Case.objects.exclude(item__external_id="torn 0").update(state="open")

    assert (count(), three) == (10, 10)


# -- a case ------------------------------------------------------------------------------------------------------------


def test_a_case_that_waits_says_so_names_nobody_and_offers_to_be_taken_back(leading, case):
    page = leading.get(deed("case", case))

    said = words(page)
    assert "Waiting for a third rating" in said
    assert "by the rule of the protocol: a third rating, then the majority." in said
    assert [name for name in ("ann", "bob", "cara") if re.search(rf"\b{name}\b", said)] == []
    assert ("Your decision" in said, "Take it back and decide it now" in said) == (False, True)


def test_a_case_that_was_taken_back_is_decided_by_the_lead(leading, lead, case):
    answer = leading.post(deed("take-back", case), follow=True)

    assert "The third rating is not waited for any more: decide the case." in words(answer)
    assert "lea took it back before the third rating had decided it." in words(answer)
    assert leading.post(deed("resolve", case), DECISION).status_code == 302
    assert (Resolution.objects.get().by, Case.objects.waiting().count()) == (lead, 2)


def test_deciding_a_case_that_waits_is_refused_with_the_way_out(leading, case):
    answer = leading.post(deed("resolve", case), DECISION)

    assert answer.status_code == 409
    assert "This case waits for a third rating: take it back on its page, then decide it." in words(answer)


def test_a_decision_by_rule_shows_its_arithmetic_and_names_nobody(leading, case, cara, lead):
    at = case.opened_at
    for _turn in range(3):
        give(cara, "praise", at=at)
    settle(at + LATER)

    said = words(leading.get(deed("case", case)))

    assert "Decided: praise" in said
    assert (
        "2 of 3 said “praise”, 1 “complaint”. One of them is a third rating, asked for after the measurement." in said
    )
    assert "by the rule of the protocol, not by a person: a third rating, then the majority." in said


def test_a_decision_by_rule_is_reopened_and_both_stay_on_record(leading, case, cara, lead):
    for _turn in range(3):
        give(cara, "praise", at=case.opened_at)
    settle(case.opened_at + LATER)

    leading.post(deed("reopen", case), {"reason": "The rule is wrong here."})
    leading.post(deed("resolve", case), DECISION | {"value": "complaint"})

    said = words(leading.get(deed("case", case)))
    assert "Decided: complaint" in said
    assert "Earlier decisions praise : 2 of 3 said “praise”" in said
    assert "by lea: The rule is wrong here." in said


# -- the wave, the home, the report ------------------------------------------------------------------------------------


def test_the_wave_says_what_became_of_its_conflicts(leading, project, draw, cara):
    page = reverse("annotations:wave", args=[project.uuid, draw.wave.uuid])
    give(cara, "praise", at=draw.closed_at)
    settle(draw.closed_at + LATER)

    said = words(leading.get(page))

    assert "Conflicts decided by a third rating, then the majority; else a lead" in said
    assert "3 conflicts, 1 of them decided by rule. Waiting for a third rating: 2." in said
    leading.post(reverse("annotations:wave-take-back", args=[project.uuid, draw.wave.uuid]))
    said = words(leading.get(page))
    assert "Left to a lead after all: 2: a lead took it back before it was decided" in said
    assert "Wait for no third rating" not in said


def test_a_lead_who_rated_all_that_waits_reads_that_somebody_else_takes_it_back(client_of, project, draw, ann):
    ann.is_lead = True
    ann.save()

    page = client_of(ann).post(reverse("annotations:wave-take-back", args=[project.uuid, draw.wave.uuid]), follow=True)

    assert "All that still waits is of items that you rated yourself: somebody else takes it back." in words(page)
    assert Case.objects.waiting().count() == 3


def test_the_home_counts_what_waits_apart_from_what_is_open(leading, project, draw):
    said = words(leading.get(reverse("agreement:home", args=[project.uuid])))

    assert "0 open 3 waiting for a third rating 0 decided" in said
    assert "3 conflicts wait for third ratings" in said


def test_decisions_by_rule_are_in_no_table_of_the_report(leading, project, lead, ann, bob, cara):
    three = {"two": ("praise", "complaint", "praise"), "none": ("praise", "complaint", "question")}
    _draw, at = closed("majority", project, [ann, bob, cara], three)
    adjudication.resolve(case_of("none"), **DECISION, by=lead, at=at)

    report = leading.get(reverse("agreement:decisions", args=[project.uuid]))

    found = report.context["decisions"].report
    assert (found.decided, found.ruled, [(one.name, one.n) for one in found.raters]) == (
        1,
        1,
        [("ann", 1), ("bob", 1), ("cara", 1)],
    )
    assert "1 more is decided by the rule of its protocol. It is left out of causes and annotators" in words(report)


def test_a_rater_reads_the_rule_and_the_count(client_of, project, lead, ann, bob, cara):
    closed("majority", project, [ann, bob, cara], {"two": ("praise", "complaint", "praise")})

    said = words(client_of(bob).get(reverse("annotations:my-final-labels", args=[project.uuid])))

    assert (
        "You: complaint · Final: praise majority 2 of 3 said “praise”, 1 “complaint”. Nobody decided this one" in said
    )


def test_the_history_of_an_item_says_the_rule(leading, project, draw, cara):
    give(cara, "praise", at=draw.closed_at)
    settle(draw.closed_at + LATER)
    item = Case.objects.decided().get().item

    said = words(leading.get(reverse("annotations:item-history", args=[project.uuid, item.uuid])))

    assert "by the rule of the protocol: a third rating, then the majority" in said
    assert "Third ratings of wave 1, guideline 1.0" in said


def test_the_agreement_pages_show_a_case_that_waits(leading, project, draw):
    cell = reverse("agreement:cell", args=[project.uuid, draw.uuid, "intent", "complaint", "praise"])

    assert words(leading.get(cell)).count("waiting for a third rating") == 3


# -- the page of the third rater ---------------------------------------------------------------------------------------


class Dice(random.Random):
    """Falls always the same: 0 for an item of a sample, else one of the other work."""

    def __init__(self, always: float) -> None:
        super().__init__(1)
        self.always = always

    def random(self) -> float:
        return self.always


def test_the_page_of_a_third_rating_is_the_same_bytes_but_for_the_item(client_of, project, lead, ann, bob, cara):
    dora = factories.member(project, "dora")
    closed("third_majority", project, [ann, bob], TORN)
    factories.items(project, 10, prefix="fresh1")  # as long as the others are
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=20)
    held = {}
    for member, dice in ((cara, Dice(0.0)), (dora, Dice(0.99))):
        task = serving.next_task(member, at=timezone.now(), rng=dice)
        held[member] = Assignment.objects.select_related("slot", "item").get(uuid=task.assignment)

    pages = []
    for member, assignment in held.items():
        page = client_of(member).get(reverse("annotations:label", args=[project.uuid]))
        page.content = page.content.replace(assignment.item.content["text"].encode(), b"ITEM")
        page.content = page.content.replace(member.alias.encode(), b"NAME")
        page.content = page.content.replace(f'data-user="{member.user_id}"'.encode(), b"USER")
        pages.append(seen(page))

    assert [assignment.slot.kind for assignment in held.values()] == ["tiebreak", "single"]
    assert pages[0] == pages[1]


class First(random.Random):
    """Dice by which the item of a sample comes before all others."""

    def random(self) -> float:
        return 0.0


class Last(random.Random):
    """Dice by which it comes after them."""

    def random(self) -> float:
        return 0.999


def test_a_third_rating_comes_again_as_it_came_where_waves_are_given(
    client_of, monkeypatch, project, lead, ann, bob, cara
):
    closed("third_majority", project, [ann, bob], TORN)
    factories.items(project, 120, prefix="fresh")
    others = [factories.member(project, name) for name in ("dora", "emil")]
    declared = [Declared(others, 1), Declared([bob, cara], 5)]
    panels.open_waves(project, declared, by=lead, at=timezone.now(), share_percent=Decimal(0), size=None)
    monkeypatch.setattr(random, "SystemRandom", First)
    client, page = client_of(cara), reverse("annotations:label", args=[project.uuid])

    came, again = client.get(page), client.get(page)

    assert Assignment.objects.get(member=cara, state="open").slot.kind == "tiebreak"
    assert "about 100 left for you" in came.content.decode()
    assert seen(came) == seen(again)


@pytest.mark.parametrize(("dice", "kind"), [(First(1), "tiebreak"), (Last(1), "single")])
def test_the_first_item_of_a_newcomer_comes_again_as_it_came(project, lead, ann, bob, cara, dice, kind):
    closed("third_majority", project, [ann, bob], TORN)
    factories.items(project, 80, prefix="fresh")
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=0)
    serving.next_task(bob, at=timezone.now())

    came, again = (serving.next_task(cara, at=timezone.now(), rng=dice) for _time in range(2))

    assert Assignment.objects.get(member=cara, state="open").slot.kind == kind
    assert (came.about_left, again.about_left) == (40, 40)


def test_a_third_rating_that_comes_with_a_saved_label_counts_it(monkeypatch, project, lead, ann, bob, cara):
    closed("third_majority", project, [ann, bob], TORN)
    factories.items(project, 66, prefix="fresh")
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=0)
    held = serving.next_task(cara, at=timezone.now(), rng=Last(1))
    monkeypatch.setattr(random, "SystemRandom", First)

    _saved, came = cycles.submit_and_next(cara, held.assignment, answers={"intent": "praise"}, at=timezone.now())
    again = serving.next_task(cara, at=timezone.now())

    assert Assignment.objects.get(member=cara, state="open").slot.kind == "tiebreak"
    assert (held.about_left, came.about_left, again.about_left) == (70, 60, 60)


def test_saving_a_third_rating_takes_the_statements_of_a_single(client_of, project, lead, ann, bob, cara):
    closed("third_majority", project, [ann, bob], {f"torn {i}": ("praise", "complaint") for i in range(12)})
    factories.items(project, 60, prefix="fresh")
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=0)
    client, counted = client_of(cara), {}
    serving.next_task(cara, at=timezone.now())
    for _turn in range(24):
        before = Assignment.objects.select_related("slot").get(member=cara, state="open")
        url = reverse("annotations:label-submit", args=[project.uuid, before.uuid])
        with CaptureQueriesContext(connection) as queries:
            client.post(url, {"answer-intent": "praise"}, headers={"HX-Request": "true"})
        after = Assignment.objects.select_related("slot").get(member=cara, state="open")
        counted.setdefault((before.slot.kind, after.slot.kind), []).append(len(queries))

    assert {"single", "tiebreak"} == {kind for both in counted for kind in both}
    assert min(counted["single", "single"]) == STATEMENTS
    # Sitting down in a wave, once for each person, is all that is ever more.
    assert {min(numbers) for numbers in counted.values()} <= {STATEMENTS, STATEMENTS + 1}


# -- the API -----------------------------------------------------------------------------------------------------------


def test_api_lists_what_waits_and_takes_it_back(lead, draw, case):
    api = Api(lead)
    assert len(api.get("conflicts", state="waiting")["results"]) == 3
    assert api.get("conflict", case.uuid)["state"] == "waiting"

    api.post("take-back", case.uuid, status=204)

    assert api.get("conflict", case.uuid)["state"] == "open"
    assert len(api.get("conflicts")["results"]) == 1


def test_api_says_the_rule_and_its_count(lead, project, ann, bob, cara):
    closed("majority", project, [ann, bob, cara], {"two": ("praise", "complaint", "praise")})

    (made,) = Api(lead).get("conflict", case_of("two").uuid)["resolutions"]

    assert (made["kind"], made["rule"], made["by"], made["cause"], made["tally"]) == (
        "majority",
        "majority",
        "",
        "",
        [["praise", 2], ["complaint", 1]],
    )
