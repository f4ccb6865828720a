"""Notices: there when something holds, over when it does not, each for those whom it is for, off where wanted."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.http import Http404

from agreement import gates, runs
from annotations import adjudication, draws, giving, inquiries, labelling, publishing, releasing, sent_back, serving
from annotations.models import Annotation, Case, Seat, Slot, Wave
from projects import guidelines, members, notices
from projects.enums import MailPace, NoticeKind
from projects.models import Membership, Notice, NoticeRound, Project
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team, says

AT = factories.NOW
SOON = AT + timedelta(minutes=2)
LATER = AT + timedelta(hours=2)


def told(member: Membership, at=SOON) -> list[str]:
    """What the member reads, the newest first."""
    return [one.sentence for one in notices.look(member.user, at=at)]


def mark_all(member: Membership, at=SOON) -> int:
    """The member opens the page and marks all as read."""
    shown = {str(one.uuid) for one in notices.look(member.user, at=at)}
    return notices.read_all(member.user, shown, at=at)


def kinds(member: Membership) -> list[str]:
    return sorted(Notice.objects.filter(member=member, over=False).values_list("kind", flat=True))


def opened(project: Project, lead: Membership, count: int = 10, share: int = 0, **choices: object) -> Wave:
    factories.items(project, count, prefix=f"n{project.waves.count()}")
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(share), **choices)


@pytest.fixture(autouse=True)
def joined_before(request: pytest.FixtureRequest, db: None) -> None:
    """Everybody of the cast was there before AT, and the guideline is no news."""
    for name in ("admin", "lead", "anna", "ben", "cora"):
        if name in request.fixturenames:
            request.getfixturevalue(name)
    Membership.objects.update(joined_at=AT - timedelta(days=90))
    for version in guidelines.GuidelineVersion.objects.all():
        version.published_at = AT - timedelta(days=80)
        version.save()


@pytest.fixture
def cora(project: Project, version: object) -> Membership:
    """A lead who also annotates."""
    return factories.member(project, "cora", "lead", "annotator")


WORK = "Items wait to be labelled by you."

# -- work --------------------------------------------------------------------------------------------------------------


def test_work_waits_for_who_labels_until_it_is_done(project, lead, anna):
    assert told(anna) == []
    opened(project, lead, count=3)
    assert (told(anna), told(lead)) == ([WORK], [])

    Team([anna], says(), at=AT).finish()

    assert told(anna, LATER) == []


def test_a_wave_that_is_held_or_given_to_others_is_no_work(project, lead, anna, ben):
    wave = opened(project, lead)
    Wave.objects.update(held=True)
    assert told(anna) == []
    Wave.objects.update(held=False)
    assert told(anna) == [WORK]

    giving.give(wave, members=[ben], by=lead, at=AT, due_on=AT.date())

    assert told(anna) == []
    assert told(ben) == ["Items wait to be labelled by you, until 2 Mar 2026."]


def test_the_item_in_hand_is_work_also_when_all_others_are_taken(project, lead, anna, ben):
    opened(project, lead, count=1)
    serving.next_task(anna, at=AT)

    assert (told(anna), told(ben)) == ([WORK], [])


def test_as_many_as_one_may_take_is_enough_for_today(project, lead, anna):
    wave = opened(project, lead)
    giving.give(wave, members=[], by=lead, at=AT, limit_per_day=1)
    Team([anna], says(), at=AT).work()

    assert told(anna) == []
    assert told(anna, AT + timedelta(days=1)) == [WORK]


def test_work_is_over_once_the_labelling_page_said_that_nothing_is_left(project, lead, anna, ben):
    """And it comes back with the cover, as it does there."""
    opened(project, lead, count=20, share=20)
    team = Team([anna], says(), at=AT)
    team.work()
    assert Seat.objects.get(member=anna).told_empty_at is not None
    assert (told(anna, team.at), told(ben, team.at)) == ([], [WORK])

    draws.release_cover(Wave.objects.get(), by=lead, at=team.at)

    assert told(anna, team.at) == [WORK]  # what hid the overlap is hers now


def test_while_singles_hide_the_overlap_no_slot_makes_a_notice_come_or_go(project, lead, anna, ben):
    """Anna has not asked yet. Whatever becomes of slots, what she is told hangs on the wave's counters alone."""
    opened(project, lead, count=10, share=50)
    seen = [told(anna)]
    for states in ({"state": "waiting"}, {"state": "open"}):
        Slot.objects.filter(kind="measured").update(**states)
        seen.append(told(anna))
        Slot.objects.filter(kind="single").update(**states)
        seen.append(told(anna))

    assert seen == [[WORK]] * 5


def test_where_all_is_overlap_work_is_what_one_could_take(project, lead, anna, ben):
    """Raters know, so nothing has to be hidden: the second rating waits for the first."""
    factories.items(project, 1)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(100))
    task = serving.next_task(anna, at=AT)
    serving.next_task(ben, at=AT)
    assert (told(anna), told(ben)) == ([WORK], [])

    labelling.submit(anna, task.assignment, answers={"intent": "praise"}, at=AT)

    assert (told(anna), told(ben)) == ([], [WORK])


def test_a_spot_check_or_repeat_is_not_told_as_work(project, lead, anna):
    opened(project, lead, count=3)
    Team([anna], says(), at=AT).finish()
    Wave.objects.update(kind="repeat", state="open")

    assert told(anna, LATER) == []


# -- conflicts ---------------------------------------------------------------------------------------------------------


def test_conflicts_wait_for_leads_who_may_decide_them_until_they_are_decided(project, lead, admin, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ["praise", "complaint"], "two": ["praise", "question"]})
    assert told(lead, LATER) == ["2 conflicts of wave 1 wait for a decision."]
    assert [member for member in (admin, anna, ben) if "conflicts" in kinds(member)] == []

    for name in ("one", "two"):
        decision = {"value": "praise", "rationale": "It thanks.", "cause": "slip"}
        adjudication.resolve(disputes.case_of(name), **decision, by=lead, at=LATER)
        left = told(lead, LATER)

    assert left == []


def test_a_reopened_decision_is_new_again(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ["praise", "complaint"]})
    mark_all(lead, LATER)
    case, decision = Case.objects.get(), {"value": "praise", "rationale": "It thanks.", "cause": "slip"}
    adjudication.resolve(case, **decision, by=lead, at=LATER)
    assert told(lead, LATER) == []

    adjudication.reopen(case, reason="Too fast", by=lead, at=LATER)

    (again,) = notices.look(lead.user, at=LATER)
    assert (again.sentence, again.is_new) == ("1 conflict of wave 1 waits for a decision.", True)


def test_who_rated_the_item_is_not_told_of_its_conflict(project, lead, cora, anna):
    disputes.rated(project, [anna, cora], {"one": ["praise", "complaint"]})

    assert "conflicts" not in (told(cora, LATER), kinds(cora))[1]
    assert len(told(lead, LATER)) == 1


# -- the gate ----------------------------------------------------------------------------------------------------------


def measured(project: Project, *raters: Membership, threshold: float | None = 0.9) -> object:
    rule = {"threshold": threshold, "threshold_on": "estimate"}
    project.protocol |= {"minimum_n": 50, "questions": {"intent": rule}}
    project.save()
    draw = disputes.rated(project, list(raters), {"one": ["praise", "praise"]})
    runs.sweep(at=LATER)
    return draw


def test_the_gate_is_told_to_who_sees_agreement_and_a_waiver_replaces_it(project, lead, admin, anna, ben):
    draw = measured(project, anna, ben)
    assert (told(lead, LATER), told(admin, LATER)) == (["The gate of wave 1 says: not enough data."],) * 2
    assert told(anna, LATER) == []

    gates.waive(draw, reason="A pilot", by=lead, at=LATER)

    assert (told(lead, LATER), told(admin, LATER)) == ([], ["The gate of wave 1 was waived."])


def test_without_a_threshold_there_is_no_gate_to_tell_of(project, lead, anna, ben):
    measured(project, anna, ben, threshold=None)

    assert told(lead, LATER) == []


# -- the guideline -----------------------------------------------------------------------------------------------------


def test_a_published_guideline_is_news_to_all_but_who_published_it(project, lead, admin, anna):
    draft = guidelines.draft_of(project, by=lead, at=AT)
    guidelines.save_text(draft, text="# Other\n\nRead it well.", revision=draft.revision, by=lead)
    draft.refresh_from_db()
    publishing.publish(draft, change="material", reason="clearer", by=lead, at=AT)
    late = factories.member(project, "late", joined_at=SOON)

    said = "Guideline 2.0 was published. It changes what is labelled: read what is new before you go on."
    assert [told(who) for who in (anna, admin, lead, late)] == [[said], [said], [], []]

    newest = guidelines.newest(project)
    publishing.acknowledge(anna, newest, at=SOON)

    assert [(one.sentence, one.is_new) for one in notices.look(anna.user, at=SOON)] == [(said, False)]
    assert told(admin, AT + timedelta(days=31)) == []


# -- answers and labels sent back --------------------------------------------------------------------------------------

ANSWERED = "A question about an item that you asked about or labelled has an answer."


def test_an_answer_is_told_when_its_wave_is_no_longer_measured(project, lead, anna, ben):
    wave = opened(project, lead, count=4, share=50)
    task = serving.next_task(anna, at=AT)
    inquiry = inquiries.ask(anna, task.assignment, text="What is it?", at=AT)
    inquiries.answer(inquiry, text="Praise.", by=lead, at=AT)
    before = (told(anna), told(ben), Notice.objects.filter(kind="answer").count())

    draws.close(wave.draw, closing="early", reason="over", by=lead, at=SOON)

    assert before == ([WORK], [WORK], 0)
    (answer,) = (one for one in notices.look(anna.user, at=SOON) if one.sentence == ANSWERED)
    assert (answer.at, answer.is_new) == (SOON, True)
    assert ANSWERED not in told(ben)

    rows = [inquiries.told(row, anna) for row in inquiries.to(anna)]
    inquiries.hear(anna, rows, at=SOON)

    assert [one.is_new for one in notices.look(anna.user, at=SOON) if one.sentence == ANSWERED] == [False]


def test_a_label_sent_back_is_told_to_its_rater_until_they_have_looked(project, lead, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ["praise", "complaint"]})
    case = Case.objects.get()
    rater = Annotation.objects.get(pk=case.first_id).member
    row = sent_back.send(case, letter="A", reason="Look again", by=lead, at=LATER)
    other = ben if rater == anna else anna

    asked = ["You are asked to look at one of your labels again."]
    assert (told(rater, LATER), told(other, LATER)) == (asked, [])

    sent_back.keep(rater, row.uuid, at=LATER)

    assert told(rater, LATER) == []


# -- a lead who annotates ----------------------------------------------------------------------------------------------


def test_who_may_still_rate_is_told_nothing_of_an_open_draw(project, lead, cora, anna, ben):
    """Whatever happens in it, what a lead who annotates is told is that there is work."""
    wave = opened(project, lead, count=10, share=50)
    said = set(told(cora))
    team = Team([anna, ben], says(), at=AT)
    for _turn in range(12):
        team.work(1)
        task = serving.next_task(anna, at=team.at)
        if not isinstance(task, serving.Nothing):
            inquiry = inquiries.ask(anna, task.assignment, text=f"What is {_turn}?", at=team.at)
            inquiries.answer(inquiry, text="Praise.", by=lead, at=team.at)
        said |= set(told(cora, team.at))
    draws.look(wave.draw, by=lead, at=team.at)

    assert said | set(told(cora, team.at)) == {WORK}


# -- whose they are ----------------------------------------------------------------------------------------------------


def test_a_neighbour_s_news_and_those_of_who_left_never_appear(project, lead, anna, admin):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour, published_at=AT - timedelta(days=80))
    boss = factories.member(neighbour, "nora", "lead")
    factories.member(neighbour, "otto")
    opened(neighbour, boss)
    opened(project, lead)
    assert [one.project.name for one in notices.look(anna.user, at=SOON)] == ["App reviews"]

    members.deactivate(anna, by=admin)

    assert told(anna) == []


@pytest.mark.parametrize("rest", ["archived_at", "delete_after"])
def test_a_project_at_rest_tells_nothing_until_it_goes_on(project, lead, anna, rest):
    opened(project, lead)
    assert (told(anna), notices.unread(anna.user).count()) == ([WORK], 1)
    Project.objects.filter(pk=project.pk).update(**{rest: AT})

    counted = notices.unread(anna.user).count()
    looked, swept = told(anna), notices.sweep(at=LATER)
    Project.objects.filter(pk=project.pk).update(**{rest: None})

    assert (counted, looked, swept) == (0, [], 0)
    assert told(anna, LATER) == [WORK]


def test_who_lost_the_role_loses_its_notices(project, lead, admin, anna, ben):
    disputes.rated(project, [anna, ben], {"one": ["praise", "complaint"]})
    told(lead, LATER)

    members.set_roles(lead, {"admin"}, by=admin)

    assert told(lead, LATER) == []


def test_a_notice_is_opened_by_its_reader_alone(project, lead, anna, ben):
    opened(project, lead)
    (one,) = notices.look(anna.user, at=SOON)

    with pytest.raises(Http404):
        notices.read(ben.user, one.uuid, at=SOON)
    assert notices.read(anna.user, one.uuid, at=SOON) == f"/p/{project.uuid}/label/"
    assert [again.is_new for again in notices.look(anna.user, at=LATER)] == [False]


def test_mark_all_reads_what_is_there_and_nothing_that_comes(project, lead, anna, ben):
    opened(project, lead)
    told(anna), told(ben)

    assert (mark_all(anna), mark_all(anna)) == (1, 0)
    assert Notice.objects.filter(read_at=None).get().member == ben


def test_mark_all_reads_nothing_that_the_page_did_not_show(project, anna, ben):
    """What is switched off or at rest, what came after the page was loaded, and what is somebody else's."""
    resting = factories.member(factories.project("Second"), "anna")
    Project.objects.filter(pk=resting.project_id).update(archived_at=AT)
    anna.user.notices_off = {notices.PAGE: ["answer"]}
    anna.user.save()
    whose = [(anna, "work"), (anna, "answer"), (resting, "work"), (ben, "work"), (anna, "guideline")]
    made = Notice.objects.bulk_create(Notice(member=who, kind=kind, key="1", at=AT) for who, kind in whose)
    shown = {str(one.uuid) for one in made[:-1]} | {"no uuid"}

    read = notices.read_all(anna.user, shown, at=SOON)

    assert (read, list(Notice.objects.exclude(read_at=None))) == (1, made[:1])


# -- the sweep ---------------------------------------------------------------------------------------------------------


def test_the_sweep_looks_through_each_project_once_a_minute(project, lead, anna, monkeypatch):
    monkeypatch.setattr(notices, "AT_ONCE", 2)
    for name in ("second", "third"):
        factories.project(name)

    ran = [notices.sweep(at=AT + timedelta(seconds=second)) for second in (0, 1, 2, 30, 60, 61)]

    assert ran == [2, 1, 0, 0, 2, 1]
    assert NoticeRound.objects.count() == 3


def test_a_project_that_cannot_be_looked_through_does_not_keep_the_others_out(project, lead, anna, monkeypatch, caplog):
    broken = project
    fine = factories.project("Second")
    factories.version(fine, published_at=AT - timedelta(days=80))
    otto = factories.member(fine, "otto")
    opened(fine, factories.member(fine, "nora", "lead"))
    work = notices.KINDS["work"]

    def find(project: Project, *rest: object) -> object:
        if project == broken:
            raise ZeroDivisionError
        return work.find(project, *rest)

    monkeypatch.setattr(notices, "AT_ONCE", 1)
    monkeypatch.setitem(notices.KINDS, "work", replace(work, find=find))

    ran = [notices.sweep(at=AT + timedelta(seconds=second)) for second in (0, 1, 2)]

    assert (ran, kinds(otto)) == ([1, 1, 0], ["work"])
    (logged,) = (record for record in caplog.records if record.name == notices.__name__)
    assert (str(broken.uuid) in logged.getMessage(), logged.exc_info is not None) == (True, True)


def test_the_sweep_finds_what_the_page_finds_and_keeps_what_is_read(project, lead, anna, ben):
    opened(project, lead)
    notices.sweep(at=AT)
    found = kinds(anna), kinds(ben), kinds(lead)
    mark_all(anna, AT)

    notices.sweep(at=SOON)

    assert found == (["work"], ["work"], [])
    assert [one.is_new for one in notices.look(anna.user, at=SOON)] == [False]
    assert Notice.objects.count() == 2


def test_a_quiet_project_writes_nothing(project, lead, anna, django_assert_num_queries):
    notices.sweep(at=AT)

    with django_assert_num_queries(8) as asked:
        notices.refresh(project, at=SOON)

    assert not any(query["sql"].startswith(("INSERT", "UPDATE")) for query in asked.captured_queries)


# -- switching off -----------------------------------------------------------------------------------------------------


def test_kinds_are_offered_by_role(project, lead, anna, outsider):
    assert [key for key, _name in notices.offered(lead.user)] == ["conflicts", "gate", "guideline"]
    assert [key for key, _name in notices.offered(anna.user)] == ["work", "guideline", "answer", "sent_back"]
    assert notices.offered(outsider) == []


def test_what_is_switched_off_is_neither_listed_nor_counted(project, lead, anna):
    opened(project, lead)
    told(anna)

    notices.choose(anna.user, page=["guideline"], mail=["work", "guideline"], pace="weekly")

    assert told(anna) == []
    assert notices.unread(anna.user).count() == 0
    assert notices.off(anna.user, "mail") == ["answer", "sent_back"]
    anna.user.refresh_from_db()
    assert anna.user.mail_pace == MailPace.WEEKLY

    notices.choose(anna.user, page=NoticeKind.values, mail=[], pace="never")

    assert told(anna) == [WORK]


def test_what_cannot_reach_one_now_stays_as_it_was_chosen(project, lead, admin):
    notices.choose(lead.user, page=["gate", "guideline"], mail=[], pace="daily")
    members.set_roles(lead, {"annotator"}, by=admin)

    notices.choose(lead.user, page=["work", "guideline", "answer", "sent_back"], mail=[], pace="daily")

    assert notices.off(lead.user, "page") == ["conflicts"]
