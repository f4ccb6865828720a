"""Ratings made elsewhere as a wave: what it is made of, what it does not claim, and what comes of work cut off."""

import gc
import json
import tracemalloc
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from agreement import gates, matrices, overview, runs, sentences
from agreement.models import GateDecision
from annotations import (
    adjudication,
    cases,
    draws,
    eligibility,
    exporting,
    gold,
    imported,
    imported_ratings,
    imported_report,
    imported_rows,
    imported_waves,
    labelling,
    rating_layouts,
    releasing,
    serving,
    verifying,
)
from annotations.models import Annotation, Assignment, Case, Draw, ImportedRow, Revision, Slot, Wave, WaveItem
from annotations.rating_layouts import LONG as A_ROW_EACH
from annotations.rating_layouts import NESTED, WIDE, Layout
from projects import jobs, staging
from projects.enums import JobKind, JobState
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Batch, Item, Job, Membership, Project
from tests import factories
from tests.annotations.ratings_files import LONG, bring, read, upload
from tests.factories import NOW

NOBODY = Layout(NESTED, shown=("text",), id_field="id", labels={"intent": "ratings"}, anonymous=True)
PLACES = [
    {"id": 1, "text": "It crashes", "ratings": ["complaint", "complaint", "praise"]},
    {"id": 2, "text": "Lovely", "ratings": ["praise", "praise"]},
]


def said(wave: Wave) -> list[tuple[str, str, Any]]:
    """(item, rater, label) in the order of the ratings."""
    rows = Annotation.objects.filter(wave_item__wave=wave).order_by("pk").select_related("item", "member")
    return [(row.item.external_id, row.member.alias, row.answers.get("intent")) for row in rows]


# -- what it is made of ------------------------------------------------------------------------------------------------


def test_a_long_file_becomes_a_closed_wave(lead: Membership, project: Project) -> None:
    wave = bring(lead)
    assert said(wave) == [
        ("1", "Ann", "complaint"),
        ("1", "Bob", "complaint"),
        ("2", "Ann", "question"),
        ("2", "Bob", "complaint"),
        ("2", "Cid", "praise"),
        ("3", "Ann", "praise"),
        ("3", "Cid", "praise"),
        ("4", "Ann", "question"),
    ]
    assert (wave.number, wave.state, wave.is_imported, wave.held, wave.size) == (1, "closed", True, False, 4)
    assert (wave.ratings_per_item, wave.window_submits, wave.window_minutes, wave.opened_by) == (3, 0, 0, lead)
    draw = wave.draw
    assert (draw.state, draw.closing, draw.size, draw.is_imported, draw.is_anonymous) == ("closed", "", 3, True, False)
    assert (bytes(draw.seed), bytes(draw.salt), draw.commitment, bytes(draw.population)) == (b"", b"", "", b"")
    assert (draw.protocol["chosen"], draw.protocol["version"]) == ("after the data", "1.0")
    assert set(Slot.objects.values_list("kind", "state")) == {("imported", "rated")}
    assert set(Assignment.objects.values_list("state", "major", "round")) == {("submitted", 1, 0)}
    assert set(Annotation.objects.values_list("seq", "revisions_count")) == {(None, 1)}
    assert Revision.objects.filter(in_window=True).count() == 8
    assert list(WaveItem.objects.order_by("pk").values_list("needed", "rated")) == [(2, 2), (3, 3), (2, 2), (1, 1)]
    assert WaveItem.objects.filter(draw=None).get().item.external_id == "4"
    assert list(Item.objects.order_by("pk").values_list("number", "content__text", "batch__ready")) == [
        (2, "It crashes", True),
        (4, "How do I pay?", True),
        (7, "Lovely", True),
        (9, "Hm", True),
    ]


def test_raters_are_members_who_can_do_nothing(lead: Membership, project: Project) -> None:
    bring(lead)
    rows = project.memberships.filter(user=None).order_by("alias")
    assert [(row.alias, row.active, row.is_annotator, row.submits) for row in rows] == [
        ("Ann", False, False, 0),
        ("Bob", False, False, 0),
        ("Cid", False, False, 0),
    ]
    assert not project.memberships.annotators().filter(user=None).exists()


def test_the_same_names_in_a_second_file_are_the_same_raters(lead: Membership, project: Project) -> None:
    bring(lead)
    second = bring(
        lead, LONG.replace("\n1,", "\n11,").replace("\n2,", "\n12,").replace("\n3,", "\n13,").replace("\n4,", "\n14,")
    )
    assert second.number == 2
    assert project.memberships.filter(user=None).count() == 3


def test_a_rater_can_be_a_member(lead: Membership, anna: Membership, project: Project) -> None:
    before = anna.submits
    wave = bring(lead, raters={"Ann": anna.uuid})
    assert Annotation.objects.filter(wave_item__wave=wave, member=anna).count() == 4
    assert not project.memberships.filter(alias="Ann").exists()
    anna.refresh_from_db()
    assert anna.submits == before
    # What was imported in somebody's name they did not label here: nothing to look at, to take back or to correct.
    assert list(labelling.history(anna)) == []
    mine = Annotation.objects.filter(member=anna).first()
    assert mine is not None
    with pytest.raises(Exception, match="no such label among yours"):
        labelling.correct(anna, mine.uuid, answers={"intent": "praise"}, at=timezone.now())


def test_who_rated_elsewhere_does_not_decide_the_conflict(lead: Membership) -> None:
    bring(lead, raters={"Ann": lead.uuid})
    with pytest.raises(adjudication.OwnRating):
        adjudication.claim(Case.objects.get(), by=lead, at=timezone.now())


def test_wide_and_nested_files_say_the_same(lead: Membership) -> None:
    wide = "id,text,Ann,Bob\n1,It crashes,complaint,praise\n2,Lovely,praise,\n"
    nested = [
        {"id": "n1", "text": "Crashing", "ratings": {"Ann": "complaint", "Bob": "praise"}},
        {"id": "n2", "text": "Nice", "ratings": {"Ann": "praise", "Bob": None}},
    ]
    found = [said(bring(lead, content)) for content in (wide, nested)]
    assert found[0] == [("1", "Ann", "complaint"), ("1", "Bob", "praise"), ("2", "Ann", "praise")]
    assert found[1] == [("n1", "Ann", "complaint"), ("n1", "Bob", "praise"), ("n2", "Ann", "praise")]


def test_several_questions_are_answered_at_once(project: Project) -> None:
    version = factories.version(project)
    factories.question(version, "tone", ("calm", "angry"))
    lead = factories.member(project, "lea", "lead")
    rows = "id,text,rater,intent,tone\n1,It crashes,Ann,complaint,angry\n1,,Bob,complaint,\n2,Ok,Ann,,calm\n"
    wave = bring(lead, rows)
    answers = Annotation.objects.filter(wave_item__wave=wave).order_by("pk").values_list("answers", flat=True)
    assert list(answers) == [{"intent": "complaint", "tone": "angry"}, {"intent": "complaint"}, {"tone": "calm"}]


def test_sets_of_labels(project: Project) -> None:
    version = factories.version(project, questions=False)
    factories.question(version, "holds", ("fault", "wish"), task_type="multilabel")
    lead = factories.member(project, "lea", "lead")
    nested = [{"id": 1, "text": "x y", "ratings": {"Ann": ["wish", "Fault"], "Bob": [], "Cid": "wish", "Dan": None}}]
    bring(lead, nested)
    bring(lead, 'id,text,rater,label\n2,a,Ann,"[""wish""]"\n2,,Bob,fault\n')
    assert list(Annotation.objects.order_by("pk").values_list("answers__holds", flat=True)) == [
        ["fault", "wish"],
        [],
        ["wish"],
        ["wish"],
        ["fault"],
    ]


def test_comments_come_along(lead: Membership) -> None:
    bring(
        lead, [{"id": 1, "text": "x y", "ratings": {"Ann": "praise", "Bob": "question"}, "rationales": {"Bob": "“?”"}}]
    )
    assert list(Annotation.objects.order_by("pk").values_list("comment", flat=True)) == ["", "“?”"]


def test_items_that_are_here_get_the_ratings(lead: Membership, project: Project) -> None:
    items = factories.items(project, 2)
    layout = Layout(A_ROW_EACH, id_field="id", labels={"intent": "label"}, rater="rater")
    wave = bring(lead, "id,rater,label\nitem-0,Ann,praise\nitem-0,Bob,praise\nitem-1,Ann,praise\n", layout)
    assert [row.item for row in wave.wave_items.order_by("pk")] == items
    assert (project.batches.count(), Item.objects.count()) == (1, 2)


def test_without_ids_the_text_is_the_item(lead: Membership) -> None:
    wave = bring(lead, "text,rater,label\nIt crashes,Ann,complaint\nLovely,Ann,praise\nIt crashes,Bob,praise\n")
    assert [(row.rated, row.item.content["text"]) for row in wave.wave_items.order_by("pk")] == [
        (2, "It crashes"),
        (1, "Lovely"),
    ]


def test_the_projects_stratum_is_taken_from_the_metadata(lead: Membership, project: Project) -> None:
    project.protocol |= {"strata_field": "source"}
    project.save()
    wave = bring(
        lead,
        "id,text,source,Ann,Bob\n1,a,web,praise,praise\n2,b,mail,praise,praise\n3,c,web,praise,question\n4,d,mail,praise,praise\n",
    )
    assert list(wave.wave_items.order_by("pk").values_list("stratum", flat=True)) == ["web", "mail", "web", "mail"]


# -- what it does not claim --------------------------------------------------------------------------------------------


def test_agreement_is_computed_and_marked_and_has_no_gate(lead: Membership, project: Project) -> None:
    project.protocol |= {"questions": {"intent": {"threshold": 0.9, "conflict_gap": 0.0}}}
    project.save()
    draw = bring(lead).draw
    assert draw.protocol["questions"]["intent"]["threshold"] is None
    assert [done.pk for done in runs.sweep(at=timezone.now())] == [draw.pk]
    run = runs.newest(draw, "intent")
    assert run is not None
    assert (run.interim, run.n, run.result["difference"], run.result["pooled"]) == (False, 3, None, None)
    assert len(run.result["pairs"]) == 3
    assert "Imported: blindness and random draw are not known here." in sentences.notes(draw)
    assert "3 items with two imported ratings or more" in " ".join(sentences.method(run, draw, {}))
    assert not GateDecision.objects.exists()
    assert overview.gate_words(draw, None) == ("none", "Imported ratings have no gate.")
    with pytest.raises(DomainError, match="Imported ratings have no gate"):
        gates.waive(draw, reason="no reason", by=lead, at=timezone.now())
    assert runs.stale(timezone.now()) == []


def test_two_named_raters_have_cohens_kappa(lead: Membership) -> None:
    draw = bring(
        lead, "id,text,Ann,Bob\n1,a,praise,praise\n2,b,praise,question\n3,c,question,question\n4,d,praise,\n"
    ).draw
    runs.compute(draw, at=timezone.now())
    run = runs.newest(draw, "intent")
    assert run is not None
    assert (run.n, run.result["headline"]["key"]) == (3, "cohen_kappa")
    assert run.result["statistics"]["cohen_kappa"]["value"] == pytest.approx(0.4)


def test_two_anonymous_ratings_are_no_pair(lead: Membership) -> None:
    draw = bring(lead, [{"id": i, "text": f"t{i}", "ratings": ["praise", "question"]} for i in range(4)], NOBODY).draw
    runs.compute(draw, at=timezone.now())
    run = runs.newest(draw, "intent")
    assert run is not None
    result = run.result
    assert (result["headline"]["key"], result["pairs"], result["raters"]) == ("krippendorff_alpha_nominal", [], [])
    assert (result["uses"], "table" in result) == ([[0, 4, 4]], False)
    assert [key for key in result["statistics"] if "cohen" in key or "pi" in key.split("_")] == []
    assert "with anonymous ratings" in sentences.sentence(run)
    assert "The ratings are anonymous: there is no figure by pair or rater." in sentences.notes(draw)


def test_anonymous_figures_do_not_depend_on_the_places(lead: Membership) -> None:
    rows = [
        {"id": f"a{i}", "text": f"a{i}", "ratings": ["praise", "question", "praise"][: 2 + i % 2]} for i in range(9)
    ]
    turned = [{"id": f"b{i}", "text": f"b{i}", "ratings": row["ratings"][::-1]} for i, row in enumerate(rows)]
    found = []
    for content in (rows, turned):
        draw = bring(lead, content, NOBODY).draw
        (question,) = matrices.questions(draw)
        ratings = matrices.of(draw, question, by=matrices.raters(draw), at=timezone.now()).ratings
        assert ratings.exchangeable
        found.append((ratings.codes.tolist(), ratings.weights.tolist()))
    assert found[0] == found[1]


def test_imports_pool_with_nothing(lead: Membership) -> None:
    bring(lead)
    second = bring(lead, LONG.replace("\n", "\n9").removesuffix("9"))
    runs.sweep(at=timezone.now())
    run = runs.newest(second.draw, "intent")
    assert run is not None
    assert run.result["pooled"] is None


def test_the_draw_says_that_there_is_nothing_to_replay(lead: Membership) -> None:
    found = verifying.verify(bring(lead).draw)
    assert (found.same, found.sentence) == (
        False,
        "Imported: the system drew nothing here, so there is nothing to replay.",
    )


def test_an_import_neither_holds_nor_frees_a_wave(lead: Membership, project: Project) -> None:
    project.protocol |= {"questions": {"intent": {"threshold": 0.9}}, "share_percent": "100"}
    project.save()
    factories.items(project, 10)
    first = releasing.open_wave(project, by=lead, at=NOW, size=4)
    draws.close_wave(first, by=lead, at=NOW, reason="enough")
    bring(lead)
    runs.sweep(at=timezone.now())
    second = releasing.open_wave(project, by=lead, at=timezone.now(), size=4)
    assert (first.number, second.number, second.held) == (1, 3, True)


def test_its_items_are_never_fresh_and_count_for_no_share(lead: Membership, project: Project) -> None:
    bring(lead)
    assert eligibility.ledger(project).counts["rated"] == 4
    factories.items(project, 10)
    wave = releasing.open_wave(project, by=lead, at=timezone.now())
    assert (wave.size, wave.draw.size) == (10, 1)


def test_conflicts_are_opened_and_decided(lead: Membership) -> None:
    wave = bring(lead)
    case = cases.of_project(wave.project).get()
    assert (case.item.external_id, case.state) == ("2", "open")
    adjudication.resolve(case, value="question", rationale="It asks.", cause="slip", by=lead, at=timezone.now())
    found = {one.item.external_id: (one.status, one.value, one.imported) for one in gold.of_project(wave.project)}
    assert found == {
        "1": ("agreed", "complaint", True),
        "2": ("adjudicated", "question", True),
        "3": ("agreed", "praise", True),
        "4": ("single", "question", True),
    }


def test_the_export_of_ratings_says_imported(lead: Membership, project: Project) -> None:
    bring(lead)
    job = exporting.start(project, what="ratings", file_format="jsonl", by=lead)
    jobs.work_now(job)
    with exporting.download(job, lead) as file:
        rows = [json.loads(line) for line in file]
    assert {row["kind"] for row in rows} == {"imported"}
    assert [(row["item_id"], row["rater"], row["measured"]) for row in rows][-2:] == [
        ("3", "Cid", True),
        ("4", "Ann", False),
    ]


def test_without_an_item_rated_twice_nothing_is_measured(lead: Membership) -> None:
    wave = bring(lead, "id,text,rater,label\n1,a,Ann,praise\n2,b,Bob,praise\n")
    assert (wave.state, wave.size, Draw.objects.count(), Draw.unseen.count()) == ("closed", 2, 0, 0)


# -- values and raters -------------------------------------------------------------------------------------------------


def test_nothing_is_imported_while_a_value_is_no_label(lead: Membership) -> None:
    job = read(lead, "id,text,rater,label\n1,a,Ann,praise\n1,,Bob,meh\n2,b,Ann,meh\n2,,Bob,Question\n", layout(lead))
    report = imported_report.of(job)
    assert [(value.shown, value.count, value.rows, value.guess) for value in report.values] == [
        ("praise", 1, [2], "praise"),
        ("meh", 2, [3, 4], None),
        ("Question", 1, [5], "question"),
    ]
    with pytest.raises(Invalid) as refusal:
        imported.confirm(job, by=lead)
    assert refusal.value.message == (
        "1 value of the file is no label: “meh” 2 × (first in row 3). Say which label it stands for, or leave it out."
    )
    assert not Job.objects.filter(kind=JobKind.RATINGS_IMPORT).exists()
    with pytest.raises(Invalid, match="“meh” cannot be “nonsense”"):
        imported.confirm(job, by=lead, values={"intent": {'"meh"': "nonsense"}})
    made = jobs.work_now(imported.confirm(job, by=lead, values={"intent": {'"meh"': "complaint"}}))
    assert [answer for _item, _rater, answer in said(imported.wave_of(made) or Wave())] == [
        "praise",
        "complaint",
        "complaint",
        "question",
    ]


def layout(lead: Membership) -> Layout:
    return Layout(A_ROW_EACH, shown=("text",), id_field="id", labels={"intent": "label"}, rater="rater")


def test_a_value_that_is_left_out_is_a_missing_rating(lead: Membership) -> None:
    content = "id,text,rater,label\n1,a,Ann,praise\n1,,Bob,n/a\n2,b,Ann,n/a\n"
    wave = bring(lead, content, layout(lead), values={"intent": {'"n/a"': None}})
    assert said(wave) == [("1", "Ann", "praise")]
    assert wave.size == 1


def test_raters_that_cannot_be_are_refused(lead: Membership, anna: Membership) -> None:
    neighbour = factories.member(factories.project("Neighbour"), "nora")
    job = read(lead)
    for raters, sentence in [
        ({"Dan": anna.uuid}, "The file has no rater “Dan”."),
        ({"Ann": neighbour.uuid}, "A rater can only be an active member of this project."),
        ({"Ann": anna.uuid, "Bob": anna.uuid}, "Two raters of the file cannot be the same member"),
    ]:
        with pytest.raises(Invalid, match=sentence):
            imported.confirm(job, by=lead, raters=raters)


def test_more_raters_than_pairs_can_be_shown_for_are_taken_without_names(lead: Membership) -> None:
    rows = "".join(f"{i // 2},t{i // 2},w{i},praise\n" for i in range(2 * imported_report.MOST_BY_NAME))
    content = f"id,text,rater,label\n{rows}"
    with pytest.raises(Invalid, match="The file has 200 raters, and up to 100 are taken by name"):
        imported.confirm(read(lead, content), by=lead)
    nobody = Layout(A_ROW_EACH, shown=("text",), id_field="id", labels={"intent": "label"}, anonymous=True)
    wave = bring(lead, content, nobody)
    assert (wave.size, wave.draw.is_anonymous) == (100, True)
    assert sorted({rater for _item, rater, _answer in said(wave)}) == ["rating 1", "rating 2"]


def test_only_members_who_may_import(lead: Membership, anna: Membership, project: Project) -> None:
    with pytest.raises(NotAllowed):
        imported.start(project, upload=upload(LONG), by=anna)
    with pytest.raises(NotAllowed):
        imported.confirm(read(lead), by=factories.member(factories.project("Neighbour"), "nora", "admin"))


def test_a_published_guideline_is_needed(project: Project) -> None:
    admin = factories.member(project, "ada", "admin")
    with pytest.raises(DomainError, match="has no published guideline: publish the labels"):
        imported.start(project, upload=upload(LONG), by=admin)


def test_a_guideline_published_meanwhile_asks_to_read_the_file_again(lead: Membership, project: Project) -> None:
    job = read(lead)
    factories.version(project, 2, 0)
    with pytest.raises(DomainError, match="A new guideline was published"):
        imported.confirm(job, by=lead)
    again = jobs.work_now(imported.choose(job, imported.layout_of(job)))
    made = jobs.work_now(imported.confirm(again, by=lead))
    assert (imported.wave_of(made) or Wave()).major == 2


# -- again, cut off, given up ------------------------------------------------------------------------------------------


def test_confirming_twice_imports_once(lead: Membership) -> None:
    job = read(lead)
    first, second = imported.confirm(job, by=lead), imported.confirm(job, by=lead)
    jobs.work_now(first)
    assert (first, imported.confirm(job, by=lead)) == (second, first)
    assert Wave.objects.count() == 1


def test_the_same_file_again_has_nothing_to_import(lead: Membership) -> None:
    bring(lead)
    job = read(lead)
    assert [(kind.problem, kind.count) for kind in imported_report.of(job).kinds] == [("given_out", 9)]
    with pytest.raises(Invalid, match="None of the ratings can be imported"):
        imported.confirm(job, by=lead)


def test_afterwards_file_and_rows_are_gone(lead: Membership) -> None:
    bring(lead)
    assert (ImportedRow.objects.count(), Job.objects.exclude(file="").count()) == (0, 0)


class KilledError(BaseException):
    """What no runner can catch."""


def dies_after(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, calls: int) -> None:
    """The process dies in the call of `name` that comes after `calls` calls, once."""
    real, left = getattr(module, name), [calls]

    def call(*args: Any, **kwargs: Any) -> Any:
        left[0] -= 1
        if left[0] == -1:
            raise KilledError
        return real(*args, **kwargs)

    monkeypatch.setattr(module, name, call)


def kill(job: Job) -> None:
    assert jobs.claim(job, at=NOW)
    with pytest.raises(KilledError):
        jobs.run(job)
    Job.objects.filter(pk=job.pk).update(beat_at=NOW)


def many(items: int, first: int = 0) -> str:
    rows = "".join(
        f"{i},text {i},{rater},{label}\n"
        for i in range(first, first + items)
        for rater, label in (("Ann", "praise"), ("Bob", "question"))
    )
    return f"id,text,rater,label\n{rows}"


def nothing_is_seen(project: Project, lead: Membership) -> None:
    assert (Wave.objects.count(), Draw.objects.count(), project.waves.count(), Case.objects.count()) == (0, 0, 0, 0)
    assert Item.objects.current().count() == 0
    assert list(gold.of_project(project)) == []
    job = exporting.start(project, what="ratings", file_format="jsonl", by=lead)
    assert jobs.work_now(job).result["rows"] == 0
    assert runs.stale(timezone.now()) == []
    assert eligibility.eligible(project).count() == 0


@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_a_killed_worker_leaves_nothing_to_be_seen_and_the_next_goes_on(
    lead: Membership, project: Project, monkeypatch: pytest.MonkeyPatch, chunks: int
) -> None:
    monkeypatch.setattr(imported_rows, "CHUNK_ROWS", 5)
    made = imported.confirm(read(lead, many(6)), by=lead)
    dies_after(monkeypatch, imported_ratings, "_copy_chunk", chunks)
    kill(made)
    assert WaveItem.objects.count() == 2 * chunks
    nothing_is_seen(project, lead)
    jobs.run_waiting(at=NOW + 2 * jobs.STALE)
    made.refresh_from_db()
    assert (made.state, made.result["items"], made.result["ratings"], made.result["cases"]) == ("done", 6, 12, 6)
    assert list(Item.objects.order_by("pk").values_list("external_id", flat=True)) == [str(i) for i in range(6)]
    assert project.memberships.filter(user=None).count() == 2


def test_a_worker_killed_after_showing_the_wave_finishes_the_rest(
    lead: Membership, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = imported.confirm(read(lead), by=lead)
    dies_after(monkeypatch, imported_rows, "clear", 0)
    kill(made)
    assert Wave.objects.count() == 1
    jobs.run_waiting(at=NOW + 2 * jobs.STALE)
    made.refresh_from_db()
    assert (made.state, made.result["ratings"]) == ("done", 8)
    assert (Wave.objects.count(), ImportedRow.objects.count(), Case.objects.count()) == (1, 0, 1)


def test_a_worker_killed_while_reading_starts_over(lead: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    job = imported.start(lead.project, upload=upload(LONG), by=lead)
    dies_after(monkeypatch, imported_rows, "_find_heads", 0)
    kill(job)
    assert ImportedRow.objects.count() == 9
    jobs.run_waiting(at=NOW + 2 * jobs.STALE)
    job.refresh_from_db()
    assert (job.state, job.result["items"], ImportedRow.objects.count()) == (JobState.DONE, 4, 9)


def test_discarding_a_half_import_removes_all_of_it(
    lead: Membership, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imported_rows, "CHUNK_ROWS", 5)
    job = read(lead, many(6))
    made = imported.confirm(job, by=lead)
    dies_after(monkeypatch, imported_ratings, "_copy_chunk", 2)
    kill(made)
    job.refresh_from_db()
    imported.discard(job)
    left = [
        table.objects.count() for table in (Item, Batch, WaveItem, Slot, Assignment, Annotation, Revision, ImportedRow)
    ]
    assert (left, Wave.unseen.count(), Draw.unseen.count()) == ([0] * 8, 0, 0)
    assert project.memberships.filter(user=None).count() == 0
    made.refresh_from_db()
    assert made.state == JobState.CANCELLED
    assert jobs.run_waiting(at=NOW + 2 * jobs.STALE) == 0


def test_an_import_that_is_done_cannot_be_discarded(lead: Membership) -> None:
    job = read(lead)
    jobs.work_now(imported.confirm(job, by=lead))
    job.refresh_from_db()
    with pytest.raises(DomainError, match="cannot be discarded any more"):
        imported.discard(job)
    assert Annotation.objects.count() == 8


def test_a_failed_import_can_be_tried_again(lead: Membership) -> None:
    job = read(lead)
    made = imported.confirm(job, by=lead)
    Job.objects.filter(pk=made.pk).update(state=JobState.FAILED, message="disk full")
    again = imported.confirm(job, by=lead)
    assert (again, jobs.work_now(again).result["items"]) == (made, 4)


def test_an_item_that_came_meanwhile_is_left_out(lead: Membership, project: Project) -> None:
    job = read(lead)
    (row,) = factories.items(project, 1)
    Item.objects.filter(pk=row.pk).update(external_id="2")
    made = jobs.work_now(imported.confirm(job, by=lead))
    assert (made.result["items"], made.result["met"]) == (3, 1)


def test_when_all_came_meanwhile_nothing_is_left_behind(lead: Membership, project: Project) -> None:
    job = read(lead, "id,text,Ann,Bob\n1,a,praise,praise\n")
    (row,) = factories.items(project, 1)
    Item.objects.filter(pk=row.pk).update(external_id="1")
    made = jobs.work_now(imported.confirm(job, by=lead))
    assert (made.state, made.message) == (
        "failed",
        "Nothing was left to import: the project has or gave out all of these items by now.",
    )
    assert (Wave.unseen.count(), project.batches.count(), project.memberships.filter(user=None).count()) == (0, 1, 0)


def test_a_wave_opened_while_an_import_runs_does_not_take_its_items(
    lead: Membership, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    factories.items(project, 4)
    content = "id,rater,label\nitem-0,Ann,praise\nitem-0,Bob,praise\n"
    layout = Layout(A_ROW_EACH, id_field="id", labels={"intent": "label"}, rater="rater")
    made = imported.confirm(read(lead, content, layout), by=lead)
    dies_after(monkeypatch, imported_waves, "_show", 0)
    kill(made)
    wave = releasing.open_wave(project, by=lead, at=NOW)
    assert (wave.number, wave.size) == (1, 3)
    jobs.run_waiting(at=NOW + 2 * jobs.STALE)
    made.refresh_from_db()
    assert (imported.wave_of(made) or Wave()).number == 2


# -- size --------------------------------------------------------------------------------------------------------------


def test_memory_does_not_grow_with_the_file(
    lead: Membership, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(staging, "CHUNK_ROWS", 100)
    monkeypatch.setattr(imported_rows, "CHUNK_WHOLE", 25)

    def peak(items: int, name: str) -> int:
        ratings = {f"r{k}": "praise" for k in range(10)}
        rows = ({"id": f"{name}{i}", "text": f"text {name} {i}", "ratings": ratings} for i in range(items))
        content = "".join(json.dumps(row) + "\n" for row in rows)
        job = imported.start(project, upload=upload(content, "big.jsonl"), by=lead)
        content = ""
        gc.collect()
        tracemalloc.start()
        jobs.work_now(imported.confirm(jobs.work_now(job), by=lead))
        _now, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(50, "a")
    small, large = peak(150, "b"), peak(500, "c")
    assert large < small * 1.25


def test_reads_of_a_chunk_do_not_grow_with_its_items(lead: Membership) -> None:
    def reads(items: int, first: int) -> int:
        made = imported.confirm(read(lead, many(items, first)), by=lead)
        with CaptureQueriesContext(connection) as queries:
            jobs.work_now(made)
        assert made.result["items"] == items
        return sum(query["sql"].startswith("SELECT") for query in queries)

    reads(3, 0)
    assert reads(4, 100) == reads(40, 200)


def test_runners_are_registered() -> None:
    assert jobs.RUNNERS["ratings_preview"] is imported_rows.check
    assert jobs.RUNNERS["ratings_import"] is imported_waves.run
    assert set(rating_layouts.SHAPES) == {A_ROW_EACH, WIDE, NESTED}


# -- what decides its conflicts ----------------------------------------------------------------------------------------

THREE_RATERS = [
    {"id": 1, "text": "It crashes", "ratings": {"x": "complaint", "y": "complaint", "z": "praise"}},
    {"id": 2, "text": "Lovely", "ratings": {"x": "praise", "y": "question", "z": "complaint"}},
]
BY_NAME = Layout(NESTED, shown=("text",), id_field="id", labels={"intent": "ratings"})


def test_what_decides_its_conflicts_is_chosen_with_the_import(lead: Membership, project: Project) -> None:
    wave = bring(lead, THREE_RATERS, BY_NAME, resolution_rule="majority")

    rows = {one.item.external_id: (one.status.value, one.value, one.imported) for one in gold.of_project(project)}
    assert rows == {"1": ("majority", "complaint", True), "2": ("open", None, True)}
    assert (wave.draw.protocol["resolution_rule"], project.protocol["resolution_rule"]) == ("majority", "lead")
    assert wave.draw.protocol["chosen"] == "after the data"


def test_without_a_choice_the_projects_rule_holds(lead: Membership, project: Project, anna: Membership) -> None:
    project.protocol |= {"resolution_rule": "third_majority"}
    project.save()
    pairs = [{"id": 1, "text": "It crashes", "ratings": {"x": "complaint", "y": "praise"}}]

    bring(lead, pairs, BY_NAME)

    assert Case.objects.get().state == "waiting"
    task = serving.next_task(anna, at=timezone.now())
    assert isinstance(task, serving.Task)
    assert task.content == {"text": "It crashes"}


def test_a_rule_that_there_is_not_is_refused(lead: Membership) -> None:
    with pytest.raises(Invalid, match="There is no rule “dice” for deciding conflicts"):
        imported.confirm(read(lead), by=lead, resolution_rule="dice")
