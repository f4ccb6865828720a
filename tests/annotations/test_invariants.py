"""DESIGN §2, line by line: each section tries to break one of them, or names the tests that do.

Where two databases could differ, the races of `test_concurrency.py` and the walk of `test_random_walk.py` run on both.
"""

import json
from collections.abc import Callable
from dataclasses import fields
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from agreement import runs
from annotations import (
    adjudication,
    draws,
    eligibility,
    gold,
    labelling,
    publishing,
    releasing,
    serving,
    superseding,
    verifying,
)
from annotations.models import Annotation, Assignment, Case, Draw, Resolution, Revision, Slot, Wave, WaveItem
from projects import drafts, guidelines
from projects.errors import DomainError
from projects.models import GuidelineVersion, Item, Membership, Project
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team
from tests.stack import Stack, Visitor

AT = factories.NOW
MINUTE = timedelta(minutes=1)
COMPLAINT, PRAISE = {"intent": "complaint"}, {"intent": "praise"}
HX = {"HX-Request": "true"}
pytestmark = pytest.mark.django_db


def opened(lead: Membership, count: int = 10, share: int = 100, **choices: Any) -> Wave:
    factories.items(lead.project, count, prefix=f"n{Item.objects.count()}")
    return releasing.open_wave(lead.project, by=lead, at=choices.pop("at", AT), share_percent=Decimal(share), **choices)


def label(member: Membership, answers: dict[str, str] = COMPLAINT, at: Any = AT) -> Annotation:
    task = serving.next_task(member, at=at)
    saved = labelling.submit(member, task.assignment, answers=answers, at=at)
    return Annotation.objects.get(uuid=saved.annotation)


def new_major(lead: Membership, at: Any = AT) -> GuidelineVersion:
    draft = guidelines.draft_of(lead.project, by=lead, at=at)
    drafts.save_text(draft, text=f"{draft.text}\n\nOtherwise.", revision=draft.revision, by=lead)
    return publishing.publish(draft, change="material", reason="rules", by=lead, at=at)


# -- 1. Items are snapshots --------------------------------------------------------------------------------------------
# test_superseding: a correction makes a successor and closes the old one's slots; a rating stays with the old text; the
# successor is fresh only if nobody rated a text before it; a correction while a wave is being filled.


def test_1_a_corrected_item_is_never_served_again_by_any_road(project, lead, anna, ben):
    """Not from a queue, not when a lease ends, not when it is skipped, and not to who had it in hand."""
    opened(lead, 1)
    item = Item.objects.get()
    serving.next_task(anna, at=AT)
    superseding.supersede(item, content={"text": "Mended."}, by=lead, at=AT)

    for minutes in (0, 31, 62):
        for member in (anna, ben):
            assert isinstance(serving.next_task(member, at=AT + minutes * MINUTE), serving.Nothing)
    assert item not in eligibility.eligible(project)


def test_1_the_text_of_an_item_cannot_be_changed_by_its_correction(project, lead, anna):
    opened(lead, 1)
    given = label(anna)
    before = (given.item.content, given.item.content_hash)

    superseding.supersede(given.item, content={"text": "Mended."}, by=lead, at=AT)

    given.refresh_from_db()
    assert (given.item.content, given.item.content_hash) == before


# -- 2. Annotations are append-only ------------------------------------------------------------------------------------
# test_labelling: corrections are revisions. test_superseding: erasing keeps hash and labels.


def test_2_nothing_that_was_labelled_can_be_deleted_with_who_or_what_it_belongs_to(project, version, lead, anna):
    opened(lead, 1)
    given = label(anna)

    for row in (anna, given.item, version, given.assignment, given.slot, given.wave_item, given):
        with pytest.raises(ProtectedError), transaction.atomic():
            row.delete()
    assert Revision.objects.count() == 1


def test_2_who_leaves_or_loses_the_account_keeps_what_they_made_by_name(project, lead, anna):
    opened(lead, 1)
    given = label(anna)

    anna.user.delete()

    kept = Annotation.objects.select_related("member").get()
    assert (kept.pk, kept.member.alias, kept.member.user, kept.answers) == (given.pk, "anna", None, COMPLAINT)


def test_2_every_change_names_who_when_and_which_version(project, version, lead, anna):
    opened(lead, 1)
    given = label(anna)
    for minute, answers in enumerate((PRAISE, COMPLAINT, PRAISE), start=1):
        labelling.correct(anna, given.uuid, answers=answers, at=AT + 20 * minute * MINUTE)

    said = given.revisions.values_list("number", "answers", "by", "at", "version", "in_window")
    assert list(said) == [
        (1, COMPLAINT, anna.pk, AT, version.pk, True),
        (2, PRAISE, anna.pk, AT + 20 * MINUTE, version.pk, True),
        (3, COMPLAINT, anna.pk, AT + 40 * MINUTE, version.pk, False),
        (4, PRAISE, anna.pk, AT + 60 * MINUTE, version.pk, False),
    ]


def test_2_two_revisions_cannot_have_one_number(project, lead, anna):
    opened(lead, 1)
    first = label(anna).revisions.get()
    first.pk = None

    with pytest.raises(IntegrityError), transaction.atomic():
        first.save(force_insert=True)


# -- 3. The system draws the overlap -----------------------------------------------------------------------------------
# test_draws: the same record gives the same set and a forged one does not; an open draw cannot be replayed.
# test_draws_share: exact over any sequence. test_sampling: the functions. test_api: seed and salt only when closed.


def test_3_whoever_opens_a_wave_can_name_neither_seed_nor_items(lead, client_of):
    items = factories.items(lead.project, 40)
    wanted = {"seed": "00" * 32, "salt": "00" * 32, "items": [str(items[0].uuid)], "overlap": [str(items[0].uuid)]}
    address = reverse("api:waves", args=[lead.project.uuid])

    answer = client_of(lead).post(
        address, json.dumps({"share_percent": "10", **wanted}), content_type="application/json"
    )

    draw = Draw.objects.get()
    assert answer.status_code == 201
    assert (draw.size, WaveItem.objects.count()) == (4, 40)
    assert bytes(draw.seed) != bytes(32) != bytes(draw.salt)


def test_3_what_was_drawn_stays_on_record_when_the_wave_is_ended(lead):
    wave = opened(lead, 20, share=30)
    drawn = set(wave.wave_items.filter(draw__isnull=False).values_list("item", flat=True))

    draws.close_wave(wave, by=lead, at=AT, reason="the wrong file")

    draw = Draw.objects.get()
    assert (draw.state, draw.closing, draw.reason) == ("closed", "early", "the wrong file")
    assert set(wave.wave_items.filter(draw=draw).values_list("item", flat=True)) == drawn
    assert verifying.verify(draw).same


# -- 4. Blind ----------------------------------------------------------------------------------------------------------
# test_blindness: the same bytes for both kinds, page by page. test_api: tasks and answers of both kinds read the same.


def test_4_what_an_annotator_gets_has_no_place_for_the_kind_of_an_item():
    assert [field.name for field in fields(serving.Task)] == [
        "assignment",
        "content",
        "version",
        "draft",
        "served_at",
        "done",
        "about_left",
        "window_submits",
        "window_minutes",
    ]
    assert [field.name for field in fields(labelling.Saved)] == ["annotation", "repeated", "differs"]


def test_4_a_late_label_is_answered_alike_whether_it_counts_or_not(project, lead, anna, ben, client_of):
    """Counted, surplus, surplus of a closed draw, after a skip: the annotator reads the same."""
    wave = opened(lead, 30, share=50, at=timezone.now())
    bodies = set()
    for number in range(6):
        form = serving.next_task(anna, at=timezone.now()).assignment
        slot = Slot.objects.filter(assignments__uuid=form)
        if number % 3 == 1:  # somebody else has it now
            slot.update(claimed_by=ben)
        if number % 3 == 2:
            slot.update(state="cancelled", claimed_by=None, lease_ends=None)
        answer = client_of(anna).post(
            reverse("annotations:label-submit", args=[project.uuid, form]), {"answer-intent": "praise"}
        )
        bodies.add((answer.status_code, answer["Location"], bytes(answer.content)))

    assert len(bodies) == 1
    kept = [row.slot is not None for row in Annotation.objects.order_by("pk")]
    assert kept == [True, False, False] * 2
    assert wave.draw.is_open


def test_4_an_empty_queue_says_nothing_about_what_is_left(lead, anna, ben):
    """Single, overlap and cover are left, or nothing at all: the answer is the same."""
    said = set()
    for share in (0, 10, 100):
        wave = opened(lead, 12, share=share)
        team = Team([anna])
        team.work()
        if share == 0:  # the last single is in somebody's hands
            Slot.objects.filter(wave=wave, number=1).update(
                state="claimed", claimed_by=ben, lease_ends=team.at + MINUTE
            )
        said.add(serving.next_task(anna, at=team.at))
        draws.close_wave(wave, by=lead, at=team.at, reason="the next share")

    (nothing,) = said
    assert nothing.code == "others"


# -- 5. Never too many, never twice ------------------------------------------------------------------------------------
# test_concurrency and test_random_walk. Here: what the database itself refuses, whatever the code does.


def refused(change: Callable[[], object]) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        change()


def test_5_the_database_refuses_a_second_meeting_a_second_item_in_hand_and_a_second_rating_of_a_slot(lead, anna, ben):
    opened(lead, 3)
    given = label(anna)
    held = Assignment.objects.get(uuid=serving.next_task(anna, at=AT).assignment)

    def again(row: Any, **changes: Any) -> None:
        row = type(row).objects.get(pk=row.pk)
        row.pk, row.uuid = None, None
        for name, value in changes.items():
            setattr(row, name, value)
        row._state.adding = True
        row.uuid = type(row)._meta.get_field("uuid").get_default()
        row.save(force_insert=True)

    refused(lambda: again(given.assignment, state="skipped"))
    refused(lambda: again(held, item=given.item, major=7))
    refused(lambda: again(given, seq=99, assignment=held))
    refused(lambda: again(given, slot=None, assignment=held))
    refused(lambda: WaveItem.objects.filter(pk=given.wave_item_id).update(rated=3))
    refused(lambda: Slot.objects.filter(pk=held.slot_id).update(claimed_by=None))
    assert (Annotation.objects.count(), Assignment.objects.count()) == (1, 2)


def test_5_nobody_meets_an_item_again_in_a_later_wave_of_the_same_major(lead, anna, ben):
    """Skipped and never rated is fresh, and comes in the next wave; not to who skipped it."""
    wave = opened(lead, 3, share=0)
    for _ in range(3):
        labelling.skip(anna, serving.next_task(anna, at=AT).assignment, reason="other", at=AT)
    draws.close_wave(wave, by=lead, at=AT, reason="next")
    again = releasing.open_wave(lead.project, by=lead, at=AT, share_percent=Decimal(0))

    assert again.size == 3
    assert isinstance(serving.next_task(anna, at=AT), serving.Nothing)
    assert Team([ben]).work() == 3


# -- 6. Only comparable ratings are measured ---------------------------------------------------------------------------
# test_publishing: a form of the old version is kept and not measured. tests/agreement/test_matrices: missing answers.


def test_6_ratings_of_two_majors_never_meet_in_a_figure(project, lead, anna, ben):
    opened(lead, 4)
    Team([anna], at=AT).work(turns=4)
    version = new_major(lead)
    for member in (anna, ben):
        publishing.acknowledge(member, version, at=AT)

    factories.items(project, 2, prefix="fresh")
    second = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    Team([anna, ben], at=AT).finish()

    measured = Annotation.objects.filter(draw=second.draw)
    assert set(measured.values_list("major", flat=True)) == {2}
    assert measured.count() == 4
    assert not WaveItem.objects.filter(wave=second, item__annotations__major=1).exists()


def test_6_an_optional_answer_left_out_is_missing_for_that_question_only(project, version, lead, anna, ben):
    factories.question(version, "tone", ("kind", "harsh"), required=False)
    opened(lead, 2)
    Team([anna], at=AT, answer=lambda m, a: {"intent": "praise", "tone": "kind"}).work()
    Team([ben], at=AT + MINUTE, answer=lambda m, a: {"intent": "praise"}).finish()

    draw = Draw.objects.get()
    runs.compute(draw, at=AT + timedelta(days=1))
    n = {run.question_key: run.result["n"] for run in draw.runs.all()}
    assert n == {"intent": 2, "tone": 0}
    assert not Case.objects.exists()


# -- 7. Undefined is an answer -----------------------------------------------------------------------------------------
# tests/agreement/coefficients has every degenerate case; here: from labels to what is stored and shown.


def one_rater(lead, anna, ben):
    wave = opened(lead, 3)
    Team([anna]).work()
    ben.active = False
    ben.save()
    draws.close(wave.draw, closing="short", by=lead, at=AT + timedelta(hours=2))


def one_class(lead, anna, ben):
    opened(lead, 3)
    Team([anna, ben]).finish()


def no_overlap(lead, anna, ben):
    opened(lead, 4, share=10)
    Team([anna, ben]).finish()


def nobody(lead, anna, ben):
    wave = opened(lead, 3)
    draws.close(wave.draw, closing="early", reason="nobody came", by=lead, at=AT)


@pytest.mark.parametrize(
    ("happens", "reason"),
    [(one_rater, "no_pairs"), (one_class, "no_variation"), (no_overlap, "no_pairs"), (nobody, "no_pairs")],
)
def test_7_what_cannot_be_computed_is_undefined_with_its_reason(lead, anna, ben, client_of, happens, reason):
    happens(lead, anna, ben)
    draw = Draw.objects.get()
    assert draw.state == "closed"

    (run,) = runs.compute(draw, at=AT + timedelta(days=1))

    result = json.loads(json.dumps(run.result, allow_nan=False))
    headline = result["statistics"][result["headline"]["key"]]
    assert ("value" in headline, headline["undefined"]) == (False, reason)
    page = client_of(lead).get(reverse("agreement:draw", args=[lead.project.uuid, draw.uuid, "intent"]))
    text = page.content.decode()
    assert page.status_code == 200
    assert "undefined" in text.lower()
    assert "nan" not in text.lower().split()


# -- 8. No bare figure -------------------------------------------------------------------------------------------------
# tests/agreement/views/test_draws: what stands beside a figure, what it cannot say, no word for a number is printed.

# -- 9. Declared first -------------------------------------------------------------------------------------------------
# test_draws: the protocol is frozen, close_due waits for windows, short and early. tests/agreement: interim, n of m.


def test_9_nothing_an_admin_changes_reaches_an_open_draw(project, lead, anna, ben):
    wave = opened(lead, 4)
    frozen = Draw.objects.get().protocol
    project.protocol |= {"window_minutes": 0, "window_submits": 0, "ratings_per_item": 5, "lease_minutes": 1}
    project.save()

    given = label(anna)
    serving.next_task(anna, at=AT)

    assert Draw.objects.get().protocol == frozen
    assert given.window_ends == AT + 30 * MINUTE
    assert Slot.objects.get(state="claimed").lease_ends == AT + 30 * MINUTE
    assert set(wave.wave_items.values_list("needed", flat=True)) == {2}


def test_9_the_draw_closes_with_the_last_window_and_not_before(project, lead, anna, ben):
    opened(lead, 2)
    team = Team([anna, ben])
    team.work()
    last = max(Annotation.objects.values_list("window_ends", flat=True))

    assert draws.close_due(at=last - timedelta(microseconds=1)) == []
    (closed,) = draws.close_due(at=last)

    assert (closed.closing, closed.closed_at) == ("complete", last)


def test_9_a_closed_draw_asks_for_nothing_and_takes_nothing(project, lead, anna, ben):
    wave = opened(lead, 6, share=50)
    form = serving.next_task(anna, at=AT)
    draws.close(wave.draw, closing="early", reason="enough", by=lead, at=AT)

    labelling.submit(anna, form.assignment, answers=PRAISE, at=AT + MINUTE)
    Team([anna, ben], at=AT + 2 * MINUTE).work()

    assert not Annotation.objects.filter(draw=wave.draw).exists()
    assert not Slot.objects.filter(draw=wave.draw).exclude(state="cancelled").exists()
    wave.refresh_from_db()
    assert (wave.overlap_left, wave.single_left) == (0, 0)


# -- 10. The measurement does not move ---------------------------------------------------------------------------------


def test_10_nothing_that_comes_later_moves_a_figure(project, version, lead, anna, ben):
    """Corrections, late labels, decisions, erasing, a new guideline: the final figures have the same digest."""
    said = {"a": ["praise", "complaint"], "b": ["praise", "praise"], "c": ["complaint", "question"]}
    draw = disputes.rated(project, [anna, ben], said)
    later = AT + timedelta(days=1)
    (before,) = runs.compute(draw, at=later)

    for row in Annotation.objects.all():
        labelling.correct(row.member, row.uuid, answers={"intent": "question"}, at=later)
    case = disputes.case_of("a")
    adjudication.resolve(case, value="question", rationale="Neither.", cause="slip", by=lead, at=later)
    superseding.supersede(Item.objects.get(external_id="b"), content={"text": "Mended."}, by=lead, at=later)
    new_major(lead, at=later)
    (after,) = runs.compute(draw, at=later + timedelta(days=1))

    assert (after.digest, after.result) == (before.digest, before.result)
    assert Case.objects.count() == 2


def test_10_what_was_rated_decided_or_shown_is_in_no_later_draw(project, version, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"a": ["praise", "complaint"], "b": ["praise", "praise"]})
    late = opened(lead, 1, share=0)
    form = serving.next_task(anna, at=AT)
    draws.close_wave(late, by=lead, at=AT, reason="over")
    labelling.submit(anna, form.assignment, answers=PRAISE, at=AT)  # surplus is a rating, too
    (shown,) = factories.items(project, 1, prefix="shown")
    version.examples.create(
        question_key="intent", content=shown.content, value="praise", content_hash="", folded_hash=shown.folded_hash
    )

    assert list(eligibility.eligible(project)) == []


def test_10_a_decision_is_a_layer_and_the_gold_label_says_where_it_comes_from(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"a": ["praise", "complaint"], "b": ["praise", "praise"]})
    adjudication.resolve(
        disputes.case_of("a"), value="question", rationale="Neither.", cause="slip", by=lead, at=AT + timedelta(days=1)
    )

    found = {row.item.external_id: (row.status, row.value) for row in gold.of_project(project)}

    assert found == {"a": ("adjudicated", "question"), "b": ("agreed", "praise")}
    assert set(Annotation.objects.values_list("answers__intent", flat=True)) == {"praise", "complaint"}


# -- 11. Published is immutable ----------------------------------------------------------------------------------------
# tests/projects/test_guidelines: a published version refuses every change, also from a copy in hand from before.

# -- 12. Saved means saved ---------------------------------------------------------------------------------------------
# tests/config/test_launch: a submit while Redis is gone. tests/agreement/test_tasks: what a dead broker costs a page.
# test_labelling, test_concurrency: a repeated submit.

PREPARE = """
from django.utils import timezone
from annotations import releasing
from tests import factories

project = factories.project()
factories.version(project)
lead, anna = factories.member(project, "lea", "lead"), factories.member(project, "anna")
factories.items(project, 3)
releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=100)
print(project.uuid)
"""


@pytest.mark.slow
@pytest.mark.one_database
def test_12_a_broker_folder_that_cannot_be_written_costs_no_label_and_no_page(tmp_path: Path):
    with Stack(tmp_path, CONCORD_SWEEP_SECONDS="3600") as stack:
        project = stack.shell(PREPARE)
        anna, lea = Visitor(stack.url), Visitor(stack.url)
        anna.log_in("anna", factories.PASSWORD)
        lea.log_in("lea", factories.PASSWORD)
        broker = tmp_path / "var" / "broker"
        broker.rename(tmp_path / "gone")
        broker.touch()  # root may write anywhere, but not below a file
        for _ in range(3):
            anna.get(f"/p/{project}/label/")
            held = stack.shell(
                "from annotations.models import Assignment as A\nprint(A.objects.get(state='open').uuid)"
            )
            status, _page = anna.post(f"/p/{project}/label/{held}/", {"answer-intent": "praise"})
            assert status == 200

        status, _page = lea.get(f"/p/{project}/agreement/")

        saved = stack.shell("from annotations.models import Annotation\nprint(Annotation.objects.count())")
        assert (status, saved) == (200, "3")


def test_12_a_label_is_there_before_the_next_item_is(lead, anna, client_of):
    """The next item's page is made by a request that comes after the commit; if that fails, the label stays."""
    opened(lead, 2, share=0, at=timezone.now())
    form = serving.next_task(anna, at=timezone.now()).assignment
    anna.acknowledged = None
    anna.save()

    answer = client_of(anna).post(
        reverse("annotations:label-submit", args=[lead.project.uuid, form]), {"answer-intent": "praise"}, headers=HX
    )

    assert answer.status_code in (200, 302)
    assert Annotation.objects.get().answers == PRAISE


# -- 13. Membership decides --------------------------------------------------------------------------------------------
# tests/test_neighbours: every address that there is, with a neighbour's ids. tests/test_api_access: by role.


def test_13_who_has_left_sees_and_does_nothing_and_loses_nothing(lead, anna, client_of):
    opened(lead, 3, share=0, at=timezone.now())
    given = label(anna, at=timezone.now())
    form = serving.next_task(anna, at=timezone.now()).assignment
    client = client_of(anna)
    anna.active = False
    anna.save()

    pages = [("label", []), ("my-work", []), ("my-label", [given.uuid])]
    deeds = [("label-submit", [form]), ("label-skip", [form]), ("label-correct", [given.uuid])]
    project = lead.project.uuid
    seen = [client.get(reverse(f"annotations:{name}", args=[project, *args])).status_code for name, args in pages]
    done = [
        client.post(reverse(f"annotations:{name}", args=[project, *args]), {"answer-intent": "praise"}).status_code
        for name, args in deeds
    ]

    assert (set(seen), set(done)) == ({404}, {404})
    assert (Annotation.objects.get().latest, Assignment.objects.get(uuid=form).state) == (COMPLAINT, "open")


# -- bad input ---------------------------------------------------------------------------------------------------------
# Two annotators asking at once, a repeated submit, one after the lease ended: test_concurrency, test_labelling.
# A lead adjudicating their own rating: test_adjudication. 0 bytes and binary files through the page: test_imports.


@pytest.fixture
def annas(lead, anna, client_of) -> tuple[Client, Callable[..., str], Any]:
    opened(lead, 6, share=50, at=timezone.now())
    form = serving.next_task(anna, at=timezone.now()).assignment

    def address(name: str, *args: object) -> str:
        return reverse(f"annotations:{name}", args=[lead.project.uuid, *args])

    return client_of(anna), address, form


@pytest.mark.parametrize("name", ["label-submit", "label-skip", "label-draft"])
def test_another_s_assignment_is_not_there(annas, ben, client_of, name):
    _client, address, form = annas
    sent = {"answer-intent": "praise", "reason": "other"}

    assert client_of(ben).post(address(name, form), sent).status_code == 404

    row = Assignment.objects.get(uuid=form)
    assert (row.state, row.draft, Annotation.objects.count()) == ("open", None, 0)


@pytest.mark.parametrize(
    "sent",
    [
        {"answer-intent": "spam"},
        {"answer-intent": ""},
        {},
        {"answer-intent": ["praise", "complaint"]},
        {"answer-mood": "praise", "answer-intent": "praise"},
        {"answer-intent": "praise\x00"},
        {"answer-intent": "praise", "comment": "x" * 6_000},
        {"answer-intent": "praise", "comment": "\x00"},
    ],
)
@pytest.mark.parametrize("headers", [{}, HX], ids=["form", "htmx"])
def test_an_answer_that_is_none_is_said_and_the_item_stays(annas, sent, headers):
    client, address, form = annas

    answer = client.post(address("label-submit", form), sent, headers=headers)

    assert answer.status_code == 422
    assert not Annotation.objects.exists()
    assert Assignment.objects.get(state="open").uuid == form


def test_a_stale_form_after_a_new_major_is_saved_and_not_measured(annas, lead):
    client, address, form = annas
    new_major(lead, at=timezone.now())

    answer = client.post(address("label-submit", form), {"answer-intent": "praise"}, headers=HX)

    kept = Annotation.objects.get()
    assert answer.status_code == 200
    assert (kept.version.number, kept.slot, kept.draw, kept.answers) == ("1.0", None, None, PRAISE)


def test_a_form_with_a_label_that_the_new_version_no_longer_has_is_kept_under_the_old_one(annas, lead):
    client, address, form = annas
    draft = guidelines.draft_of(lead.project, by=lead)
    draft.questions.get().labels.get(key="question").delete()
    publishing.publish(draft, change="material", reason="one label less", by=lead, at=timezone.now())

    assert client.post(address("label-submit", form), {"answer-intent": "question"}).status_code == 302

    assert Annotation.objects.get().answers == {"intent": "question"}


@pytest.mark.parametrize("content", [b"", b"\x00\x01\x02\xff\xfe" * 200, b"\x89PNG\r\n\x1a\n" + bytes(range(256))])
@pytest.mark.parametrize("name", ["rows.csv", "rows.jsonl", "rows.json", "rows.tsv", "rows"])
def test_an_empty_or_binary_file_is_refused_with_a_sentence(lead, client_of, settings, tmp_path, content, name):
    settings.MEDIA_ROOT = tmp_path
    client = client_of(lead)

    answer = client.post(
        reverse("projects:import-new", args=[lead.project.uuid]), {"file": SimpleUploadedFile(name, content)}
    )
    if answer.status_code == 302:
        answer = client.get(answer["Location"])
        assert answer.status_code == 200
        assert "Confirm" not in answer.content.decode()
    else:
        assert answer.status_code == 422

    assert not Item.objects.exists()


@pytest.mark.parametrize("share", [0, 100])
def test_every_page_of_a_share_of_nothing_and_of_all_can_be_seen(project: Project, lead, anna, ben, client_of, share):
    wave = opened(lead, 3, share=share)
    Team([anna, ben]).finish()
    client = client_of(lead)

    pages = ["annotations:waves", "agreement:agreement", "agreement:home", "annotations:adjudication"]
    seen = [client.get(reverse(page, args=[project.uuid])).status_code for page in pages]
    seen.append(client.get(reverse("annotations:wave", args=[project.uuid, wave.uuid])).status_code)

    assert set(seen) == {200}
    assert Annotation.objects.count() == (6 if share else 3)


def test_a_lead_does_not_decide_on_their_own_rating(project, lead, anna):
    both = factories.member(project, "bo", "lead", "annotator")
    disputes.rated(project, [anna, both], {"a": ["praise", "complaint"]})

    with pytest.raises(DomainError):
        adjudication.resolve(disputes.case_of("a"), value="praise", rationale="Mine.", cause="slip", by=both, at=AT)

    assert not Resolution.objects.exists()
