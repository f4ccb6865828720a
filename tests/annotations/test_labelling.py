"""Submit, skip, correct: nothing lost, nothing counted twice (DESIGN §2.5, §2.10, §2.12, windows)."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.http import Http404

from annotations import draws, labelling, releasing, serving
from annotations.models import Annotation, Revision, Slot, Wave
from projects.errors import DomainError, Invalid
from projects.models import Membership, Project
from tests import factories
from tests.annotations.team import Team

AT = factories.NOW
MINUTE = timedelta(minutes=1)
COMPLAINT, PRAISE = {"intent": "complaint"}, {"intent": "praise"}


@pytest.fixture
def wave(project: Project, lead: Membership) -> Wave:
    factories.items(project, 30)
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))


def label(member: Membership, answers: dict = COMPLAINT, at=AT) -> Annotation:
    task = serving.next_task(member, at=at)
    return Annotation.objects.get(uuid=labelling.submit(member, task.assignment, answers=answers, at=at).annotation)


def test_submit_repeated_changes_nothing(wave, anna):
    task = serving.next_task(anna, at=AT)
    first = labelling.submit(anna, task.assignment, answers=COMPLAINT, at=AT)

    again = labelling.submit(anna, task.assignment, answers=PRAISE, at=AT + MINUTE)

    assert (again.annotation, again.repeated) == (first.annotation, True)
    assert list(Annotation.objects.values_list("answers", flat=True)) == [COMPLAINT]
    anna.refresh_from_db()
    assert anna.submits == 1


def test_submit_of_another_s_assignment_does_not_exist(wave, anna, ben):
    task = serving.next_task(anna, at=AT)

    with pytest.raises(Http404):
        labelling.submit(ben, task.assignment, answers=COMPLAINT, at=AT)
    with pytest.raises(Http404):
        labelling.submit(ben, uuid4(), answers=COMPLAINT, at=AT)


@pytest.mark.parametrize(
    ("answers", "word"),
    [
        ({"intent": "spam"}, "spam"),
        ({}, "no answer"),
        ({"mood": "x", "intent": "praise"}, "mood"),
        ({"intent": 3}, "3"),
    ],
)
def test_submit_of_a_bad_answer_names_it_and_keeps_the_item(wave, anna, answers, word):
    task = serving.next_task(anna, at=AT)

    with pytest.raises(labelling.BadAnswers, match=word):
        labelling.submit(anna, task.assignment, answers=answers, at=AT)

    assert serving.next_task(anna, at=AT).assignment == task.assignment
    assert not Annotation.objects.exists()


def test_a_project_that_asks_for_a_comment_takes_no_label_without_one(wave, anna):
    anna.project.comment_required = True
    anna.project.save()
    task = serving.next_task(anna, at=AT)

    with pytest.raises(labelling.BadAnswers, match="Write a comment"):
        labelling.submit(anna, task.assignment, answers=COMPLAINT, comment=" ", at=AT)
    assert serving.next_task(anna, at=AT).assignment == task.assignment
    saved = labelling.submit(anna, task.assignment, answers=COMPLAINT, comment="It is broken.", at=AT)
    with pytest.raises(labelling.BadAnswers, match="Write a comment"):
        labelling.correct(anna, saved.annotation, answers=PRAISE, at=AT)

    assert [one.comment for one in Annotation.objects.all()] == ["It is broken."]


def test_late_submit_counts_while_the_slot_is_unclaimed(wave, anna):
    task = serving.next_task(anna, at=AT)

    labelling.submit(anna, task.assignment, answers=COMPLAINT, at=AT + timedelta(hours=5))

    assert Annotation.objects.get().slot is not None


def test_late_submit_is_surplus_when_somebody_else_holds_the_slot(project, lead, anna, ben):
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    hers = serving.next_task(anna, at=AT)
    his = serving.next_task(ben, at=AT + 31 * MINUTE)

    late = labelling.submit(anna, hers.assignment, answers=COMPLAINT, at=AT + 32 * MINUTE)
    labelling.submit(ben, his.assignment, answers=PRAISE, at=AT + 33 * MINUTE)

    kept = Annotation.objects.get(uuid=late.annotation)
    assert (kept.slot, kept.draw, kept.answers) == (None, None, COMPLAINT)
    assert Slot.objects.get().annotation.member == ben


def test_late_submit_counts_when_the_next_holder_s_lease_has_ended_too(project, lead, anna, ben):
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    hers = serving.next_task(anna, at=AT)
    serving.next_task(ben, at=AT + 31 * MINUTE)

    labelling.submit(anna, hers.assignment, answers=COMPLAINT, at=AT + 90 * MINUTE)

    assert Slot.objects.get().annotation.member == anna


def test_a_slot_that_comes_open_takes_waiting_surplus_first(project, lead, anna, ben):
    factories.items(project, 1)
    opened = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    hers = serving.next_task(anna, at=AT)
    his = serving.next_task(ben, at=AT + 31 * MINUTE)
    labelling.submit(anna, hers.assignment, answers=COMPLAINT, at=AT + 32 * MINUTE)  # surplus: ben holds slot 1

    labelling.submit(ben, his.assignment, answers=PRAISE, at=AT + 33 * MINUTE)  # opens slot 2: hers is taken

    rated = {slot.number: slot.annotation.member.alias for slot in Slot.objects.select_related("annotation__member")}
    assert rated == {1: "ben", 2: "anna"}
    opened.refresh_from_db()
    assert opened.overlap_left == 0


def test_correction_within_the_window_counts(wave, anna):
    given = label(anna)

    labelling.correct(anna, given.uuid, answers=PRAISE, at=AT + 29 * MINUTE)

    given.refresh_from_db()
    assert (given.answers, given.latest) == (PRAISE, PRAISE)
    assert [(r.number, r.in_window) for r in Revision.objects.all()] == [(1, True), (2, True)]


def test_correction_after_the_window_is_kept_and_not_measured(wave, anna):
    given = label(anna)

    labelling.correct(anna, given.uuid, answers=PRAISE, at=AT + 31 * MINUTE)

    given.refresh_from_db()
    assert (given.answers, given.latest) == (COMPLAINT, PRAISE)
    assert [(r.number, r.in_window) for r in Revision.objects.all()] == [(1, True), (2, False)]


def test_the_window_ends_with_the_tenth_further_submit(wave, anna):
    given = label(anna)
    team = Team([anna], at=AT)
    team.work(turns=9)
    given.refresh_from_db()
    assert given.window_ends == AT + 30 * MINUTE

    team.work(turns=1)

    given.refresh_from_db()
    assert given.window_ends == team.at


def test_skips_and_corrections_do_not_move_the_window(wave, anna):
    given = label(anna)
    for _ in range(12):
        task = serving.next_task(anna, at=AT)
        labelling.skip(anna, task.assignment, reason="other", at=AT)
        labelling.correct(anna, given.uuid, answers=PRAISE, at=AT, comment=f"note {_}")

    given.refresh_from_db()
    assert given.window_ends == AT + 30 * MINUTE


def test_a_window_of_zero_closes_at_once(project, lead, anna):
    project.protocol |= {"window_submits": 0}
    project.save()
    factories.items(project, 3)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))

    given = label(anna)
    labelling.correct(anna, given.uuid, answers=PRAISE, at=AT)

    given.refresh_from_db()
    assert (given.window_ends, given.answers) == (AT, COMPLAINT)


def test_the_closing_ends_all_windows(wave, lead, anna):
    given = label(anna)

    draws.close(wave.draw, closing="early", reason="enough seen", by=lead, at=AT + MINUTE)
    labelling.correct(anna, given.uuid, answers=PRAISE, at=AT + 2 * MINUTE)

    given.refresh_from_db()
    assert (given.answers, given.latest) == (COMPLAINT, PRAISE)


def test_a_submit_after_the_closing_is_kept_as_surplus(wave, lead, anna):
    task = serving.next_task(anna, at=AT)
    draws.close(wave.draw, closing="early", reason="enough seen", by=lead, at=AT + MINUTE)

    labelling.submit(anna, task.assignment, answers=COMPLAINT, at=AT + 2 * MINUTE)

    assert Annotation.objects.get().slot is None


def test_correction_with_the_same_answers_changes_nothing(wave, anna):
    given = label(anna)

    assert labelling.correct(anna, given.uuid, answers=COMPLAINT, at=AT).repeated
    assert Revision.objects.count() == 1


def test_correction_of_another_s_label_does_not_exist(wave, anna, ben):
    given = label(anna)

    with pytest.raises(Http404):
        labelling.correct(ben, given.uuid, answers=PRAISE, at=AT)


def test_skip_twice_is_one_skip_and_after_a_submit_it_is_refused(wave, anna):
    task = serving.next_task(anna, at=AT)
    labelling.skip(anna, task.assignment, reason="other", at=AT, note="torn")
    labelling.skip(anna, task.assignment, reason="guideline", at=AT)
    given = label(anna)

    with pytest.raises(DomainError, match="labelled this item"):
        labelling.skip(anna, given.assignment.uuid, reason="other", at=AT)
    with pytest.raises(Invalid, match="bored"):
        labelling.skip(anna, serving.next_task(anna, at=AT).assignment, reason="bored", at=AT)
    assert anna.assignments.get(state="skipped").skip_reason == "other"


def test_a_draft_comes_back_with_the_item(wave, anna):
    task = serving.next_task(anna, at=AT)

    assert labelling.save_draft(anna, task.assignment, draft={"comment": "hm"}, at=AT)

    assert serving.next_task(anna, at=AT).draft == {"comment": "hm"}


def test_a_draft_is_a_sign_of_life_and_renews_the_lease(wave, anna):
    task = serving.next_task(anna, at=AT)

    labelling.save_draft(anna, task.assignment, draft={"comment": "long text"}, at=AT + 20 * MINUTE)

    assert Slot.objects.get(state="claimed").lease_ends == AT + 50 * MINUTE


def test_a_repeated_submit_says_whether_it_differs_from_what_was_saved(wave, anna):
    task = serving.next_task(anna, at=AT)
    labelling.submit(anna, task.assignment, answers=COMPLAINT, comment="hm", at=AT)
    labelling.correct(anna, Annotation.objects.get().uuid, answers=PRAISE, at=AT)

    def differs(answers: dict, comment: str = "hm") -> bool:
        return labelling.submit(anna, task.assignment, answers=answers, comment=comment, at=AT).differs

    assert [differs(COMPLAINT), differs(PRAISE), differs(COMPLAINT, "else"), differs({})] == [False, True, True, True]


@pytest.mark.parametrize("key", ["intent", "1", "in-tent"])
def test_history_by_the_newest_answer(project, lead, anna, key):
    project.versions.get().questions.update(key=key)
    factories.items(project, 3)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    given = [label(anna, {key: value}) for value in ("complaint", "praise", "complaint")]
    labelling.correct(anna, given[0].uuid, answers={key: "praise"}, at=AT)

    assert list(labelling.history(anna, question=key, value="praise")) == [given[1], given[0]]
    assert list(labelling.history(anna, question="other", value="praise")) == []


def test_a_comment_too_long_or_with_nul_is_refused(wave, anna):
    task = serving.next_task(anna, at=AT)

    for comment in ("x" * 6000, "a\x00b"):
        with pytest.raises(Invalid, match="comment"):
            labelling.submit(anna, task.assignment, answers=COMPLAINT, comment=comment, at=AT)


@pytest.mark.parametrize(("told", "kept"), [(12.5, 12.5), (None, 60.0), (-3, 60.0), (9e9, 60.0)])
def test_time_on_task_is_what_the_page_measured_if_it_can_be(wave, anna, told, kept):
    task = serving.next_task(anna, at=AT)

    labelling.submit(anna, task.assignment, answers=COMPLAINT, at=AT + MINUTE, seconds=told)

    assert Annotation.objects.get().seconds == kept


# -- late, and what it still counts for --------------------------------------------------------------------------------


def test_late_submit_fills_another_open_slot_of_its_item(project, lead, anna, ben):
    """Two people: who lost the first rating may give the second one. Nobody else could, and nothing is lost."""
    factories.items(project, 1)
    opened = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    hers = serving.next_task(anna, at=AT)
    his = serving.next_task(ben, at=AT + 31 * MINUTE)
    labelling.submit(ben, his.assignment, answers=PRAISE, at=AT + 32 * MINUTE)

    labelling.submit(anna, hers.assignment, answers=COMPLAINT, at=AT + 33 * MINUTE)

    rated = {slot.number: slot.annotation.member for slot in Slot.objects.select_related("annotation__member")}
    assert rated == {1: ben, 2: anna}
    opened.refresh_from_db()
    assert opened.overlap_left == 0


def test_late_submit_counts_at_most_once_for_an_item(project, lead, anna, ben):
    carl = factories.member(project, "carl")
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    hers = serving.next_task(anna, at=AT)
    for minute, other in ((31, ben), (33, carl)):
        task = serving.next_task(other, at=AT + minute * MINUTE)
        labelling.submit(other, task.assignment, answers=PRAISE, at=AT + (minute + 1) * MINUTE)

    labelling.submit(anna, hers.assignment, answers=COMPLAINT, at=AT + 35 * MINUTE)

    assert [a.member for a in Annotation.objects.filter(slot__isnull=False)] == [ben, carl]
    assert Annotation.objects.get(member=anna).draw is None


def test_a_lease_that_ends_at_this_moment_still_holds(project, lead, anna, ben):
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    task = serving.next_task(anna, at=AT)

    assert serving.next_task(ben, at=AT + 30 * MINUTE).code == "others"
    labelling.submit(anna, task.assignment, answers=COMPLAINT, at=AT + 30 * MINUTE)

    assert Slot.objects.get().annotation.member == anna


# -- windows -----------------------------------------------------------------------------------------------------------


def test_a_correction_that_set_out_before_the_closing_and_comes_after_it_is_not_measured(wave, lead, anna):
    given = label(anna)
    draws.close(wave.draw, closing="early", reason="enough seen", by=lead, at=AT + 5 * MINUTE)

    labelling.correct(anna, given.uuid, answers=PRAISE, at=AT + 4 * MINUTE)

    given.refresh_from_db()
    assert (given.answers, given.latest) == (COMPLAINT, PRAISE)
    assert [revision.in_window for revision in Revision.objects.all()] == [True, False]


@pytest.mark.parametrize(("first", "second", "submits"), [(4, 2, 6), (2, 4, 5)])
def test_the_window_is_that_of_the_wave_in_which_the_label_was_given(project, lead, anna, first, second, submits):
    """W was changed between two waves: each label keeps the W that was declared for it."""
    for number, window in enumerate((first, second)):
        project.protocol |= {"window_submits": window}
        project.save()
        factories.items(project, 3 if number == 0 else 5, prefix=f"wave{number}")
        releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    for _ in range(submits):
        label(anna)

    ended = {row.seq: row.window_ends == AT for row in Annotation.objects.order_by("seq")}

    # Labels 1 to 3 are of the first wave, the others of the second one.
    windows = {seq: first if seq <= 3 else second for seq in ended}
    assert ended == {seq: seq + window <= submits for seq, window in windows.items()}


# -- giving up ---------------------------------------------------------------------------------------------------------


def test_who_gave_up_no_longer_changes_what_they_rated(wave, anna):
    given = label(anna)
    draws.give_up(wave.draw, by=anna, at=AT + MINUTE)

    labelling.correct(anna, given.uuid, answers=PRAISE, at=AT + 2 * MINUTE)

    given.refresh_from_db()
    assert (given.answers, given.latest, given.draw) == (COMPLAINT, PRAISE, wave.draw)


def test_who_gave_up_does_not_rate_the_item_in_hand(wave, anna, ben):
    task = serving.next_task(anna, at=AT)
    item = Slot.objects.get(state="claimed").item
    draws.give_up(wave.draw, by=anna, at=AT + MINUTE)

    assert serving.next_task(anna, at=AT + MINUTE).code == "others"
    labelling.submit(anna, task.assignment, answers=COMPLAINT, at=AT + 2 * MINUTE)
    Team([ben], at=AT + 3 * MINUTE).work()

    assert Annotation.objects.get(member=anna).slot is None
    assert Annotation.objects.filter(item=item, slot__isnull=False).get().member == ben
