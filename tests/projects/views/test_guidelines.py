"""The guideline's pages: who may see which, what they show, and that a draft is written without JavaScript."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from projects import drafts, guidelines, labels, styles
from projects.models import Example, GuidelineVersion
from projects.styles import Style
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead)


@pytest.fixture
def example(draft, lead) -> Example:
    return guidelines.add_example(
        draft,
        question_key="intent",
        content={"text": "Fix it or I sue"},
        value="complaint",
        confused_with="praise",
        rationale="because",
        by=lead,
    )


def url(name, project, *args):
    return reverse(f"projects:{name}", args=[project.uuid, *args])


READ = ("guideline", "guideline-versions")
DRAFT = (
    "guideline-draft",
    "guideline-draft-changes",
    "guideline-draft-discard",
    "guideline-questions",
    "guideline-question-new",
    "guideline-examples",
)


def every_page(project, version, example):
    """(name, arguments, for writers only) of every page that answers to GET."""
    return [
        *((name, (), False) for name in READ),
        ("guideline-version", (version.uuid,), False),
        ("guideline-differences", (version.uuid, version.uuid), False),
        *((name, (), True) for name in DRAFT),
        ("guideline-differences", (version.uuid, example.version.uuid), True),
        ("guideline-question", ("intent",), True),
        ("guideline-question-remove", ("intent",), True),
        ("guideline-label", ("intent", "praise"), True),
        ("guideline-label-remove", ("intent", "praise"), True),
        ("guideline-styles", ("intent",), True),
        ("guideline-example-new", ("intent",), True),
        ("guideline-example", (example.uuid,), True),
        ("guideline-example-remove", (example.uuid,), True),
    ]


def test_every_page_opens_for_those_who_may_and_for_nobody_else(
    version, example, admin, lead, anna, outsider, client_of, client
):
    found = []
    for name, args, writers_only in every_page(version.project, version, example):
        address = url(name, version.project, *args)
        answers = [client_of(who).get(address).status_code for who in (admin, lead, anna, outsider)]
        # A draft that an annotator asks for by its address does not exist for them; its pages they may not open.
        denied = {404} if name == "guideline-differences" else {403}
        fits = answers[:2] == [200, 200] and answers[2] in (denied if writers_only else {200}) and answers[3] == 404
        login = client.get(address)
        if not fits or login.status_code != 302 or "/login/" not in login["Location"]:
            found.append((name, args, answers, login.status_code))
    assert found == []


WRITES = (
    ("guideline-draft-start", ()),
    ("guideline-draft-text", ()),
    ("guideline-draft-preview", ()),
    ("guideline-draft-autosave", ()),
    ("guideline-draft-discard", ()),
    ("guideline-question-new", ()),
    ("guideline-question", ("intent",)),
    ("guideline-question-move", ("intent",)),
    ("guideline-question-remove", ("intent",)),
    ("guideline-labels-add", ("intent",)),
    ("guideline-label", ("intent", "praise")),
    ("guideline-label-move", ("intent", "praise")),
    ("guideline-label-remove", ("intent", "praise")),
    ("guideline-styles", ("intent",)),
    ("guideline-example-new", ("intent",)),
)


@pytest.mark.parametrize(("name", "args"), WRITES)
def test_only_those_who_write_the_guideline_may_post(version, draft, anna, outsider, client_of, client, name, args):
    before = guidelines.digest(draft)
    address = url(name, version.project, *args)
    answers = [client_of(anna).post(address).status_code, client_of(outsider).post(address).status_code]
    assert answers == [403, 404]
    assert client.post(address).status_code == 302
    assert guidelines.digest(drafts.current(version.project)) == before


def test_a_neighbours_versions_and_examples_do_not_exist_here(version, draft, lead, client_of):
    neighbour = factories.project("Elsewhere")
    theirs = factories.version(neighbour, text="SECRET rules")
    boss = factories.member(neighbour, "boss", "lead")
    their_draft = drafts.draft_of(neighbour, by=boss)
    their_example = guidelines.add_example(
        their_draft, question_key="intent", content={"text": "SECRET case"}, value="praise", by=boss
    )
    client = client_of(lead)
    for name, args in (
        ("guideline-version", (theirs.uuid,)),
        ("guideline-differences", (version.uuid, theirs.uuid)),
        ("guideline-differences", (theirs.uuid, version.uuid)),
        ("guideline-example", (their_example.uuid,)),
        ("guideline-example-remove", (their_example.uuid,)),
    ):
        assert client.get(url(name, version.project, *args)).status_code == 404, name
    for name in (*READ, *DRAFT):
        assert b"SECRET" not in client.get(url(name, version.project)).content
    assert client.post(url("guideline-example-remove", version.project, their_example.uuid)).status_code == 404


def test_an_annotator_never_meets_the_draft(version, draft, example, anna, client_of):
    drafts.save_text(draft, text="UNPUBLISHED rules", revision=draft.revision, by=example.version.created_by)
    client = client_of(anna)
    for address in (
        *(url(name, version.project) for name in READ),
        url("guideline-version", version.project, version.uuid),
    ):
        page = client.get(address).content.decode()
        assert "UNPUBLISHED" not in page
        assert "draft" not in page
        assert "I sue" not in page
    assert client.get(url("guideline-version", version.project, draft.uuid)).status_code == 404


def test_before_the_first_version_everybody_learns_what_comes_next(project, client_of):
    boss, anna = factories.member(project, "boss", "lead"), factories.member(project, "anna")
    writer, reader = client_of(boss).get(url("guideline", project)), client_of(anna).get(url("guideline", project))
    assert "Write the first guideline" in writer.content.decode()
    assert "not published yet" in reader.content.decode()
    assert "Write the first guideline" not in reader.content.decode()


def test_a_first_guideline_is_written_with_forms_alone(project, client_of):
    boss = factories.member(project, "boss", "lead")
    client = client_of(boss)
    client.post(url("guideline-draft-start", project))
    draft = drafts.current(project)
    send = {"draft": str(draft.uuid)}
    client.post(
        url("guideline-draft-text", project), send | {"revision": draft.revision, "text": "# Rules\r\n\r\nRead it."}
    )
    asked = send | {
        "text": "How alike?",
        "task_type": "ordinal",
        "required": "on",
        "labels": "-1: far: apart\n0\n\n１：全角",
    }
    answer = client.post(url("guideline-question-new", project), asked)
    assert answer.status_code == 302, answer.content.decode()
    read = guidelines.reading(drafts.current(project))
    question = read.question("how-alike")
    assert [(one.name, one.definition, one.value) for one in question.labels] == [
        ("-1", "far: apart", -1.0),
        ("0", "", 0.0),
        ("１", "全角", 1.0),
    ]
    page = client.get(url("guideline-draft", project)).content.decode()
    assert "Write a definition for every label" in page
    assert guidelines.problems(drafts.current(project)) == []


def test_the_newest_version_is_shown_with_rules_keys_and_examples(version, draft, lead, example, anna, client_of):
    guidelines.publish(draft, change="material", reason="More to show", by=lead, at=factories.NOW)
    page = client_of(anna).get(url("guideline", version.project)).content.decode()
    for wanted in (
        "Guideline 2.0",
        "More to show",
        "2 Mar 2026",
        "It is praise.",
        '<kbd class="kbd">2</kbd>',
        "#56B4E9",
        "Fix it or I sue",
        "What changed since 1.0",
    ):
        assert wanted in page, wanted
    old = client_of(anna).get(url("guideline-version", version.project, version.uuid)).content.decode()
    assert "This is an older version; 2.0 is the one that holds now." in old


def test_markup_in_names_and_texts_is_shown_as_text(version, draft, lead, client_of):
    evil = "<script>alert(1)</script>"
    drafts.save_text(draft, text=evil, revision=draft.revision, by=lead)
    question = draft.questions.get()
    labels.edit_question(question, text=evil, help=evil, task_type="nominal", by=lead)
    made = labels.add_label(question, name=evil, definition=evil, by=lead)
    guidelines.add_example(
        draft, question_key="intent", content={"text": evil}, value=made.key, rationale=evil, by=lead
    )
    client = client_of(lead)
    for name in DRAFT:
        assert "<script>alert" not in client.get(url(name, version.project)).content.decode(), name
    guidelines.publish(draft, change="material", reason=evil, by=lead, at=factories.NOW)
    for name in READ:
        assert "<script>alert" not in client.get(url(name, version.project)).content.decode(), name


def test_a_stale_text_comes_back_beside_the_one_that_stands(version, draft, lead, client_of):
    send = {"draft": draft.uuid, "revision": draft.revision}
    client = client_of(lead)
    assert client.post(url("guideline-draft-text", version.project), send | {"text": "THEIRS"}).status_code == 302
    answer = client.post(url("guideline-draft-text", version.project), send | {"text": "MINE"})
    page = answer.content.decode()
    assert answer.status_code == 409
    assert (page.count("THEIRS") >= 1, page.count("MINE") >= 1) == (True, True)
    draft.refresh_from_db()
    again = client.post(
        url("guideline-draft-text", version.project), send | {"revision": draft.revision, "text": "MINE"}
    )
    draft.refresh_from_db()
    assert (again.status_code, draft.text) == (302, "MINE")


def test_what_was_written_for_a_discarded_draft_comes_back_and_lands_in_no_other(version, draft, lead, client_of):
    send = {"draft": draft.uuid, "revision": draft.revision, "text": "A day of work"}
    drafts.discard(draft, by=lead)
    following = drafts.draft_of(version.project, by=lead)
    answer = client_of(lead).post(url("guideline-draft-text", version.project), send)
    following.refresh_from_db()
    assert (answer.status_code, "A day of work" in answer.content.decode()) == (409, True)
    assert following.text == version.text


def test_a_form_of_an_old_draft_changes_nothing_in_the_next(version, draft, lead, client_of):
    old = draft.uuid
    drafts.discard(draft, by=lead)
    following = drafts.draft_of(version.project, by=lead)
    client = client_of(lead)
    before = guidelines.digest(following)
    for name, args in WRITES:
        if name not in ("guideline-draft-start", "guideline-styles"):
            answer = client.post(url(name, version.project, *args), {"draft": old, "to": "2"})
            assert answer.status_code == 409, name
    assert guidelines.digest(drafts.current(version.project)) == before


def test_pages_of_a_draft_that_is_not_there_lead_to_the_guideline(version, lead, client_of):
    client = client_of(lead)
    for name in DRAFT:
        answer = client.get(url(name, version.project))
        assert (answer.status_code, answer["Location"]) == (302, url("guideline", version.project)), name


def test_preview_shows_what_it_was_sent_and_saves_nothing(version, draft, lead, client_of):
    client = client_of(lead)
    fragment = client.post(url("guideline-draft-preview", version.project), {"text": "**bold** <b>x</b>"})
    whole = client.post(
        url("guideline-draft-text", version.project),
        {"draft": draft.uuid, "revision": draft.revision, "text": "**bold**", "preview": "1"},
    )
    draft.refresh_from_db()
    assert fragment.content.decode().strip() == (
        '<div id="preview" class="prose" dir="auto"><p><strong>bold</strong> &lt;b&gt;x&lt;/b&gt;</p>\n</div>'
    )
    assert "<strong>bold</strong>" in whole.content.decode()
    assert draft.text == version.text


def test_labels_are_added_moved_changed_and_removed_with_forms(version, draft, lead, client_of):
    client, send = client_of(lead), {"draft": draft.uuid}
    client.post(
        url("guideline-labels-add", version.project, "intent"), send | {"intent-labels": "Threat: or else\nمدح"}
    )
    client.post(url("guideline-label-move", version.project, "intent", "threat"), send | {"to": "0"})
    client.post(
        url("guideline-label", version.project, "intent", "praise"), send | {"name": "Compliment", "definition": "Nice"}
    )
    client.post(url("guideline-label-remove", version.project, "intent", "question"), send)
    rows = draft.questions.get().labels.values_list("key", "name", "definition")
    assert list(rows) == [
        ("threat", "Threat", "or else"),
        ("complaint", "complaint", "It is complaint."),
        ("praise", "Compliment", "Nice"),
        ("label-1", "مدح", ""),
    ]


@pytest.mark.parametrize(
    ("name", "args", "sent", "said"),
    [
        ("guideline-labels-add", ("intent",), {"intent-labels": "praise"}, "“praise” already"),
        ("guideline-labels-add", ("intent",), {"intent-labels": ""}, "required"),
        ("guideline-label", ("intent", "praise"), {"name": "complaint"}, "“complaint” already"),
        ("guideline-label", ("intent", "praise"), {"name": "x", "value": "much"}, "number"),
        ("guideline-label", ("intent", "praise"), {"name": "x", "value": "inf"}, "number"),
        ("guideline-question", ("intent",), {"text": "", "task_type": "nominal"}, "required"),
        ("guideline-question", ("intent",), {"text": "x", "task_type": "essay"}, "valid choice"),
        ("guideline-question-new", (), {"text": "x", "task_type": "nominal", "key": "intent"}, "there already"),
        ("guideline-question-new", (), {"text": "x", "task_type": "nominal", "labels": "a\na"}, "“a” already"),
        ("guideline-example-new", ("intent",), {"content-0": " ", "value": "praise", "kind": "clear"}, "required"),
        ("guideline-example-new", ("intent",), {"content-0": "x", "value": "nope", "kind": "clear"}, "is not a label"),
        (
            "guideline-example-new",
            ("intent",),
            {"content-0": "x", "value": "praise", "confused_with": "praise", "kind": "clear"},
            "its own label",
        ),
    ],
)
def test_a_wrong_form_comes_back_with_the_reason_and_saves_nothing(
    version, draft, lead, client_of, name, args, sent, said
):
    before = guidelines.digest(draft)
    answer = client_of(lead).post(url(name, version.project, *args), sent | {"draft": draft.uuid})
    assert (answer.status_code, said in answer.content.decode()) == (422, True)
    assert guidelines.digest(draft) == before


def test_a_label_changed_by_two_shows_what_stands_and_what_was_written(version, draft, lead, client_of):
    client = client_of(lead)
    label = draft.questions.get().labels.get(key="praise")
    send = {"draft": draft.uuid, "seen": labels.stamp(label), "name": "praise"}
    address = url("guideline-label", version.project, "intent", "praise")
    assert client.post(address, send | {"definition": "THEIRS"}).status_code == 302
    answer = client.post(address, send | {"definition": "MINE"})
    page = answer.content.decode()
    assert (answer.status_code, "THEIRS" in page, "MINE" in page) == (409, True, True)
    label.refresh_from_db()
    assert label.definition == "THEIRS"
    again = client.post(address, send | {"definition": "MINE", "seen": labels.stamp(label)})
    label.refresh_from_db()
    assert (again.status_code, label.definition) == (302, "MINE")


def test_an_example_is_previewed_written_changed_and_removed(version, draft, lead, client_of):
    client, send = client_of(lead), {"draft": draft.uuid, "value": "praise", "kind": "near_miss", "rationale": "why"}
    address = url("guideline-example-new", version.project, "intent")
    preview = client.post(address, send | {"content-0": "قال شكرا", "preview": "1"})
    assert (preview.status_code, draft.examples.count()) == (200, 0)
    assert "As annotators will see it" in preview.content.decode()
    client.post(address, send | {"content-0": "قال شكرا", "confused_with": "question"})
    made = draft.examples.get()
    assert (made.content, made.value, made.confused_with, made.kind, made.rationale) == (
        {"text": "قال شكرا"},
        "praise",
        "question",
        "near_miss",
        "why",
    )
    client.post(
        url("guideline-example", version.project, made.uuid), send | {"content-0": "Thanks", "value": "complaint"}
    )
    made.refresh_from_db()
    assert (made.content, made.value, made.confused_with) == ({"text": "Thanks"}, "complaint", None)
    client.post(url("guideline-example-remove", version.project, made.uuid), send)
    assert draft.examples.count() == 0


def test_an_example_shows_every_field_that_items_show(version, draft, lead, client_of):
    project = version.project
    project.shown_fields = ["question1", "question2"]
    project.save()
    client = client_of(lead)
    client.post(
        url("guideline-example-new", project, "intent"),
        {"draft": draft.uuid, "content-0": "How?", "content-1": "Why?", "value": "praise", "kind": "clear"},
    )
    assert draft.examples.get().content == {"question1": "How?", "question2": "Why?"}


def test_examples_whose_label_is_gone_are_named_and_hold_publishing_up(version, draft, lead, example, client_of):
    client = client_of(lead)
    ask = client.get(url("guideline-label-remove", version.project, "intent", "praise")).content.decode()
    assert "1 example of the draft names it" in ask
    client.post(url("guideline-label-remove", version.project, "intent", "praise"), {"draft": draft.uuid})
    page = client.get(url("guideline-examples", version.project)).content.decode()
    assert "Examples without their label" in page
    assert "Publishing opens here once all that is needed is done." in page


def test_colours_and_keys_change_after_publishing_and_two_may_swap(version, lead, client_of):
    client = client_of(lead)
    sent = {"hotkey-complaint": "2", "hotkey-praise": "1", "hotkey-question": "3"}
    colours = {f"colour-{key}": "#0072B2" for key in ("complaint", "praise", "question")}
    address = url("guideline-styles", version.project, "intent")
    assert client.post(address, sent | colours).status_code == 302
    assert styles.chosen(version.project)[("intent", "praise")] == Style("#0072B2", "1")
    twice = client.post(address, sent | colours | {"hotkey-praise": "2"})
    assert (twice.status_code, "already that of" in twice.content.decode()) == (422, True)


def test_changes_of_the_draft_are_shown_in_place_by_words(version, draft, lead, example, client_of):
    drafts.save_text(draft, text=version.text + " Slowly.", revision=draft.revision, by=lead)
    page = client_of(lead).get(url("guideline-draft-changes", version.project)).content.decode()
    assert "<ins> Slowly.</ins>" in page
    assert "can only be published as material: 2.0" in page
    assert "Fix it or I sue" in page


def test_two_versions_are_compared_by_address(version, draft, lead, anna, client_of):
    drafts.save_text(draft, text="Other rules.", revision=draft.revision, by=lead)
    guidelines.publish(draft, change="editorial", reason="shorter", by=lead, at=factories.NOW)
    client = client_of(anna)
    answer = client.get(url("guideline-compare", version.project), {"old": version.uuid, "new": draft.uuid})
    assert answer["Location"] == url("guideline-differences", version.project, version.uuid, draft.uuid)
    assert "From 1.0 to 1.1" in client.get(answer["Location"]).content.decode()
    assert client.get(url("guideline-compare", version.project), {"old": "x"}).status_code == 404


def test_discarding_asks_first(version, draft, lead, client_of):
    client = client_of(lead)
    assert client.get(url("guideline-draft-discard", version.project)).status_code == 200
    assert drafts.current(version.project) == draft
    client.post(url("guideline-draft-discard", version.project), {"draft": draft.uuid})
    assert drafts.current(version.project) is None


@pytest.mark.parametrize("name", ["guideline", "guideline-versions", "guideline-questions", "guideline-examples"])
def test_pages_cost_the_same_with_more_to_show(version, draft, lead, client_of, name):
    def fill(count: int) -> None:
        for number in range(count):
            made = labels.add_question(
                draft,
                text=f"Question {number} of {count}?",
                task_type="nominal",
                labels=[labels.NewLabel("a", "A."), labels.NewLabel("b", "B.")],
                by=lead,
            )
            guidelines.add_example(
                draft, question_key=made.key, content={"text": f"{number} of {count}"}, value="a", by=lead
            )

    client, address = client_of(lead), url(name, version.project)
    fill(1)
    client.get(address)
    with CaptureQueriesContext(connection) as few:
        client.get(address)
    fill(3)
    for minor in range(1, 4):
        factories.version(version.project, 1, minor, based_on=version, published_by=lead)
    with CaptureQueriesContext(connection) as many:
        client.get(address)
    assert len(many) == len(few)


# -- saving while it is being written --------------------------------------------------------------------------------


def written(draft, text, **changes):
    return {"draft": str(draft.uuid), "revision": draft.revision, "text": text} | changes


def test_what_is_being_written_is_saved_and_the_page_stays(version, draft, lead, client_of):
    address = url("guideline-draft-autosave", version.project)

    first = client_of(lead).post(address, written(draft, "One"))
    second = client_of(lead).post(address, written(draft, "One two", revision=first.json()["revision"]))

    draft.refresh_from_db()
    assert (first.json(), second.json(), draft.text) == ({"revision": 2}, {"revision": 3}, "One two")


def test_saving_by_itself_replaces_nobodys_text(version, draft, lead, admin, client_of):
    form = written(draft, "Mine")
    drafts.save_text(draft, text="Theirs", revision=draft.revision, by=admin)

    answer = client_of(lead).post(url("guideline-draft-autosave", version.project), form)

    draft.refresh_from_db()
    assert (answer.status_code, answer.json()["code"], draft.text) == (409, "stale", "Theirs")


def test_saving_by_itself_into_another_draft_is_refused(version, draft, lead, client_of):
    form = written(draft, "Too late")
    drafts.discard(draft, by=lead)
    following = drafts.draft_of(version.project, by=lead)

    answer = client_of(lead).post(url("guideline-draft-autosave", version.project), form)

    following.refresh_from_db()
    assert (answer.status_code, answer.json()["code"], following.text) == (409, "draft_gone", version.text)


@pytest.mark.parametrize(("sent", "status"), [({"revision": "x"}, 422), ({"text": "a\x00b"}, 422)])
def test_what_cannot_be_saved_is_told(version, draft, lead, client_of, sent, status):
    answer = client_of(lead).post(url("guideline-draft-autosave", version.project), written(draft, "x") | sent)

    assert (answer.status_code, bool(answer.json()["message"])) == (status, True)


def test_two_texts_at_once_are_not_saved_by_themselves(version, draft, lead, admin, client_of):
    form = written(draft, "Mine")
    drafts.save_text(draft, text="Theirs", revision=draft.revision, by=admin)
    client = client_of(lead)

    assert "data-autosave" in client.get(url("guideline-draft", version.project)).content.decode()
    assert "data-autosave" not in client.post(url("guideline-draft-text", version.project), form).content.decode()


# -- examples by what they tell apart --------------------------------------------------------------------------------


def test_examples_stand_by_the_confusion_they_settle(version, draft, lead, client_of):
    def add(text, value, other=None):
        guidelines.add_example(
            draft, question_key="intent", content={"text": text}, value=value, confused_with=other, by=lead
        )

    add("First", "praise", "complaint")
    add("Second", "complaint", "praise")
    add("Third", "praise")

    (question,) = guidelines.reading(draft).questions

    assert [(one.title, [e.content["text"] for e in one.examples]) for one in question.confusions] == [
        ("complaint / praise", ["Second", "First"]),
        ("", ["Third"]),
    ]
    assert [label.key for label in question.without_example] == ["question"]
    page = client_of(lead).get(url("guideline-examples", version.project)).content.decode()
    assert page.index("complaint / praise") < page.index("First") < page.index("Third") < page.index("No example yet")


def test_a_new_example_begins_with_the_confusion_that_led_to_it(version, draft, lead, client_of):
    address = url("guideline-example-new", version.project, "intent") + "?label=praise&not=question"

    page = client_of(lead).get(address).content.decode()

    assert page.count('name="value" value="praise" id="q1-l2" checked') == 1
    assert page.count('name="confused_with" value="question" id="q2-l3" checked') == 1
