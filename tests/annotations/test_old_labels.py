"""Old single labels at a new MAJOR: keep, map, label again; on record, reversible until the wave opens."""

from datetime import timedelta
from decimal import Decimal

import pytest

from annotations import draws, gold, old_labels, opening, publishing, releasing, serving, spot_checks
from annotations.enums import WaveState
from annotations.models import Annotation, Draw, OldLabelChoice, Slot, Wave
from projects import guidelines, jobs
from projects.errors import DomainError, Invalid, NotAllowed
from projects.models import Project
from tests import factories
from tests.annotations import bridged
from tests.annotations.bridged import LATER
from tests.annotations.team import Team, says


@pytest.fixture
def two(project, lead, anna, ben):
    """Under 1.0: 4 complaints, 3 praises, 3 questions; under 2.0 a question is a complaint."""
    bridged.rated(project, lead, anna)
    return bridged.published(project, lead, anna, ben)


def choose(project, lead, label, choice, becomes="", at=LATER):
    return old_labels.choose(project, question="intent", label=label, choice=choice, becomes=becomes, by=lead, at=at)


def told(project: Project) -> dict[str, tuple[str, object, object]]:
    return {one.item.external_id: (one.status.value, one.value, one.mapped_from) for one in gold.of_project(project)}


def rows(project):
    return {row.label.key: (row.n, row.by_mapping, row.choice.value) for row in old_labels.overview(project).rows}


def test_the_list_counts_singles_and_says_what_the_mapping_makes_of_them(project, two):
    assert rows(project) == {
        "complaint": (4, ("complaint",), "mapping"),
        "praise": (3, ("praise",), "mapping"),
        "question": (3, ("complaint",), "mapping"),
    }


def test_without_a_choice_the_stored_mapping_holds(project, two):
    assert told(project)["old-7"] == ("mapped", "complaint", "question")


def test_kept_is_what_was_given(project, lead, two):
    choose(project, lead, "question", "keep")

    (row,) = (one.row() for one in gold.of_project(project) if one.item.external_id == "old-7")
    assert [row[name] for name in ("status", "value", "mapped_from", "outdated", "current")] == [
        "single",
        "question",
        None,
        True,
        None,
    ]


def test_mapped_is_the_chosen_label_also_where_the_old_one_is_still_asked(project, lead, two):
    choose(project, lead, "question", "map", "praise")
    choose(project, lead, "complaint", "map", "praise")

    assert told(project)["old-7"] == ("mapped", "praise", "question")
    assert told(project)["old-0"] == ("mapped", "praise", "complaint")
    assert told(project)["old-5"] == ("single", "praise", None)


def test_each_choice_can_be_changed_and_stays_on_record(project, lead, two):
    for choice, becomes in (("keep", ""), ("map", "praise"), ("again", ""), ("mapping", "")):
        choose(project, lead, "question", choice, becomes)

    assert told(project)["old-7"] == ("mapped", "complaint", "question")
    kept = OldLabelChoice.objects.order_by("pk").values_list("choice", "by", "at", "standing")
    assert list(kept) == [
        ("keep", lead.pk, LATER, False),
        ("map", lead.pk, LATER, False),
        ("again", lead.pk, LATER, False),
        ("mapping", lead.pk, LATER, True),
    ]


def test_the_same_choice_twice_is_one(project, lead, two):
    assert choose(project, lead, "question", "keep") == choose(project, lead, "question", "keep")
    assert OldLabelChoice.objects.count() == 1


def test_labelled_again_goes_into_a_wave_that_is_not_measured(project, lead, anna, ben, two):
    choose(project, lead, "question", "again")
    assert old_labels.overview(project).again == 3

    wave = old_labels.open_again(project, by=lead, at=LATER)
    before = told(project)["old-7"]
    Team([ben], says("praise"), at=LATER).work()

    assert (wave.number, wave.kind, wave.size, Draw.objects.filter(wave=wave).exists()) == (2, "relabel", 3, False)
    assert before == ("single", "question", None)
    assert [told(project)[f"old-{i}"] for i in (6, 7, 8, 9)] == [
        ("single", "praise", None),
        ("single", "praise", None),
        ("single", "praise", None),
        ("single", "praise", None),
    ]
    newest = {one.item.external_id: one.version for one in gold.of_project(project)}
    assert (newest["old-6"], newest["old-7"]) == ("1.0", "2.0")
    draws.finish_waves(at=LATER)
    assert Wave.objects.get(pk=wave.pk).state == WaveState.CLOSED


def test_once_the_wave_is_open_its_choice_holds_and_others_can_still_be_changed(project, lead, two):
    choose(project, lead, "question", "again")
    choose(project, lead, "complaint", "keep")
    old_labels.open_again(project, by=lead, at=LATER)

    with pytest.raises(DomainError, match="Wave 2 labels these again"):
        choose(project, lead, "question", "keep")
    choose(project, lead, "complaint", "map", "praise")
    assert told(project)["old-0"] == ("mapped", "praise", "complaint")


def test_what_was_labelled_again_is_not_asked_a_third_time(project, lead, ben, two):
    choose(project, lead, "question", "again")
    old_labels.open_again(project, by=lead, at=LATER)
    during = old_labels.overview(project).again
    Team([ben], says("praise"), at=LATER).work()

    assert (during, old_labels.overview(project).again) == (0, 0)
    with pytest.raises(DomainError, match="No old label is to be given again"):
        old_labels.open_again(project, by=lead, at=LATER)


def test_what_was_left_when_the_wave_was_ended_can_go_into_another(project, lead, ben, two):
    choose(project, lead, "question", "again")
    wave = old_labels.open_again(project, by=lead, at=LATER)
    Team([ben], says("praise"), at=LATER).work(1)
    draws.close_wave(wave, by=lead, at=LATER, reason="")

    assert old_labels.overview(project).again == 2
    assert old_labels.open_again(project, by=lead, at=LATER).size == 2


def test_it_is_served_as_any_other_item(project, lead, anna, two):
    choose(project, lead, "praise", "again")
    wave = old_labels.open_again(project, by=lead, at=LATER)

    task = serving.next_task(anna, at=LATER)  # who labelled it under 1.0 may meet it once under 2.0

    assert Slot.objects.get(assignments__uuid=task.assignment).wave == wave
    assert Slot.objects.filter(wave=wave).values_list("kind", flat=True).distinct().get() == "single"


def test_overlap_and_what_a_lead_corrected_are_not_old_singles(project, version, lead, anna, ben):
    factories.items(project, 10)
    wave = releasing.open_wave(project, by=lead, at=bridged.AT, share_percent=Decimal(50))
    Team([anna, ben], says("question")).finish()
    sample = spot_checks.open_check(wave, share_percent=Decimal(20), by=lead, at=LATER)
    found = spot_checks.next_check(sample, by=lead, at=LATER)
    spot_checks.check(sample, found.slot.item.uuid, answers={"intent": "praise"}, by=lead, at=LATER)
    bridged.published(project, lead, anna, ben)

    assert rows(project) == {"question": (4, ("complaint",), "mapping")}
    choose(project, lead, "question", "again")
    assert old_labels.open_again(project, by=lead, at=LATER).size == 4
    statuses = [one.status.value for one in gold.of_project(project)]
    assert (statuses.count("agreed"), statuses.count("corrected"), statuses.count("single")) == (5, 1, 4)


def test_a_choice_under_one_major_stays_with_it(project, lead, anna, two):
    choose(project, lead, "question", "map", "praise")
    draft = guidelines.draft_of(project, by=lead)
    guidelines.save_text(draft, text="# Again", revision=draft.revision, by=lead)
    publishing.publish(draft, change="material", reason="Again.", by=lead, at=LATER + timedelta(days=1))

    assert told(project)["old-7"] == ("mapped", "praise", "question")
    assert old_labels.overview(project).history == []
    assert OldLabelChoice.objects.get().standing


def test_sets_are_mapped_and_labelled_again_by_each_of_their_labels(project, version, lead, anna, ben):
    factories.question(version, "about", ("bug", "price", "crash"), task_type="multilabel")
    factories.items(project, 2, prefix="old")
    releasing.open_wave(project, by=lead, at=bridged.AT, share_percent=Decimal(0))
    Team(
        [anna],
        lambda m, a: {"intent": "praise", "about": ["price", "crash"] if a.item.external_id == "old-0" else ["bug"]},
    ).finish()
    draft = guidelines.draft_of(project, by=lead)
    guidelines.save_text(draft, text="# Again", revision=draft.revision, by=lead)
    publishing.publish(draft, change="material", reason="Again.", by=lead, at=LATER)

    def say(label, choice, becomes=""):
        old_labels.choose(project, question="about", label=label, choice=choice, becomes=becomes, by=lead, at=LATER)

    say("crash", "map", "bug")
    sets = {one.item.external_id: one.value for one in gold.of_project(project) if one.question_key == "about"}
    assert sets == {"old-0": ["bug", "price"], "old-1": ["bug"]}
    say("price", "again")
    wave = old_labels.open_again(project, by=lead, at=LATER)
    assert [row.item.external_id for row in wave.wave_items.all()] == ["old-0"]


@pytest.mark.parametrize(
    ("label", "choice", "becomes", "word"),
    [
        ("nothing", "keep", "", "no label of an earlier MAJOR"),
        ("praise", "burn", "", "cannot be chosen"),
        ("praise", "map", "", "no other label of this question in guideline"),
        ("praise", "map", "praise", "no other label"),
        ("praise", "map", "question", "no other label"),
    ],
)
def test_what_makes_no_sense_is_refused(project, lead, two, label, choice, becomes, word):
    with pytest.raises(Invalid, match=word):
        choose(project, lead, label, choice, becomes)


def test_who_does_not_run_waves_chooses_nothing(project, anna, two):
    with pytest.raises(NotAllowed):
        choose(project, anna, "question", "keep")
    with pytest.raises(NotAllowed):
        old_labels.open_again(project, by=anna, at=LATER)


def test_under_the_first_major_there_is_nothing_to_choose(project, version, lead, anna):
    bridged.rated(project, lead, anna)

    assert old_labels.overview(project).rows == []
    with pytest.raises(Invalid, match="no label of an earlier MAJOR"):
        choose(project, lead, "question", "keep")


def test_a_large_one_is_filled_by_the_worker(project, lead, two, monkeypatch):
    monkeypatch.setattr(opening, "AT_ONCE", 2)
    choose(project, lead, "question", "again")

    wave = old_labels.open_again(project, by=lead, at=LATER)
    before = wave.state
    jobs.run_waiting(limit=1)

    wave.refresh_from_db()
    assert (before, wave.state, wave.single_all) == ("opening", "open", 3)


def test_ratings_under_the_old_major_are_never_changed(project, lead, ben, two):
    before = list(Annotation.objects.order_by("pk").values_list("answers", "latest", "version"))
    choose(project, lead, "question", "map", "praise")
    choose(project, lead, "complaint", "again")
    old_labels.open_again(project, by=lead, at=LATER)
    Team([ben], says("praise"), at=LATER).work()

    assert list(Annotation.objects.order_by("pk").values_list("answers", "latest", "version"))[: len(before)] == before
