"""Who did what in a project: what is written down, in which words, and who may read which of it."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.http import Http404
from django.utils import timezone

from agreement import gates, protocol, runs
from annotations import (
    activity_log,
    adjudication,
    alike,
    draws,
    exporting,
    giving,
    inquiries,
    publishing,
    releasing,
    sent_back,
    serving,
    superseding,
)
from annotations.activity_log import Filters
from annotations.models import Case, Wave
from annotations.queue import Filters as QueueFilters
from projects import activities, guidelines, importing, jobs, label_plans, members
from projects.enums import Role
from projects.forms.project import SettingsForm
from projects.models import Activity, Membership, Project
from tests import factories
from tests.annotations import disputes
from tests.annotations.team import Team, says

AT = factories.NOW
WHOLE = Filters()


def told(reader: Membership, filters: Filters = WHOLE) -> list[tuple[str, str]]:
    """(who, what), the oldest first."""
    lines = activity_log.log(reader, filters).lines
    return [(line.who, line.what) for line in reversed(lines) for _time in range(line.times)]


def kinds(reader: Membership, filters: Filters = WHOLE) -> list[str]:
    return list(filters.narrow(activity_log.of(reader)).order_by("pk").values_list("kind", flat=True))


def opened(project: Project, lead: Membership, count: int = 10, share: int = 50) -> Wave:
    factories.items(project, count, prefix=f"w{project.waves.count()}")
    return releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(share))


# -- what is written down ----------------------------------------------------------------------------------------------


def test_people_who_come_go_and_change_are_in_the_log(project, admin, outsider):
    added = members.add(project, username="otto", roles={Role.LEAD}, by=admin)
    members.set_roles(added, {Role.LEAD, Role.ANNOTATOR}, by=admin)
    members.set_roles(added, {Role.LEAD, Role.ANNOTATOR}, by=admin)
    members.deactivate(added, by=admin)
    members.deactivate(added, by=admin)
    members.reactivate(added, by=admin)
    _first, token = members.invite(project, email="eve@example.org", roles={Role.ANNOTATOR}, by=admin)
    members.join(token, user=factories.user("eve"))
    other, _token = members.invite(project, email="max@example.org", roles={Role.LEAD}, by=admin)
    members.withdraw(other, by=admin)
    members.withdraw(other, by=admin)

    assert told(admin) == [
        ("ada", "Added otto as lead."),
        ("ada", "Changed the roles of otto from lead to annotator, lead."),
        ("ada", "Ended the membership of otto."),
        ("ada", "Took otto back as a member."),
        ("ada", "Invited somebody as annotator."),
        ("eve", "Joined by an invitation, as annotator."),
        ("ada", "Invited somebody as lead."),
        ("ada", "Withdrew an invitation as lead."),
    ]


def test_a_name_in_the_log_is_the_lasting_one_once_the_account_is_gone(project, admin, outsider):
    members.add(project, username="otto", roles={Role.LEAD}, by=admin)

    outsider.delete()

    assert told(admin) == [("ada", "Added otto as lead.")]


def test_settings_and_protocol_say_what_was_changed(project, admin):
    form = {"name": "Reviews", "description": "", "notice": "Soon over.", "comment_required": ""}
    for _again in range(2):
        changed = SettingsForm(form, instance=Project.objects.get(pk=project.pk))
        changed.save(by=admin)
    project.refresh_from_db()
    protocol.save(project, protocol.of_project(project), by=admin)  # now each question has its entry
    before = len(kinds(admin))
    for _again in range(2):
        protocol.save(project, replace(protocol.of_project(project), share_percent=Decimal(20)), by=admin)

    assert told(admin)[0] == ("ada", "Changed the settings: name, notice.")
    assert told(admin)[before:] == [("ada", "Changed the protocol of the draws to come: share of the overlap.")]


def test_a_protocol_that_is_saved_for_the_first_time_as_it_was_is_no_change(project, version, admin):
    before = len(kinds(admin))

    protocol.save(project, protocol.of_project(project), by=admin)

    assert told(admin)[before:] == []
    assert set(Project.objects.get().protocol["questions"]) == {"intent"}


def test_an_import_is_written_down_when_its_items_are_there(project, lead, settings, tmp_path):
    from django.core.files.uploadedfile import SimpleUploadedFile

    settings.MEDIA_ROOT = tmp_path
    upload = SimpleUploadedFile("rows.jsonl", b'{"id": "1", "text": "one"}\n{"id": "2", "text": "two"}\n')
    job = importing.start(project, upload=upload, by=lead, shown=["text"], id_field="id", at=AT)
    jobs.run_waiting(at=AT)
    importing.confirm(jobs.Job.objects.get(pk=job.pk), by=lead, at=AT)
    before = kinds(lead)

    jobs.run_waiting(at=timezone.now(), limit=9)

    assert (before, told(lead)) == ([], [("lea", "Imported “rows.jsonl”, 2 items.")])


def test_a_wave_is_opened_given_released_and_closed(project, lead, anna, ben):
    wave = opened(project, lead)
    giving.give(wave, members=[anna, ben], by=lead, at=AT)
    draws.release_cover(wave, by=lead, at=AT)
    draws.close(wave.draw, closing="early", reason="The text was wrong", by=lead, at=AT)
    draws.close_wave(wave, by=lead, at=AT, reason="enough")
    unmeasured = opened(project, lead, count=1, share=0)
    Team([anna], says(), at=AT).finish()
    draws.close_wave(unmeasured, by=lead, at=AT, reason="again")

    assert told(lead) == [
        ("lea", "Opened wave 1 under guideline 1.0, 50 % overlap."),
        ("lea", "Gave wave 1 to 2 named people."),
        ("lea", "Released the cover of wave 1: from here on raters could know what is measured."),
        ("lea", "The measurement of wave 1 closed (early): “The text was wrong”."),
        ("lea", "Ended wave 1: “enough”."),
        ("lea", "Opened wave 2 under guideline 1.0, not measured."),
        ("", "Wave 2 is finished: everything that it asked for is labelled or closed."),
    ]


def test_what_closes_and_is_judged_by_itself_is_the_system_s(project, lead, anna, ben):
    draw = disputes.rated(project, [anna, ben], {"one": ["praise", "praise"]})
    runs.sweep(at=timezone.now())
    project.refresh_from_db()

    assert told(lead)[1:] == [
        ("", "The measurement of wave 1 closed (complete)."),
        ("", "Wave 1 is finished: everything that it asked for is labelled or closed."),
        ("", "The gate of wave 1 says: pass."),
    ]
    assert Activity.objects.get(kind="gate_decided").subject == draw.uuid


def test_a_waiver_keeps_its_reason(project, lead, anna, ben):
    project.protocol |= {"minimum_n": 50, "questions": {"intent": {"threshold": 0.9, "threshold_on": "estimate"}}}
    project.save()
    draw = disputes.rated(project, [anna, ben], {"one": ["praise", "complaint"]})
    runs.sweep(at=timezone.now())

    gates.waive(draw, reason="A pilot only", by=lead, at=timezone.now())

    assert told(lead)[-1] == ("lea", "Waived the gate of wave 1: “A pilot only”.")


def test_decisions_are_named_without_labels_and_raters(project, lead, anna, ben):
    said = {f"case {i}": ["praise", "complaint"] for i in range(3)}
    disputes.rated(project, [anna, ben], said)
    case, *others = Case.objects.select_related("draw__wave", "item").order_by("pk")
    decision = {"value": "praise", "rationale": "It thanks.", "cause": "slip", "by": lead, "at": AT}
    adjudication.resolve(case, **decision)
    adjudication.resolve(case, **decision)
    sent_back.send(case, letter="A", reason="Look again", by=lead, at=AT)
    adjudication.reopen(case, reason="Too fast", by=lead, at=AT)
    filters = QueueFilters(question="intent", pair=case.pair_key)
    chosen = alike.named(lead, filters, [str(one.uuid) for one in others])
    alike.resolve(chosen, **decision)
    before = len(kinds(lead))
    alike.resolve(chosen, **decision)

    assert told(lead)[3:] == [
        ("lea", "Decided a conflict of wave 1."),
        ("lea", "Asked the rater of a conflict of wave 1 to look at a label again."),
        ("lea", "Reopened the decision on a conflict of wave 1: “Too fast”."),
        ("lea", "Decided 2 conflicts of one pair of labels in one go."),
    ]
    assert len(kinds(lead)) == before
    for row in Activity.objects.all():
        stored = f"{row.facts}{activities.said(row)}"
        assert not any(word in stored for word in ("praise", "complaint", "anna", "ben"))


def test_the_guideline_s_way_is_in_the_log(project, lead, version):
    draft = guidelines.draft_of(project, by=lead, at=AT)
    question = draft.questions.get()
    label_plans.merge(question.labels.get(key="question"), into="praise", by=lead)
    question.labels.create(key="other", name="other", definition="Something else.", order=9)
    label_plans.retire(question.labels.get(key="complaint"), becomes="", by=lead)
    for _again in range(2):
        label_plans.choose(draft, "intent", "complaint", becomes="praise", by=lead)
    published = publishing.publish(draft, change="material", reason="Two were one.", by=lead, at=AT)
    guidelines.set_public(published, True, by=lead)
    guidelines.set_public(published, True, by=lead)
    guidelines.set_public(published, False, by=lead)
    guidelines.discard(guidelines.draft_of(project, by=lead, at=AT), by=lead)

    assert told(lead) == [
        ("lea", "Draft, “What is the intent?”: merged the label “question” into “praise”."),
        ("lea", "Draft, “What is the intent?”: retired the label “complaint”; old ones become nothing else."),
        ("lea", "Draft, “intent”: old labels “complaint” become “praise”."),
        ("lea", "Published guideline 2.0, material: “Two were one”."),
        ("lea", "Let anybody who has the address read guideline 2.0."),
        ("lea", "Let only the members of the project read guideline 2.0."),
        ("lea", "Threw the draft away."),
    ]


def test_exports_corrected_and_erased_items_are_in_the_log(project, lead, admin):
    (item,) = factories.items(project, 1)
    exporting.start(project, what="gold", file_format="csv", by=lead, at=AT)
    new = superseding.supersede(item, content={"text": "better"}, by=lead, at=AT)
    superseding.erase(new, by=admin, at=AT)

    assert told(lead) == [
        ("lea", "Had “Final labels (gold)” exported as CSV."),
        ("lea", "Corrected the text of an item."),
        ("ada", "Erased the text of an item."),
    ]


def test_an_act_that_is_refused_or_taken_back_leaves_no_row(project, lead, anna, ben, monkeypatch):
    wave = opened(project, lead)

    recorded = activities.record

    def broken_after(*args: object, **kwargs: object) -> None:
        recorded(*args, **kwargs)
        raise RuntimeError("the disk is full")

    monkeypatch.setattr(draws.activities, "record", broken_after)
    with pytest.raises(RuntimeError):
        draws.close(wave.draw, closing="early", reason="why", by=lead, at=AT)

    assert kinds(lead) == ["wave_opened"]


def test_a_kind_that_nobody_registered_is_refused(project, lead):
    with pytest.raises(ValueError, match="danced"):
        activities.record("danced", project, by=lead)


def test_every_kind_can_be_said_and_has_a_topic():
    facts = {
        "roles": ["lead"], "before": [], "fields": ["name"], "name": "n", "items": 1, "question": "q", "label": "l",
        "into": "i", "parts": "p", "becomes": "", "number": 1, "material": True, "reason": "", "version": "1.0",
        "share": "10", "people": 0, "closing": "short", "what": "repeat", "size": 3, "choice": "keep", "count": 2,
        "ratings": 4, "title": "All ratings", "format": "CSV", "days": 30, "outcome": "hold",
    }  # fmt: skip
    said = {key: activities.said(Activity(kind=key, facts=facts)) for key in activities.KINDS}

    assert {kind.topic for kind in activities.KINDS.values()} == set(activities.TOPICS)
    assert all("%" not in words.replace("10 % overlap", "") for words in said.values())
    assert len(said) > 35


# -- who may read which of it ------------------------------------------------------------------------------------------


@pytest.fixture
def cora(project: Project, version: object) -> Membership:
    """A lead who also annotates."""
    return factories.member(project, "cora", "lead", "annotator")


OF_OPEN_DRAWS = {"looked", "cover_released", "overlap_given_up", "inquiry_answered"}


def test_who_may_still_rate_reads_nothing_of_an_open_draw(project, lead, cora, anna):
    dora = factories.member(project, "dora", "lead", "annotator")
    wave = opened(project, lead)
    task = serving.next_task(anna, at=AT)
    inquiry = inquiries.ask(anna, task.assignment, text="What is it?", at=AT)
    inquiries.answer(inquiry, text="Praise.", by=lead, at=AT)
    draws.look(wave.draw, by=lead, at=AT)
    draws.look(wave.draw, by=lead, at=AT)
    draws.give_up(wave.draw, by=dora, at=AT)
    draws.release_cover(wave, by=lead, at=AT)

    assert kinds(cora) == ["wave_opened"]
    assert [choice.title for choice in activity_log.log(cora, WHOLE).people] == ["Everybody", "lea", "the system"]
    assert sorted(kinds(lead)) == sorted(kinds(dora)) == sorted([*OF_OPEN_DRAWS, "wave_opened"])

    draws.close(wave.draw, closing="early", reason="over", by=lead, at=AT)

    assert set(kinds(cora)) == {*OF_OPEN_DRAWS, "wave_opened", "draw_closed"}


def test_a_neighbour_s_acts_never_appear(project, lead):
    neighbour = factories.project("Neighbour")
    factories.version(neighbour)
    other = factories.member(neighbour, "nora", "lead", "admin")
    guidelines.discard(guidelines.draft_of(neighbour, by=other, at=AT), by=other)

    assert (told(lead), told(other)) == ([], [("nora", "Threw the draft away.")])
    assert told(lead, Filters(by=str(other.uuid))) == []


# -- filters -----------------------------------------------------------------------------------------------------------


def acts(project: Project, lead: Membership, admin: Membership) -> None:
    for hours, by in ((0, lead), (20, admin), (30, None)):
        at = AT + timedelta(hours=hours)
        activities.record("wave_finished", project, by=by, at=at, number=hours)
    activities.record("draft_discarded", project, by=lead, at=AT + timedelta(hours=31))


@pytest.mark.parametrize(
    ("chosen", "numbers"),
    [
        ({}, [0, 20, 30, None]),
        ({"kind": "waves"}, [0, 20, 30]),
        ({"kind": "wave_finished"}, [0, 20, 30]),
        ({"kind": "draft_discarded"}, [None]),
        ({"by": "system"}, [30]),
        ({"since": (AT + timedelta(days=1)).date()}, [20, 30, None]),
        ({"until": AT.date()}, [0]),
        ({"since": AT.date(), "until": AT.date(), "kind": "people"}, []),
    ],
)
def test_filters(project, lead, admin, chosen, numbers):
    acts(project, lead, admin)

    rows = Filters(**chosen).narrow(activity_log.of(lead)).order_by("pk")

    assert [row.facts.get("number") for row in rows] == numbers


def test_a_person_is_a_filter(project, lead, admin):
    acts(project, lead, admin)

    assert kinds(lead, Filters(by=str(admin.uuid))) == ["wave_finished"]


def test_days_are_those_of_the_viewer(project, lead, admin):
    """AT is 09:00 in UTC; 20 hours later it is 05:00 of the next day there, and still the same day in Honolulu."""
    acts(project, lead, admin)

    with timezone.override(ZoneInfo("Pacific/Honolulu")):
        there = len(kinds(lead, Filters(until=AT.date())))

    assert (there, len(kinds(lead, Filters(until=AT.date())))) == (2, 1)


@pytest.mark.parametrize("data", [{"kind": "dancing"}, {"by": "nobody"}, {"by": "1"}])
def test_an_address_that_names_what_cannot_be_is_none(data):
    with pytest.raises(Http404):
        Filters.read(data)


def test_acts_in_a_row_that_read_the_same_are_one_line(project, lead, admin):
    for minutes, by in enumerate((lead, lead, admin, lead)):
        activities.record("draft_discarded", project, by=by, at=AT + timedelta(minutes=minutes))

    lines = activity_log.log(lead, WHOLE).lines

    assert [(line.who, line.times, line.since, line.at) for line in lines] == [
        ("lea", 1, AT + timedelta(minutes=3), AT + timedelta(minutes=3)),
        ("ada", 1, AT + timedelta(minutes=2), AT + timedelta(minutes=2)),
        ("lea", 2, AT, AT + timedelta(minutes=1)),
    ]


def test_a_page_ends_and_the_next_one_goes_on(project, lead, monkeypatch):
    monkeypatch.setattr(activity_log, "PAGE", 2)
    for number in range(5):
        activities.record("wave_finished", project, by=None, at=AT, number=number)

    pages, before = [], None
    while True:
        log = activity_log.log(lead, WHOLE, before=before)
        pages.append([line.what[5] for line in log.lines])
        if not log.more:
            break
        before = int(log.more.removeprefix("before="))

    assert pages == [["4", "3"], ["2", "1"], ["0"]]
