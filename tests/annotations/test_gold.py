"""One final label for every item and question, and how it came about."""

from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotations import adjudication, draws, gold, labelling, publishing, releasing
from annotations.enums import Closing
from annotations.models import Annotation, Assignment, Slot
from projects import guidelines, label_plans, labels
from projects.models import Item, Label
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team, says

pytestmark = pytest.mark.django_db

AT = factories.NOW


def told(project) -> dict[str, tuple[str, object]]:
    """Item -> (status, value), for a project with one question."""
    return {one.item.external_id: (one.status.value, one.value) for one in gold.of_project(project)}


def test_each_way_to_a_final_label(project, lead, anna, ben):
    said = dict.fromkeys(("agreed", "superseded"), ("praise", "praise"))
    said |= dict.fromkeys(("open", "decided", "reopened"), ("praise", "complaint"))
    draw = disputes.rated(project, [anna, ben], said)
    factories.items(project, 1, prefix="unlabelled")
    for name in ("decided", "reopened"):
        adjudication.resolve(
            disputes.case_of(name), value="question", rationale="why", cause="slip", by=lead, at=draw.closed_at
        )
    adjudication.reopen(disputes.case_of("reopened"), reason="no", by=lead, at=draw.closed_at)
    Item.objects.filter(external_id="superseded").update(standing="superseded")

    assert told(project) == {
        "agreed": ("agreed", "praise"),
        "superseded": ("superseded", None),
        "open": ("open", None),
        "decided": ("adjudicated", "question"),
        "reopened": ("open", None),
        "unlabelled-0": ("unlabelled", None),
    }


def test_a_single_is_its_newest_revision(project, lead, anna):
    factories.items(project, 1, prefix="one")
    releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=0)
    team = Team([anna])
    team.finish()

    labelling.correct(anna, Annotation.objects.get().uuid, answers={"intent": "praise"}, at=team.at)

    assert told(project) == {"one-0": ("single", "praise")}


def test_an_overlap_item_is_its_measured_rating(project, lead, anna, ben):
    draw = disputes.rated(project, [anna, ben], {"agreed": ("praise", "praise")})

    labelling.correct(anna, Annotation.objects.get(member=anna).uuid, answers={"intent": "question"}, at=draw.closed_at)

    assert told(project) == {"agreed": ("agreed", "praise")}


def test_within_the_tolerance_it_is_the_lower_median(db):
    project = factories.project("Scale")
    version = factories.version(project, questions=False)
    factories.question(version, "grade", ("a", "b", "c", "d", "e"), task_type="ordinal")
    people = [factories.member(project, name) for name in ("anna", "ben", "cora", "dan")]
    project.protocol["questions"] = {"grade": {"conflict_gap": 0.25}}
    project.save()

    disputes.rated(project, people, {"near": ("d", "c", "d", "c"), "same": ("e",) * 4}, key="grade")

    assert told(project) == {"near": ("within_tolerance", "c"), "same": ("agreed", "e")}


def test_what_is_not_complete_is_partial(project, lead, anna, ben):
    draw = disputes.rated(project, [anna], {"half": ("praise",)}, close=False)
    while_open = told(project)

    draws.close(draw, closing=Closing.EARLY, reason="enough", by=lead, at=factories.NOW)

    assert while_open == told(project) == {"half": ("partial", "praise")}


def test_ratings_that_differ_in_an_open_draw_have_no_value_yet(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"differ": ("praise", "complaint")}, close=False)

    assert told(project) == {"differ": ("partial", None)}


def test_a_spot_check_that_differs_corrects_a_single(project, lead, anna, ben):
    factories.items(project, 2, prefix="one")
    releasing.open_wave(project, by=lead, at=factories.NOW, share_percent=0)
    Team([anna]).finish()
    for row, value in zip(Annotation.objects.order_by("item"), ("praise", "complaint"), strict=True):
        slot = Slot.objects.create(
            wave=row.slot.wave, wave_item=row.wave_item, item=row.item, kind="spotcheck", number=9, queue=0, key=0
        )
        row.pk, row.slot, row.seq, row.latest, row.uuid = None, slot, row.seq + 100, {"intent": value}, uuid4()
        row.assignment = assignment_of(slot, ben, row)
        row.member = ben
        row.save()

    assert told(project) == {"one-0": ("corrected", "praise"), "one-1": ("single", "complaint")}


def assignment_of(slot, member, row):
    return Assignment.objects.create(
        slot=slot,
        wave_item=slot.wave_item,
        item=slot.item,
        member=member,
        major=row.major,
        version=row.version,
        state="submitted",
        served_at=row.submitted_at,
    )


def test_every_question_has_a_row_of_its_own(version, lead, anna, ben):
    factories.question(version, "tone", ("warm", "cold"), required=False)
    said = {"item": ({"intent": "praise", "tone": "warm"}, {"intent": "praise"})}
    disputes.rated(version.project, [anna, ben], said)

    rows = [(one.question_key, one.status.value, one.value, one.ratings) for one in gold.of_project(version.project)]

    assert rows == [("intent", "agreed", "praise", 2), ("tone", "partial", "warm", 1)]


def test_a_retired_label_is_outdated(project, version, lead, anna, ben):
    draw = disputes.rated(project, [anna, ben], {"old": ("question", "question"), "kept": ("praise", "praise")})
    draft = guidelines.draft_of(project, by=lead)
    labels.remove_label(Label.objects.get(question__version=draft, key="question"), by=lead)
    publishing.publish(draft, change="material", reason="Nobody used it.", by=lead, at=draw.closed_at)

    rows = {one.item.external_id: (one.value, one.label, one.version, one.outdated) for one in gold.of_project(project)}

    assert rows == {"old": ("question", "question", "1.0", True), "kept": ("praise", "praise", "1.0", False)}


def test_a_row_says_where_it_comes_from(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"agreed": ("praise", "praise")})

    (row,) = (one.row() for one in gold.of_project(project))

    item = Item.objects.get()
    assert row == {
        "item": str(item.uuid),
        "item_id": "agreed",
        "question": "intent",
        "value": "praise",
        "label": "praise",
        "status": "agreed",
        "version": "1.0",
        "wave": 1,
        "ratings": 2,
        "outdated": False,
        "mapped_from": None,
        "current": "praise",
        "imported": False,
        "superseded_by": None,
        "decided_by": None,
        "rule": None,
        "cause": None,
        "rationale": None,
        "content": item.content,
    }
    assert tuple(row) == gold.FIELDS


def test_a_decided_row_says_by_whom_and_why(project, lead, anna, ben):
    draw = disputes.rated(project, [anna, ben], {"decided": ("praise", "complaint")})
    case = disputes.case_of("decided")
    adjudication.resolve(
        case, value="question", rationale="It wants to know.", cause="slip", by=lead, at=draw.closed_at
    )

    (row,) = (one.row() for one in gold.of_project(project))

    assert [row[name] for name in ("decided_by", "cause", "rationale")] == [lead.name, "slip", "It wants to know."]


def test_a_neighbour_has_no_rows(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"agreed": ("praise", "praise")})
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)

    assert list(gold.of_project(neighbour)) == []


def test_the_number_of_queries_depends_on_chunks_alone(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"a": ("praise", "complaint")})

    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            list(gold.of_project(project))
        return len(found)

    one = queries()
    disputes.rated(project, [anna, ben], dict.fromkeys("bcdefg", ("praise", "complaint")))

    assert queries() == one


def test_a_single_follows_the_mapping_and_says_what_was_given(project, version, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"agreed": ("question", "question")})
    factories.items(project, 1, prefix="single")
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    Team([anna], says("question")).work()
    draws.close_wave(wave, by=lead, at=AT, reason="done")
    draft = guidelines.draft_of(project, by=lead)
    label_plans.merge(Label.objects.get(question__version=draft, key="question"), into="praise", by=lead)
    publishing.publish(draft, change="material", reason="One kind.", by=lead, at=AT)

    rows = {row["item_id"]: row for row in (one.row() for one in gold.of_project(project))}

    wanted = ("status", "value", "label", "version", "mapped_from", "current", "outdated")
    assert [rows["single-0"][name] for name in wanted] == [
        "mapped",
        "praise",
        "praise",
        "2.0",
        "question",
        "praise",
        False,
    ]
    assert [rows["agreed"][name] for name in wanted] == ["agreed", "question", "question", "1.0", None, "praise", True]


def test_a_retired_label_without_a_mapping_is_kept_and_is_nothing_now(project, version, lead, anna):
    factories.items(project, 1, prefix="single")
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    Team([anna], says("question")).work()
    draws.close_wave(wave, by=lead, at=AT, reason="done")
    draft = guidelines.draft_of(project, by=lead)
    label_plans.retire(Label.objects.get(question__version=draft, key="question"), becomes="", by=lead)
    publishing.publish(draft, change="material", reason="Gone.", by=lead, at=AT)

    (row,) = (one.row() for one in gold.of_project(project))

    assert (row["status"], row["value"], row["outdated"], row["current"]) == ("single", "question", True, None)


def test_a_set_and_spans_follow_the_mapping(project, version, lead, anna):
    for key, kind in (("about", "multilabel"), ("where", "spans")):
        factories.question(version, key, ("bug", "price", "crash"), task_type=kind)
    span = {"field": "text", "start": 0, "end": 4}
    said = {"intent": "praise", "about": ["price", "crash"], "where": [span | {"label": "crash"}]}
    factories.items(project, 1, prefix="single")
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    Team([anna], lambda member, assignment: said).work()
    draws.close_wave(wave, by=lead, at=AT, reason="done")
    draft = guidelines.draft_of(project, by=lead)
    for key in ("about", "where"):
        row = Label.objects.get(question__version=draft, question__key=key, key="crash")
        label_plans.merge(row, into="bug", by=lead)
    publishing.publish(draft, change="material", reason="One kind.", by=lead, at=AT)

    rows = {one.question_key: (one.status.value, one.value, one.outdated) for one in gold.of_project(project)}

    assert rows["about"] == ("mapped", ["bug", "price"], False)
    assert rows["where"] == ("mapped", [span | {"label": "bug"}], False)
    assert rows["intent"] == ("single", "praise", False)
