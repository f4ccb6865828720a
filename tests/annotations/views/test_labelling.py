"""The labelling page and one's own work, over HTTP: with and without JavaScript, right and wrong, mine and not mine."""

import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotations import draws, labelling, publishing, releasing, serving
from annotations.models import Annotation, Assignment, Inquiry, Revision, Wave
from projects.models import GuidelineVersion, Item, LabelStyle, Membership, Project
from tests import factories

HX = {"HX-Request": "true"}


@pytest.fixture
def wave(project: Project, lead: Membership) -> Wave:
    factories.items(project, 30)
    return releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(20))


def url(name: str, member: Membership, *args: object) -> str:
    return reverse(f"annotations:{name}", args=[member.project.uuid, *args])


def held(member: Membership) -> Assignment:
    task = serving.next_task(member, at=timezone.now())
    assert isinstance(task, serving.Task)
    return Assignment.objects.select_related("item").get(uuid=task.assignment)


def given(member: Membership, value: str = "complaint", comment: str = "") -> Annotation:
    saved = labelling.submit(member, held(member).uuid, answers={"intent": value}, comment=comment, at=timezone.now())
    return Annotation.objects.get(uuid=saved.annotation)


# -- the page ----------------------------------------------------------------------------------------------------------


def test_label_shows_the_item_its_labels_and_their_rules(wave, anna, client_of):
    LabelStyle.objects.create(
        project=wave.project, question_key="intent", label_key="praise", colour="#0072B2", hotkey="p"
    )

    page = client_of(anna).get(url("label", anna)).content.decode()

    assert held(anna).item.content["text"] in page
    assert re.findall(r'type="radio" name="answer-intent" value="(\w+)" id="[^"]+" data-key="(\w)"', page) == [
        ("complaint", "1"),
        ("praise", "p"),
        ("question", "3"),
    ]
    assert "It is complaint." in page
    assert "0 done, about" in page
    assert "for your next 10 items or 30 minutes" in page


def test_label_is_never_cached_and_varies_by_who_asks(wave, anna, client_of):
    response = client_of(anna).get(url("label", anna))

    assert "no-store" in response["Cache-Control"]
    assert "HX-Request" in response["Vary"]


def test_fields_stand_in_the_project_s_order_with_their_names(project, lead, anna, client_of):
    project.shown_fields = ["question", "answer"]
    project.save()
    factories.items(project, 1)
    Item.objects.update(content={"answer": "Because.", "question": "Why?"})
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))

    page = client_of(anna).get(url("label", anna)).content.decode()

    assert [page.index(word) for word in ("question</h2>", "Why?", "answer</h2>", "Because.")] == sorted(
        page.index(word) for word in ("question</h2>", "Why?", "answer</h2>", "Because.")
    )


def test_item_text_is_escaped_and_takes_its_own_direction(project, lead, anna, client_of):
    factories.items(project, 1)
    Item.objects.update(content={"text": "<script>alert(1)</script> שלום"})
    releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))

    page = client_of(anna).get(url("label", anna)).content.decode()

    assert '<div class="item-text" dir="auto" data-text="text">&lt;script&gt;alert(1)&lt;/script&gt; שלום</div>' in page


def test_who_has_not_read_the_guideline_is_sent_to_it(wave, project, client_of):
    carl = factories.member(project, "carl", acknowledged=None)
    client = client_of(carl)

    plain, fetched = client.get(url("label", carl)), client.get(url("label", carl), headers=HX)

    assert (plain.status_code, plain["Location"]) == (302, url("acknowledge", carl))
    assert fetched["HX-Redirect"] == url("acknowledge", carl)


@pytest.mark.parametrize("code", ["no_wave", "held", "others"])
def test_an_empty_queue_says_why_and_what_to_do(project, lead, anna, client_of, code):
    if code != "no_wave":
        factories.items(project, 1)
        opened = releasing.open_wave(project, by=lead, at=timezone.now(), share_percent=Decimal(0))
        Wave.objects.filter(pk=opened.pk).update(held=code == "held")
    if code == "others":
        serving.next_task(factories.member(project, "carl"), at=timezone.now())

    page = client_of(anna).get(url("label", anna)).content.decode()

    assert f'data-code="{code}"' in page
    assert url("my-work", anna) in page


# -- submit ------------------------------------------------------------------------------------------------------------


def test_submit_of_a_plain_form_saves_and_goes_on_by_redirect(wave, anna, client_of):
    assignment = held(anna)
    form = {"answer-intent": "praise", "comment": "clear\r\nenough", "seconds": ""}

    response = client_of(anna).post(url("label-submit", anna, assignment.uuid), form)

    assert (response.status_code, response["Location"]) == (302, url("label", anna))
    row = Annotation.objects.get()
    assert (row.answers, row.comment, row.assignment) == ({"intent": "praise"}, "clear\nenough", assignment)


def test_submit_by_the_page_answers_with_the_next_item(wave, anna, client_of):
    assignment = held(anna)
    form = {"answer-intent": "praise", "seconds": "4.5"}
    Assignment.objects.update(served_at=timezone.now() - timedelta(minutes=1))

    response = client_of(anna).post(url("label-submit", anna, assignment.uuid), form, headers=HX)

    fragment = response.content.decode()
    assert fragment.startswith('<section id="task"')
    assert held(anna).item.content["text"] in fragment
    assert assignment.item.content["text"] not in fragment
    assert "1 done" in fragment
    assert Annotation.objects.get().seconds == 4.5


def test_submit_repeated_saves_once_and_says_so_only_where_it_differs(wave, anna, client_of):
    client, address = client_of(anna), url("label-submit", anna, held(anna).uuid)

    replies = [
        client.post(address, {"answer-intent": value}, headers=HX).content.decode()
        for value in ("praise", "praise", "complaint")
    ]

    assert list(Annotation.objects.values_list("answers__intent", flat=True)) == ["praise"]
    assert ["that label stands" in reply for reply in replies] == [False, False, True]
    assert all("1 done" in reply for reply in replies)


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({}, "has no answer"),
        ({"answer-intent": "spam"}, "not a label"),
        ({"answer-intent": ["praise", "complaint"]}, "Found"),
    ],
)
@pytest.mark.parametrize("headers", [{}, HX])
def test_a_wrong_answer_comes_back_beside_its_question_with_all_that_was_typed(
    wave, anna, client_of, answers, sentence, headers
):
    assignment = held(anna)
    form = {**answers, "comment": "I am not sure"}

    response = client_of(anna).post(url("label-submit", anna, assignment.uuid), form, headers=headers)

    page = response.content.decode()
    assert response.status_code == 422
    problem = re.search(r'id="q1-problem" role="alert">([^<]*)<', page)
    assert problem
    assert sentence in problem[1]
    assert "I am not sure</textarea>" in page
    assert assignment.item.content["text"] in page
    assert not Annotation.objects.exists()


def test_a_comment_that_is_too_long_comes_back_with_the_answer_kept(wave, anna, client_of):
    form = {"answer-intent": "praise", "comment": "x" * 6_000}

    response = client_of(anna).post(url("label-submit", anna, held(anna).uuid), form, headers=HX)

    page = response.content.decode()
    assert response.status_code == 422
    assert "6000 characters" in page
    assert re.search(r'value="praise" id="[^"]+" checked', page)


def test_a_question_that_the_guideline_has_not_is_refused_for_the_form(wave, anna, client_of):
    form = {"answer-intent": "praise", "answer-mood": "sour"}

    response = client_of(anna).post(url("label-submit", anna, held(anna).uuid), form, headers=HX)

    assert response.status_code == 422
    assert "“mood” is no question" in response.content.decode()


def test_an_optional_question_may_be_left_out(wave, version, anna, client_of):
    factories.question(version, "tone", ["dry", "warm"], required=False)

    client_of(anna).post(url("label-submit", anna, held(anna).uuid), {"answer-intent": "praise", "answer-tone": ""})

    assert Annotation.objects.get().answers == {"intent": "praise"}


def test_a_form_of_an_old_version_is_kept_under_it_and_the_new_one_is_asked_to_be_read(
    wave, project, version, lead, anna, client_of
):
    stale = held(anna)
    GuidelineVersion.objects.filter(pk=version.pk).update(digest="")
    draws.close_wave(wave, by=lead, at=timezone.now(), reason="a new guideline")
    factories.version(project, 2, 0)

    response = client_of(anna).post(url("label-submit", anna, stale.uuid), {"answer-intent": "praise"}, headers=HX)

    assert response["HX-Redirect"] == url("acknowledge", anna)
    row = Annotation.objects.get()
    assert (row.version, row.slot) == (version, None)
    assert publishing.must_acknowledge(anna) is not None


def test_a_get_of_a_submit_address_leads_back_to_the_page(wave, anna, client_of):
    """Where a log-in in the middle of a submit ends."""
    client = client_of(anna)

    for name in ("label-submit", "label-skip"):
        response = client.get(url(name, anna, held(anna).uuid))
        assert (response.status_code, response["Location"]) == (302, url("label", anna))


def test_an_expired_log_in_is_a_redirect_that_the_page_can_tell(wave, anna, client):
    address = url("label-submit", anna, held(anna).uuid)

    response = client.post(address, {"answer-intent": "praise"}, headers=HX)

    assert (response.status_code, response["Location"]) == (302, f"{reverse('projects:login')}?next={address}")
    assert not Annotation.objects.exists()


# -- skip and draft ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["label-submit", "label-skip", "label-draft", "label-ask"])
def test_a_page_opened_for_somebody_else_does_nothing(wave, anna, ben, client_of, name):
    """Ben has logged in on anna's page: it is told, and can keep what anna gave."""
    address = url(name, anna, held(anna).uuid)
    sent = {"answer-intent": "praise", "reason": "other", "text": "Why?"}

    answer = client_of(ben).post(address, sent, headers=HX | {"X-Opened-For": str(anna.user_id)})

    assert (answer.status_code, Annotation.objects.count(), Inquiry.objects.count()) == (403, 0, 0)
    assert '<p data-another="ben">ben is logged in here now.' in answer.content.decode()
    mine = client_of(anna).post(address, sent, headers=HX | {"X-Opened-For": str(anna.user_id)})
    assert mine.status_code in (200, 204)


@pytest.mark.parametrize("headers", [{}, HX])
def test_skip_with_a_reason_goes_on(wave, anna, client_of, headers):
    skipped = held(anna)

    response = client_of(anna).post(
        url("label-skip", anna, skipped.uuid), {"reason": "guideline", "comment": "torn"}, headers=headers
    )

    skipped.refresh_from_db()
    assert response.status_code == (200 if headers else 302)
    assert (skipped.state, skipped.skip_reason, skipped.skip_note) == ("skipped", "guideline", "torn")
    assert held(anna).item != skipped.item


def test_skip_without_a_reason_we_know_comes_back(wave, anna, client_of):
    assignment = held(anna)

    response = client_of(anna).post(url("label-skip", anna, assignment.uuid), {"reason": "bored"})

    assert response.status_code == 422
    assert "bored" in response.content.decode()
    assert held(anna) == assignment


def test_a_draft_comes_back_with_the_page(wave, anna, client_of):
    client, assignment = client_of(anna), held(anna)
    draft = {"answer-intent": "praise", "comment": "half a th\x00ought", "typed_at": "1700000000000"}

    response = client.post(url("label-draft", anna, assignment.uuid), draft, headers=HX)

    page = client.get(url("label", anna)).content.decode()
    assert response.status_code == 204
    assert "half a thought</textarea>" in page
    assert re.search(r'value="praise" id="[^"]+" checked', page)
    assert 'data-typed-at="1700000000000"' in page


def test_a_draft_of_nonsense_is_cut_to_size(wave, anna, client_of):
    assignment = held(anna)
    draft = {"answer-intent": "a" * 200_000, "answer-color": "red", "comment": "x" * 50_000, "typed_at": "-1"}

    client_of(anna).post(url("label-draft", anna, assignment.uuid), draft)

    assignment.refresh_from_db()
    assert assignment.draft == {"answers": {"color": "red"}, "comment": "x" * 20_000, "typed_at": 0}


# -- undo --------------------------------------------------------------------------------------------------------------


def test_undo_shows_the_last_label_and_again_the_one_before(wave, anna, client_of):
    first, second = given(anna), given(anna, "praise", "hm")
    client = client_of(anna)

    last = client.get(url("label-undo", anna), headers=HX).content.decode()
    before = client.get(url("label-undo", anna), {"before": str(second.uuid)}, headers=HX).content.decode()
    nothing = client.get(url("label-undo", anna), {"before": str(first.uuid)}, headers=HX)

    assert second.item.content["text"] in last
    assert re.search(r'value="praise" id="[^"]+" checked', last)
    assert first.item.content["text"] in before
    assert (nothing.status_code, "first label you gave" in nothing.content.decode()) == (404, True)


def test_undo_before_anything_was_labelled_says_so(wave, anna, client_of):
    response = client_of(anna).get(url("label-undo", anna))

    assert response.status_code == 404
    assert "not labelled anything yet" in response.content.decode()


@pytest.mark.parametrize("headers", [{}, HX])
def test_correct_saves_a_revision_and_goes_on_with_the_item_in_hand(wave, anna, client_of, headers):
    row, assignment = given(anna), held(anna)

    response = client_of(anna).post(url("label-correct", anna, row.uuid), {"answer-intent": "praise"}, headers=headers)

    row.refresh_from_db()
    assert (row.latest, row.answers) == ({"intent": "praise"}, {"intent": "praise"})
    assert response.status_code == (200 if headers else 302)
    if headers:
        assert assignment.item.content["text"] in response.content.decode()


def test_correct_with_a_wrong_answer_comes_back(wave, anna, client_of):
    row = given(anna)

    response = client_of(anna).post(url("label-correct", anna, row.uuid), {"answer-intent": "spam"}, headers=HX)

    assert response.status_code == 422
    assert 'id="q1-problem"' in response.content.decode()
    assert Revision.objects.count() == 1


def test_a_correction_says_whether_it_still_counts(wave, anna, client_of):
    row, client = given(anna), client_of(anna)
    within = client.get(url("label-correct", anna, row.uuid)).content.decode()
    Annotation.objects.update(window_ends=timezone.now() - timedelta(seconds=1))

    after = client.get(url("label-correct", anna, row.uuid)).content.decode()

    assert "still counts" in within
    assert "It is kept beside it" in after


# -- my work -----------------------------------------------------------------------------------------------------------


def test_history_shows_one_s_own_newest_first_and_nobody_else_s(wave, anna, ben, client_of):
    mine, theirs = [given(anna), given(anna, "praise", "short and sweet")], given(ben)

    page = client_of(anna).get(url("my-work", anna)).content.decode()

    assert re.findall(r'<li id="label-([-\w]+)"', page) == [str(mine[1].uuid), str(mine[0].uuid)]
    assert "short and sweet" in page
    assert str(theirs.uuid) not in page


def test_history_by_label(wave, anna, client_of):
    given(anna)
    praised = given(anna, "praise")
    client = client_of(anna)

    page = client.get(url("my-work", anna), {"label": "intent:praise"}).content.decode()

    assert re.findall(r'<li id="label-([-\w]+)"', page) == [str(praised.uuid)]
    assert "to no item" in client.get(url("my-work", anna), {"label": "intent:question"}).content.decode()
    assert client.get(url("my-work", anna), {"label": "in\x00tent:x\x00"}).status_code == 200


def test_history_goes_on_by_key(wave, anna, client_of, monkeypatch):
    monkeypatch.setattr("annotations.views.work.PAGE", 2)
    rows = [given(anna) for _ in range(3)]
    client = client_of(anna)
    first = client.get(url("my-work", anna)).content.decode()

    second = client.get(url("my-work", anna), {"before": re.search(r"before=(\d+)", first)[1]}).content.decode()

    assert re.findall(r'<li id="label-([-\w]+)"', first) == [str(rows[2].uuid), str(rows[1].uuid)]
    assert re.findall(r'<li id="label-([-\w]+)"', second) == [str(rows[0].uuid)]
    assert client.get(url("my-work", anna), {"before": "x"}).status_code == 404


def test_history_costs_the_same_with_one_label_and_with_three(wave, anna, client_of):
    client, counts = client_of(anna), []
    client.get(url("my-work", anna))  # colours and keys are read once
    for more in (1, 2):
        for _ in range(more):
            given(anna)
        with CaptureQueriesContext(connection) as queries:
            client.get(url("my-work", anna))
        counts.append(len(queries))

    assert counts[0] == counts[1] < 20


@pytest.mark.parametrize("headers", [{}, HX])
def test_a_label_is_corrected_in_my_work(wave, anna, client_of, headers):
    row, client = given(anna), client_of(anna)
    form = client.get(url("my-label", anna, row.uuid), headers=headers).content.decode()

    response = client.post(url("my-label", anna, row.uuid), {"answer-intent": "question"}, headers=headers)

    row.refresh_from_db()
    assert row.item.content["text"] in form
    assert row.latest == {"intent": "question"}
    if headers:
        assert '<strong dir="auto">question</strong>' in response.content.decode()
    else:
        assert (response.status_code, response["Location"]) == (302, url("my-work", anna))


def test_a_wrong_correction_in_my_work_comes_back(wave, anna, client_of):
    row = given(anna)

    response = client_of(anna).post(url("my-label", anna, row.uuid), {"answer-intent": "spam"}, headers=HX)

    assert response.status_code == 422
    assert response.content.decode().startswith(f'<li id="label-{row.uuid}"')


def test_skips_are_listed_with_their_reasons(wave, anna, ben, client_of):
    skipped = held(anna)
    labelling.skip(anna, skipped.uuid, reason="distressing", note="not today", at=timezone.now())
    labelling.skip(ben, held(ben).uuid, reason="other", note="his own", at=timezone.now())

    page = client_of(anna).get(url("my-skips", anna)).content.decode()

    assert skipped.item.content["text"] in page
    assert "I would rather not read this" in page
    assert ("not today" in page, "his own" in page) == (True, False)


# -- whose it is -------------------------------------------------------------------------------------------------------


def test_another_s_assignments_and_labels_do_not_exist(wave, anna, ben, client_of):
    theirs, row = held(ben), given(ben)
    theirs = held(ben)
    client, form = client_of(anna), {"answer-intent": "praise", "reason": "other"}

    statuses = [
        client.post(url("label-submit", anna, theirs.uuid), form).status_code,
        client.post(url("label-skip", anna, theirs.uuid), form).status_code,
        client.post(url("label-draft", anna, theirs.uuid), form).status_code,
        client.post(url("label-correct", anna, row.uuid), form).status_code,
        client.get(url("label-correct", anna, row.uuid)).status_code,
        client.get(url("label-undo", anna), {"before": str(row.uuid)}).status_code,
        client.get(url("label-undo", anna), {"before": "soon"}).status_code,
        client.post(url("my-label", anna, row.uuid), form).status_code,
        client.post(url("label-submit", anna, uuid4()), form).status_code,
    ]

    assert statuses == [404] * 9
    theirs.refresh_from_db()
    assert (theirs.state, Annotation.objects.count()) == ("open", 1)


def test_ids_of_another_project_do_not_exist_in_this_one(wave, anna, client_of):
    other = factories.project("Neighbour")
    factories.version(other)
    there = factories.member(other, "anna")
    boss = factories.member(other, "lea", "lead")
    factories.items(other, 3, prefix="neighbour")
    releasing.open_wave(other, by=boss, at=timezone.now(), share_percent=Decimal(0))
    assignment, row = held(there), None
    client = client_of(anna)

    response = client.post(url("label-submit", anna, assignment.uuid), {"answer-intent": "praise"})
    row = given(there)

    assert response.status_code == 404
    assert client.get(url("my-label", anna, row.uuid)).status_code == 404
    assert "neighbour" not in client.get(url("my-work", anna)).content.decode()
    assert "neighbour" not in client.get(url("label", anna)).content.decode()


PAGES = ["label", "my-work", "my-skips"]


@pytest.mark.parametrize(
    ("who", "status"), [("admin", 403), ("lead", 403), ("anna", 200), ("outsider", 404), ("nobody", 302)]
)
@pytest.mark.parametrize("name", PAGES)
def test_access(request, wave, anna, client, client_of, name, who, status):
    visitor = client if who == "nobody" else client_of(request.getfixturevalue(who))

    assert visitor.get(url(name, anna)).status_code == status


def test_a_member_who_was_removed_saves_nothing_more(wave, anna, client_of):
    address = url("label-submit", anna, held(anna).uuid)
    Membership.objects.filter(pk=anna.pk).update(active=False)

    assert client_of(anna).post(address, {"answer-intent": "praise"}).status_code == 404
    assert not Annotation.objects.exists()
