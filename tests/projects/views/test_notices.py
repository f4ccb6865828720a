"""The page of notices, its settings, and the count in the frame."""

import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import releasing, serving
from annotations.models import Annotation, SentBack
from projects.models import Membership, Notice, User
from tests import factories
from tests.annotations import disputes

NAMES = ["notices", "notices-settings"]


def url(name: str, *args: object) -> str:
    return reverse(f"projects:{name}", args=args)


def make(member: Membership, n: int = 1, **fields: object) -> list[Notice]:
    facts = {"kind": "guideline", "facts": {"number": "1.0", "material": False}, "at": timezone.now()} | fields
    before = Notice.objects.filter(member=member).count()
    return [Notice.objects.create(member=member, key=f"{before + i}", **facts) for i in range(n)]


def mark_all(client: Client, page: str) -> None:
    """Press the button of a page that was loaded."""
    client.post(url("notices-read"), {"notice": re.findall(r'name="notice" value="([^"]+)"', page)})


def bell(page: str) -> str:
    """What the entry in the frame says."""
    found = re.search(r'<a class="bar-notices".*?</a>', page, re.S)
    return " ".join(re.sub("<[^>]+>", " ", found[0]).split()) if found else ""


@pytest.mark.parametrize("name", [*NAMES, "notices-read"])
def test_strangers_log_in(db, name):
    method = Client().post if name == "notices-read" else Client().get

    assert method(url(name)).headers["Location"] == f"/login/?next={url(name)}"


@pytest.mark.parametrize("who", ["admin", "lead", "anna", "outsider"])
def test_everybody_has_their_own(request, client_of, version, who):
    client = client_of(request.getfixturevalue(who))

    assert [client.get(url(name)).status_code for name in NAMES] == [200, 200]
    assert client.post(url("notices-read")).status_code == 302
    assert client.get(url("notices-read")).status_code == 405
    assert client.get(url("notice", uuid4())).status_code == 404


def test_nobody_opens_somebody_else_s(lead, anna, client_of):
    (theirs,) = make(lead)

    assert client_of(anna).get(url("notice", theirs.uuid)).status_code == 404
    theirs.refresh_from_db()
    assert theirs.read_at is None


def test_an_empty_page_says_what_would_be_there(outsider, client_of):
    page = client_of(outsider).get(url("notices")).content.decode()

    assert "Nothing is waiting for you." in page
    assert bell(page) == "Notices"


def test_the_page_lists_what_holds_and_all_is_read_at_once(project, lead, anna, client_of):
    factories.items(project, 4)
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))
    client = client_of(anna)

    first = client.get(url("notices")).content.decode()
    mark_all(client, first)
    second = client.get(url("notices")).content.decode()

    assert (first.count("Items wait to be labelled by you."), first.count("entry--new")) == (1, 1)
    assert (second.count("Items wait to be labelled by you."), second.count("entry--new")) == (1, 0)
    assert (bell(first), bell(second)) == ("Notices 1 new", "Notices")
    assert "Mark all as read" not in second


def test_what_came_after_the_page_was_loaded_stays_new(project, anna, client_of):
    version = project.versions.get()
    Membership.objects.update(joined_at=version.published_at - timedelta(days=1), acknowledged=None)
    client = client_of(anna)
    page = client.get(url("notices")).content.decode()
    (late,) = make(anna, kind="answer", facts={}, at=version.published_at - timedelta(hours=1))

    mark_all(client, page)

    assert list(Notice.objects.filter(read_at=None)) == [late]
    assert Notice.objects.exclude(read_at=None).count() == page.count("entry--new") == 1


def test_opening_one_reads_it_and_leads_on(project, lead, anna, client_of):
    factories.items(project, 4)
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))
    client = client_of(anna)
    page = client.get(url("notices")).content.decode()
    (link,) = re.findall(r'href="(/notices/[0-9a-f-]{36}/)"', page)

    answer = client.get(link)

    assert (answer.status_code, answer.headers["Location"]) == (302, f"/p/{project.uuid}/label/")
    assert bell(client.get(url("notices")).content.decode()) == "Notices"


def test_times_are_in_the_viewer_s_zone(project, anna, client_of):
    User.objects.update(time_zone="Asia/Tokyo")
    at = timezone.now().replace(hour=1, minute=2, second=3, microsecond=0)
    version = project.versions.get()
    version.published_at = at
    version.save()
    Membership.objects.update(joined_at=at - timedelta(days=1))

    page = client_of(anna).get(url("notices")).content.decode()

    assert "T10:02:03+09:00" in page


# -- the frame ---------------------------------------------------------------------------------------------------------


def test_the_frame_counts_what_is_new_in_all_projects(project, anna, client_of):
    other = factories.member(factories.project("Second"), "anna")
    gone = factories.member(factories.project("Third"), "anna", active=False)
    make(anna, 2), make(other), make(gone), make(anna, over=True), make(anna, read_at=timezone.now())
    client = client_of(anna)

    assert bell(client.get(url("guideline", project.uuid)).content.decode()) == "Notices 3 new"
    anna.user.notices_off = {"page": ["guideline"]}
    anna.user.save()
    assert bell(client.get(url("guideline", project.uuid)).content.decode()) == "Notices"


def test_the_count_costs_no_query_on_a_project_s_page(project, anna, client_of):
    client, address, costs = client_of(anna), url("guideline", project.uuid), []
    client.get(address)
    for _more in range(2):
        with CaptureQueriesContext(connection) as queries:
            client.get(address)
        costs.append(sum("projects_notice" in query["sql"] for query in queries))
        make(anna, 5)

    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    of_switch = [query["sql"] for query in queries if "projects_notice" in query["sql"]]
    assert costs == [1, 1]
    assert '"projects_membership"."joined_at"' in of_switch[0]  # the one that the frame needs anyway


def test_the_labelling_page_knows_nothing_of_notices(project, lead, anna, client_of):
    """Neither a byte nor a query: it is the same whether there is one or not."""
    factories.items(project, 4)
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))
    serving.next_task(anna, at=timezone.now())
    client, pages = client_of(anna), []
    address = reverse("annotations:label", args=[project.uuid])
    client.get(address)
    for _more in range(2):
        with CaptureQueriesContext(connection) as queries:
            page = client.get(address).content.decode()
        page = re.sub(r"csrfmiddlewaretoken\" value=\"\w+|X-CSRFToken\": \"\w+", "", page)
        pages.append((page, len(queries), any("projects_notice" in query["sql"] for query in queries)))
        make(anna, 3)

    assert pages[0] == pages[1]
    assert pages[0][2] is False
    assert bell(pages[0][0]) == ""


def test_the_page_costs_the_same_with_one_and_with_three_rows(project, lead, anna, ben, client_of):
    said = {f"case {n}": ["praise", "complaint"] for n in range(3)}
    disputes.rated(project, [anna, ben], said)
    asked = {"by": lead, "reason": "Look again", "at": timezone.now()}
    hers = Annotation.objects.filter(member=anna).order_by("pk")
    client, costs = client_of(anna), []
    for rows in (hers[:1], hers[1:]):
        for row in rows:
            SentBack.objects.create(annotation=row, case=row.wave_item.cases.get(), **asked)
        client.get(url("notices"))
        with CaptureQueriesContext(connection) as queries:
            page = client.get(url("notices")).content.decode()
        costs.append((len(queries), page.count("You are asked to look at one of your labels again.")))

    assert costs == [(costs[0][0], 1), (costs[0][0], 3)]
    assert costs[0][0] < 20


# -- settings ----------------------------------------------------------------------------------------------------------


def test_a_form_saves_what_one_is_told(anna, client_of):
    client = client_of(anna)

    page = client.get(url("notices-settings")).content.decode()
    saved = client.post(url("notices-settings"), {"page": ["work"], "mail": [], "pace": "weekly"})

    assert (page.count("checkbox"), page.count(" checked")) == (8, 9)
    assert saved.headers["Location"] == url("notices-settings")
    anna.user.refresh_from_db()
    assert anna.user.notices_off == {
        "page": ["guideline", "answer", "sent_back"],
        "mail": ["work", "guideline", "answer", "sent_back"],
    }
    assert client.get(url("notices-settings")).content.decode().count(" checked") == 2


@pytest.mark.parametrize("form", [{"pace": "hourly"}, {"pace": "daily", "page": ["conflicts"]}, {}])
def test_what_cannot_be_chosen_is_refused(anna, client_of, form):
    assert client_of(anna).post(url("notices-settings"), form).status_code == 422
    anna.user.refresh_from_db()
    assert anna.user.notices_off == {}


def test_the_page_says_whether_mail_leaves_this_server(anna, client_of, settings):
    said = []
    for address in ("", "smtp://mail.example.org"):
        settings.EMAIL_URL = address
        said.append("anna@example.org" in client_of(anna).get(url("notices-settings")).content.decode())

    assert said == [False, True]


def test_the_account_leads_to_it(anna, client_of):
    assert url("notices-settings") in client_of(anna).get(url("account")).content.decode()
