"""The mail of notices: who gets it when, what it says, once a day at most, and how it ends."""

import smtplib
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from annotations import inquiries, releasing, serving
from annotations.models import Wave
from projects import digests, jobs, notices, zones
from projects.enums import JobState, MailPace
from projects.models import Digest, Job, Membership, Notice, Project, User
from tests import factories
from tests.races import together

AT = factories.NOW  # 09:00 in UTC
SOON = AT + timedelta(minutes=5)
NEXT = AT + timedelta(days=1)
clock = {"now": SOON}


@pytest.fixture(autouse=True)
def mails(settings: Any, db: None) -> None:
    settings.EMAIL_URL = "smtp://mail.example.org"
    settings.SITE_URL = "https://concord.example"


@pytest.fixture(autouse=True)
def _clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(clock, "now", SOON)
    monkeypatch.setattr(digests.timezone, "now", lambda: clock["now"])


@pytest.fixture
def news(project: Project, version: Any, lead: Membership, anna: Membership) -> Wave:
    """Work for anna, found by the sweep; nothing for the lead."""
    Membership.objects.update(joined_at=AT - timedelta(days=90), acknowledged=None)
    version.published_at = AT - timedelta(days=80)
    version.save()
    factories.items(project, 5)
    wave = releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(0))
    notices.sweep(at=AT)
    return wave


def sent(at=SOON) -> list[Any]:
    """What leaves in a sweep at `at`."""
    before = len(mail.outbox)
    clock["now"] = at
    digests.sweep(at=at)
    jobs.run_waiting(at=at, limit=20)
    return mail.outbox[before:]


def test_one_mail_says_what_is_new_with_links(project, anna, news):
    Project.objects.update(name="App\nreviews")

    (message,) = sent()

    assert (message.to, message.subject) == (["anna@example.org"], "Concord: 1 thing is new")
    token = digests.token_of(anna.user)
    assert message.body == (
        "Hello anna,\n\n"
        "this is new in Concord:\n\n"
        "App reviews\n"
        "- Items wait to be labelled by you.\n"
        f"  https://concord.example/p/{project.uuid}/label/\n\n"
        "All of it: https://concord.example/notices/\n"
        "Choose what you are told, and how often: https://concord.example/notices/settings/\n"
        f"No more of these mails, without logging in: https://concord.example/notices/stop/{token}/\n"
    )
    assert message.extra_headers == {
        "List-Unsubscribe": f"<https://concord.example/notices/stop/{token}/>",
        "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    }


def test_a_day_has_one_mail_and_what_was_in_it_is_not_told_again(anna, news):
    assert [len(sent(at)) for at in (SOON, SOON, SOON + timedelta(hours=3), NEXT)] == [1, 0, 0, 0]


def test_what_is_new_tomorrow_is_told_tomorrow(anna, news):
    sent()
    Notice.objects.update(mailed_at=None)

    assert len(sent(NEXT)) == 1
    assert list(Digest.objects.order_by("day").values_list("day", flat=True)) == [AT.date(), NEXT.date()]


def test_what_was_read_done_or_switched_off_meanwhile_is_not_told(anna, news):
    digests.sweep(at=SOON)
    Wave.objects.update(state="closed")

    jobs.run_waiting(at=SOON)

    assert (mail.outbox, Digest.objects.count(), Job.objects.get().state) == ([], 0, JobState.DONE)
    Wave.objects.update(state="open")
    notices.refresh(news.project, at=SOON)
    notices.choose(anna.user, page=["work"], mail=["guideline"], pace="daily")
    assert sent() == []
    notices.choose(anna.user, page=[], mail=["work"], pace="daily")
    assert len(sent()) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"mail_pace": MailPace.NEVER},
        {"email": ""},
        {"is_active": False},
    ],
)
def test_who_wants_none_or_has_no_address_gets_none(anna, news, change):
    User.objects.filter(pk=anna.user.pk).update(**change)

    assert (sent(), Digest.objects.count()) == ([], 0)


def test_who_left_the_project_gets_none(anna, news):
    Membership.objects.filter(pk=anna.pk).update(active=False)

    assert sent() == []


def test_without_a_mail_server_nothing_is_asked_for(anna, news, settings, django_assert_num_queries):
    settings.EMAIL_URL = ""

    with django_assert_num_queries(0):
        assert digests.sweep(at=SOON) == 0


@pytest.mark.parametrize(
    ("zone", "hour", "goes"),
    [
        ("", 9, True),
        ("", 6, False),
        ("America/New_York", 9, False),
        ("America/New_York", 13, True),
        ("Asia/Tokyo", 9, True),
        ("?", 9, True),
    ],
)
def test_it_goes_out_in_the_morning_of_its_reader(anna, news, zone, hour, goes):
    User.objects.filter(pk=anna.user.pk).update(time_zone=zone)

    assert len(sent(AT.replace(hour=hour))) == goes


def test_the_day_is_that_of_its_reader(anna, news):
    """At 23:30 in UTC it is the morning of the next day in Tokyo."""
    User.objects.filter(pk=anna.user.pk).update(time_zone="Asia/Tokyo")
    late = AT.replace(hour=23, minute=30)

    sent(late)

    assert Digest.objects.get().day == late.astimezone(ZoneInfo("Asia/Tokyo")).date() == date(2026, 3, 3)


def test_once_a_week_is_once_a_week(anna, news):
    User.objects.filter(pk=anna.user.pk).update(mail_pace=MailPace.WEEKLY)
    gone = []
    for days in range(9):
        Notice.objects.update(mailed_at=None)
        gone.append(len(sent(AT + timedelta(days=days))))

    assert gone == [1, 0, 0, 0, 0, 0, 0, 1, 0]


def test_one_mail_for_all_projects_counts_what_is_said_in_the_same_words(anna, news):
    other = factories.project("Second")
    member = factories.member(other, "anna")
    facts = {"at": AT, "facts": {}}
    Notice.objects.bulk_create(Notice(member=member, kind="answer", key=str(n), **facts) for n in range(3))

    message = digests.compose(anna.user, list(digests._news(anna.user)))

    assert message.subject == "Concord: 4 things are new"
    assert message.body.count("Second\n") == 1
    assert "has an answer. (3 times)\n" in message.body


def test_who_is_due_is_asked_in_as_many_queries_for_one_as_for_twenty(anna, news, django_assert_num_queries):
    made = [factories.member(news.project, f"rater{number}") for number in range(20)]
    User.objects.update(mail_pace=MailPace.WEEKLY)
    Notice.objects.bulk_create(Notice(member=one, kind="answer", key="1", at=AT) for one in made)
    Digest.objects.bulk_create(Digest(user=one.user, day=AT.date(), asked_at=AT, begun_at=AT) for one in [anna, *made])

    with django_assert_num_queries(3):
        assert digests.sweep(at=SOON) == 0


# -- blindness ---------------------------------------------------------------------------------------------------------


def test_no_mail_says_anything_of_an_open_draw(project, lead, anna, ben):
    factories.items(project, 6)
    releasing.open_wave(project, by=lead, at=AT, share_percent=Decimal(50))
    task = serving.next_task(anna, at=AT)
    inquiry = inquiries.ask(anna, task.assignment, text="What is it?", at=AT)
    inquiries.answer(inquiry, text="Praise.", by=lead, at=AT)
    notices.sweep(at=AT)

    bodies = {message.to[0]: message.body for message in sent()}

    said = {who: [line for line in body.splitlines() if line.startswith("- ")] for who, body in bodies.items()}
    assert said["anna@example.org"] == said["ben@example.org"] == ["- Items wait to be labelled by you."]


# -- crashes and mail servers that are away ----------------------------------------------------------------------------


class Killed(BaseException):
    """What a worker that is killed does not come back from."""


def test_a_worker_killed_while_it_sends_is_not_followed_by_a_second_mail(anna, news, monkeypatch):
    digests.sweep(at=SOON)
    monkeypatch.setattr(digests.EmailMessage, "send", lambda self: (_ for _ in ()).throw(Killed()))
    with pytest.raises(Killed):
        jobs.run_waiting(at=SOON)
    monkeypatch.undo()

    jobs.run_waiting(at=SOON + jobs.STALE * 2)
    again = sent(SOON + timedelta(hours=2))

    assert (mail.outbox, again, Job.objects.get().state) == ([], [], JobState.DONE)
    assert Notice.objects.get(member=anna).mailed_at is None  # the mail of the next day says it


def test_a_worker_killed_before_it_sends_is_followed_by_one(anna, news, monkeypatch):
    digests.sweep(at=SOON)
    with monkeypatch.context() as patched:
        patched.setattr(digests, "compose", lambda *args: (_ for _ in ()).throw(Killed()))
        with pytest.raises(Killed):
            jobs.run_waiting(at=SOON)

    jobs.run_waiting(at=SOON + jobs.STALE * 2)

    assert [message.to for message in mail.outbox] == [["anna@example.org"]]


def test_a_server_that_is_away_is_asked_again_in_an_hour(anna, news, monkeypatch, caplog):
    away = digests.get_connection()

    def refuse() -> None:
        raise smtplib.SMTPConnectError(421, "busy")

    monkeypatch.setattr(away, "open", refuse)
    with monkeypatch.context() as patched:
        patched.setattr(digests, "get_connection", lambda: away)
        assert sent() == []
    job = Job.objects.get()

    gone = [len(sent(SOON + timedelta(minutes=minutes))) for minutes in (1, 59, 61, 62)]

    assert (job.state, "busy" in job.message) == (JobState.FAILED, True)
    assert ["busy" in record.getMessage() for record in caplog.records if record.name == digests.__name__] == [True]
    assert gone == [0, 0, 1, 0]


def test_a_digest_whose_job_still_waits_is_not_asked_for_again(anna, news):
    for hours in range(4):
        digests.sweep(at=AT + timedelta(hours=hours))

    assert Job.objects.filter(kind="digest").count() == 1


def test_after_a_night_without_a_mail_server_there_is_one_mail(anna, news, monkeypatch):
    """Of the day before nothing left: the digest that waits is the one of the day on which it goes."""
    with monkeypatch.context() as patched:
        patched.setattr(digests, "get_connection", lambda: (_ for _ in ()).throw(OSError("away")))
        sent(SOON)
        sent(NEXT)
    assert Digest.objects.count() == 1

    gone = [len(sent(NEXT + timedelta(hours=hours))) for hours in (1, 2, 3)]

    assert gone == [1, 0, 0]
    assert list(Digest.objects.values_list("day", flat=True)) == [NEXT.date()]


def test_a_digest_that_went_at_night_is_that_morning_s(anna, news):
    digests.sweep(at=SOON)
    clock["now"] = night = NEXT.replace(hour=3)
    jobs.run_waiting(at=night)
    Notice.objects.update(mailed_at=None)  # something more is new

    assert (len(mail.outbox), sent(NEXT)) == (1, [])


def test_a_second_job_of_a_person_does_not_send_what_the_first_is_sending(anna, news, monkeypatch):
    digests.sweep(at=SOON)
    old = Digest.objects.create(user=anna.user, day=AT.date() - timedelta(days=1), asked_at=AT)
    jobs.create(None, digests.JobKind.DIGEST, params={"digest": old.pk}, at=SOON)
    send = digests.EmailMessage.send

    def send_slowly(self: Any) -> int:
        jobs.run_waiting(at=SOON)  # another worker takes up the second
        return send(self)

    monkeypatch.setattr(digests.EmailMessage, "send", send_slowly)
    jobs.run_waiting(at=SOON)

    assert len(mail.outbox) == 1
    assert Digest.objects.get().sent_at == SOON
    assert set(Job.objects.values_list("state", flat=True)) == {JobState.DONE}


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_of_two_digests_that_are_begun_at_once_one_is_the_day_s():
    user = factories.user("anna")
    days = (AT.date() - timedelta(days=n) for n in (2, 1))
    first, second = (Digest.objects.create(user=user, day=day, asked_at=AT) for day in days)
    taken: list[bool] = []

    together(lambda: taken.append(digests._take(first, AT)), lambda: taken.append(digests._take(second, AT)))

    assert sorted(taken) == [False, True]
    assert list(Digest.objects.values_list("day", "begun_at")) == [(AT.date(), AT)]


def test_sending_leaves_the_notices_of_a_project_at_rest_as_they_are(anna, news):
    """Taken back, it would tell again what a mail has told."""
    told = factories.member(factories.project("Second"), "anna")
    before = Notice.objects.create(member=told, kind="answer", key="1", at=AT, mailed_at=AT)
    Project.objects.filter(pk=told.project_id).update(archived_at=AT)

    sent()

    before.refresh_from_db()
    assert (before.over, before.mailed_at) == (False, AT)


def test_the_machine_s_zones_are_listed_once_for_all_people(monkeypatch):
    asked = []
    listed = zones.zoneinfo.available_timezones
    monkeypatch.setattr(zones.zoneinfo, "available_timezones", lambda: asked.append(1) or listed())
    zones.names.cache_clear()

    found = [str(digests.zone_of(User(time_zone=name))) for name in ("Asia/Tokyo", "", "?", "../etc")]

    assert (found, asked) == (["Asia/Tokyo", "UTC", "UTC", "UTC"], [1])


def test_two_sweeps_at_once_write_one(anna, news):
    assert [digests._begin(anna.user, SOON) for _sweep in range(2)] == [True, False]
    assert Job.objects.filter(kind="digest").count() == 1


# -- ending it ---------------------------------------------------------------------------------------------------------


def test_the_link_shows_a_page_and_its_button_ends_the_mails(anna, news):
    (message,) = sent()
    address = message.body.split()[-1].removeprefix("https://concord.example")
    client = Client(enforce_csrf_checks=True)

    looked = client.get(address)
    after_look = User.objects.get(pk=anna.user.pk).mail_pace
    ended = client.post(address, {"List-Unsubscribe": "One-Click"})

    assert (looked.status_code, after_look, ended.status_code) == (200, MailPace.DAILY, 200)
    assert "Send me no more of these" in looked.content.decode()
    assert "You get no more of these mails." in ended.content.decode()
    assert User.objects.get(pk=anna.user.pk).mail_pace == MailPace.NEVER
    assert "anna" not in looked.content.decode()


@pytest.mark.parametrize("token", ["x", "MQ:1aaaaa:bbbb"])
def test_a_link_that_was_not_made_here_ends_nothing(anna, token):
    address = reverse("projects:notices-off", args=[token])

    assert [Client().get(address).status_code, Client().post(address).status_code] == [404, 404]


def test_a_link_made_for_something_else_ends_nothing(anna):
    other = digests.signing.Signer(salt="something else").sign_object(anna.user.pk)

    assert Client().post(reverse("projects:notices-off", args=[other])).status_code == 404
    assert User.objects.get(pk=anna.user.pk).mail_pace == MailPace.DAILY
