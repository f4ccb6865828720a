"""Questions, labels, their keys, colours and hotkeys."""

import math

import pytest

from projects import drafts, keys, labels, styles
from projects.enums import Change
from projects.errors import Invalid
from projects.guidelines import publish
from projects.labels import NewLabel
from projects.models import GuidelineVersion, Label, LabelStyle, Question
from projects.styles import PALETTE, Style
from tests import factories
from tests.factories import NOW


@pytest.fixture
def draft(version, lead) -> GuidelineVersion:
    return drafts.draft_of(version.project, by=lead, at=NOW)


@pytest.fixture
def question(draft) -> Question:
    return draft.questions.get()


def keys_of(question) -> list[str]:
    return list(question.labels.values_list("key", flat=True))


# keys


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Complaint", "complaint"),
        ("Not a complaint!", "not-a-complaint"),
        ("Été à la plage", "ete-a-la-plage"),
        ("Straße", "strasse"),
        ("-5", "-5"),
        ("−5", "-5"),
        ("5", "5"),
        ("+2,5", "2_5"),
        ("007", "7"),
        ("投诉", "label-1"),
        ("شكوى", "label-1"),
        ("👍", "label-1"),
        ("投诉 Complaint", "complaint"),
        ("x" * 200, "x" * 54),
    ],
)
def test_a_key_is_made_from_the_name(name, key):
    made = keys.made_from(name, taken=[], used={}, stem="label")
    assert made == key
    assert keys.KEY.fullmatch(made)


def test_a_key_that_stood_for_something_else_is_not_given_again():
    assert keys.made_from("Threat!", taken=[], used={"threat": "Threat"}, stem="label") == "threat-2"
    assert keys.made_from("شكوى", taken=[], used={"label-1": "投诉"}, stem="label") == "label-2"


def test_what_comes_back_under_its_old_name_gets_its_key_back():
    used = {"label-1": "投诉", "threat": "Threat"}
    assert keys.made_from(" 投诉", taken=[], used=used, stem="label") == "label-1"
    assert keys.made_from("threat", taken=[], used=used, stem="label") == "threat"
    assert keys.made_from("threat", taken=["threat"], used=used, stem="label") == "threat-2"


def test_a_retired_labels_key_is_not_taken_by_a_new_one(draft, question, lead):
    labels.remove_label(question.labels.get(key="praise"), by=lead)
    publish(draft, change=Change.MATERIAL, reason="fewer", by=lead, at=NOW)
    following = drafts.draft_of(draft.project, by=lead).questions.get()
    other = labels.add_label(following, name="Praise!", by=lead)
    back = labels.add_label(following, name="praise", by=lead)
    assert (other.key, back.key) == ("praise-2", "praise")


def test_a_key_stays_when_the_name_changes(question, lead):
    label = question.labels.get(key="praise")
    assert labels.edit_label(label, name="Compliment", by=lead).key == "praise"


def test_a_key_may_be_given(question, lead):
    assert labels.add_label(question, name="Threat", key="T_1", by=lead).key == "T_1"


@pytest.mark.parametrize("key", ["praise", "with space", "投诉", "a|b", "x" * 61])
def test_a_key_that_cannot_be_one_is_refused(question, lead, key):
    with pytest.raises(Invalid, match="key"):
        labels.add_label(question, name="Threat", key=key, by=lead)


# questions


def test_a_question_gets_key_place_and_labels(draft, lead):
    made = labels.add_question(
        draft,
        text="  How soon?  ",
        task_type="ordinal",
        labels=[NewLabel(str(n), value=n) for n in (-1, 0, 1)],
        by=lead,
    )
    assert (made.key, made.text, made.order) == ("how-soon", "How soon?", 1)
    assert list(made.labels.values_list("key", "value", "order")) == [("-1", -1.0, 0), ("0", 0.0, 1), ("1", 1.0, 2)]


def test_a_question_in_arabic_gets_a_key(draft, lead):
    assert labels.add_question(draft, text="ما نوع هذه الرسالة؟", task_type="nominal", by=lead).key == "question-1"


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"text": " "}, "empty"),
        ({"text": "x" * 301}, "301 characters"),
        ({"task_type": "essay"}, "essay"),
        ({"help": "x" * 501}, "501"),
        ({"key": "intent"}, "there already"),
        ({"labels": [NewLabel("same"), NewLabel("Same ")]}, "“same” already"),
        ({"labels": [NewLabel("")]}, "empty"),
        ({"labels": [NewLabel("a", key="k"), NewLabel("b", key="k")]}, "there already"),
        ({"labels": [NewLabel("a", hotkey="x"), NewLabel("b", hotkey="X")]}, "already that of “a”"),
        ({"labels": [NewLabel("a", value=math.nan)]}, "finite"),
        ({"labels": [NewLabel("a", value=math.inf)]}, "finite"),
        ({"labels": [NewLabel("x" * 121)]}, "121"),
        ({"labels": [NewLabel(str(n)) for n in range(labels.LABELS_LIMIT + 1)]}, "501 labels"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_whole(draft, lead, fields, said):
    with pytest.raises(Invalid, match=said):
        labels.add_question(draft, **{"text": "More?", "task_type": "nominal", **fields}, by=lead)
    assert draft.questions.count() == 1
    assert LabelStyle.objects.count() == 0


def test_two_hundred_labels_are_fine_and_the_last_have_no_key_to_press(draft, lead):
    made = labels.add_question(
        draft, text="Which?", task_type="nominal", labels=[NewLabel(f"Class {n}") for n in range(200)], by=lead
    )
    worn = styles.dressed(made.key, list(made.labels.all()), {})
    pressed = [style.hotkey for style in worn.values() if style.hotkey]
    assert labels.problems([made]) == []
    assert len(worn) == 200
    assert len(pressed) == len(set(pressed)) == len(styles.HOTKEYS)


def test_an_ordinal_question_with_some_values_is_a_problem(draft, lead):
    made = labels.add_question(
        draft, text="Soon?", task_type="ordinal", labels=[NewLabel("a", value=1), NewLabel("b")], by=lead
    )
    assert labels.problems([made]) == [
        "“Soon?”: Some labels have a numeric value and 'b' has none: give all of them one, or none."
    ]


def test_an_edited_question_keeps_its_key(question, lead):
    made = labels.edit_question(question, text="What then?", task_type="nominal", required=False, by=lead)
    assert (made.key, made.text, made.required) == ("intent", "What then?", False)


def test_of_two_who_edit_a_question_the_second_is_told(question, lead):
    seen = labels.stamp(question)
    labels.edit_question(question, text="Theirs?", task_type="nominal", by=lead, seen=seen)
    with pytest.raises(drafts.Changed):
        labels.edit_question(question, text="Mine?", task_type="nominal", by=lead, seen=seen)


def test_of_two_who_edit_a_label_the_second_is_told(question, lead):
    label = question.labels.get(key="praise")
    seen = labels.stamp(label)
    labels.edit_label(label, name="praise", definition="theirs", by=lead, seen=seen)
    with pytest.raises(drafts.Changed):
        labels.edit_label(label, name="praise", definition="mine", by=lead, seen=seen)
    label.refresh_from_db()
    assert label.definition == "theirs"


@pytest.mark.parametrize(
    ("to", "order"),
    [
        (0, ["question", "complaint", "praise"]),
        (1, ["complaint", "question", "praise"]),
        (-7, ["question", "complaint", "praise"]),
        (99, ["complaint", "praise", "question"]),
    ],
)
def test_a_label_moves_and_beyond_the_ends_it_stays_at_the_end(question, lead, to, order):
    labels.move_label(question.labels.get(key="question"), to=to, by=lead)
    assert keys_of(question) == order


def test_questions_move(draft, lead):
    second = labels.add_question(draft, text="Second?", task_type="nominal", by=lead)
    labels.move_question(second, to=0, by=lead)
    assert list(draft.questions.values_list("key", flat=True)) == ["second", "intent"]


def test_what_somebody_else_removed_cannot_be_edited_or_moved(question, lead):
    label = Label.objects.select_related("question__version").get(question=question, key="praise")
    labels.remove_label(label, by=lead)
    label.pk = Label.objects.order_by("-pk").first().pk + 1000
    for change in (
        lambda: labels.edit_label(label, name="x", by=lead),
        lambda: labels.move_label(label, to=0, by=lead),
    ):
        with pytest.raises(drafts.DraftGone):
            change()


def test_removing_what_is_removed_changes_nothing(question, lead):
    label = question.labels.get(key="praise")
    labels.remove_label(label, by=lead)
    labels.remove_label(Label(pk=label.pk or 10**6, question=question, key="praise"), by=lead)
    assert keys_of(question) == ["complaint", "question"]


# styles


def test_colours_and_hotkeys_come_from_the_place(question):
    worn = styles.dressed("intent", list(question.labels.all()), {})
    assert list(worn.values()) == [Style(PALETTE[0], "1"), Style(PALETTE[1], "2"), Style(PALETTE[2], "3")]


def test_hotkeys_skip_the_labelling_pages_own(draft, lead):
    made = labels.add_question(
        draft, text="Which?", task_type="nominal", labels=[NewLabel(f"l{n}") for n in range(15)], by=lead
    )
    worn = styles.dressed(made.key, list(made.labels.all()), {})
    assert "".join(style.hotkey for style in worn.values()) == "1234567890abdef"


def test_a_default_gives_way_to_a_choice(question):
    chosen = {("intent", "question"): Style("", "1")}
    worn = styles.dressed("intent", list(question.labels.all()), chosen)
    assert [style.hotkey for style in worn.values()] == ["3", "2", "1"]


def test_styles_change_on_a_published_version_too(version):
    styles.set_style(version.project, "intent", "praise", "#0072b2", "P")
    assert styles.chosen(version.project) == {("intent", "praise"): Style("#0072B2", "p")}


def test_an_emptied_style_goes_back_to_its_place(version):
    styles.set_style(version.project, "intent", "praise", "#0072b2", "p")
    styles.set_style(version.project, "intent", "praise")
    rows = list(version.questions.get().labels.all())
    assert styles.dressed("intent", rows, styles.chosen(version.project))["praise"] == Style(PALETTE[1], "2")


def test_two_labels_can_swap_their_keys(version):
    styles.set_styles(version.project, "intent", {"complaint": Style("", "2"), "praise": Style("", "1")})
    rows = list(version.questions.get().labels.all())
    worn = styles.dressed("intent", rows, styles.chosen(version.project))
    assert [style.hotkey for style in worn.values()] == ["2", "1", "3"]


@pytest.mark.parametrize(
    ("label", "colour", "hotkey", "said"),
    [
        ("praise", "", "1", "already that of “complaint”"),
        ("praise", "", "g", "already does something else"),
        ("praise", "", "?", "one letter or digit"),
        ("praise", "", "ab", "one letter or digit"),
        ("praise", "red", "", "not a colour"),
        ("praise", "#12345", "", "not a colour"),
        ("nobody", "", "x", "no label “nobody”"),
    ],
)
def test_a_style_that_cannot_be_is_refused(version, label, colour, hotkey, said):
    with pytest.raises(Invalid, match=said):
        styles.set_style(version.project, "intent", label, colour, hotkey)
    assert LabelStyle.objects.count() == 0


def test_a_choice_collides_with_none_in_another_question_or_project(version, lead):
    factories.question(version, "urgency", ("low", "high"))
    neighbour = factories.version(factories.project("Elsewhere"))
    styles.set_style(version.project, "urgency", "low", "", "1")
    styles.set_style(neighbour.project, "intent", "complaint", "", "x")
    assert set(styles.chosen(version.project)) == {("urgency", "low")}


def test_a_key_of_the_published_version_is_kept_free_while_a_draft_has_other_labels(draft, question, lead):
    new = labels.add_label(question, name="threat", by=lead)
    labels.remove_label(question.labels.get(key="praise"), by=lead)
    with pytest.raises(Invalid, match="already that of “question”"):
        styles.set_styles(draft.project, "intent", {"praise": Style("", "3")})
    styles.set_style(draft.project, "intent", new.key, "", "t")
    assert styles.chosen(draft.project)[("intent", "threat")].hotkey == "t"


def test_keys_and_colours_go_on_from_question_to_question(draft: GuidelineVersion) -> None:
    first = factories.question(draft, "first", ["a", "b", "c"])
    second = factories.question(draft, "second", ["d", "e"])
    sheet = [(one.key, list(one.labels.all())) for one in (first, second)]

    worn = styles.worn(sheet, {("first", "b"): Style("", "4")})

    assert [style.hotkey for labels in worn.values() for style in labels.values()] == ["1", "4", "3", "2", "5"]
    assert len({style.colour for labels in worn.values() for style in labels.values()}) == 5


def test_more_labels_on_a_sheet_than_keys_start_again_with_each_question(draft: GuidelineVersion) -> None:
    many = factories.question(draft, "many", [f"label-{n}" for n in range(30)])
    few = factories.question(draft, "few", ["yes", "no"])
    sheet = [(one.key, list(one.labels.all())) for one in (many, few)]

    assert [style.hotkey for style in styles.worn(sheet, {})["few"].values()] == ["1", "2"]
