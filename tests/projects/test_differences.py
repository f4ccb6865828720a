"""What counts as a change, what is material, and in which words it is said."""

from dataclasses import replace

import pytest

from projects.differences import Content, ExamplePart, LabelPart, QuestionPart, between

GOOD = LabelPart("good", "Good", "It is good.", None)
BAD = LabelPart("bad", "Bad", "It is bad.", None)
ASKED = QuestionPart("mood", "Which mood?", "", "nominal", True, {}, (GOOD, BAD))
OTHER = QuestionPart("soon", "How soon?", "", "ordinal", True, {}, (GOOD, BAD))
SHOWN = ExamplePart("a1", "mood", {"text": "Well done"}, "good", None, "praise", "clear", "written")
BASE = Content("Read it. Then choose.", (ASKED,), (SHOWN,), {})


def asked(**fields) -> Content:
    return replace(BASE, questions=(replace(ASKED, **fields),))


def label(**fields) -> Content:
    return asked(labels=(replace(GOOD, **fields), BAD))


def example(**fields) -> Content:
    return replace(BASE, examples=(replace(SHOWN, **fields),))


def test_the_same_is_no_difference():
    found = between(BASE, BASE)
    assert (found.is_empty, found.is_material, found.material()) == (True, False, [])


def test_wording_alone_is_not_material():
    found = between(BASE, replace(BASE, text="Read it twice. Then choose."))
    assert (found.text_changed, found.is_material, found.is_empty) == (True, False, False)
    assert [change for change in found.text if change.op != "equal"] == [("insert", " twice")]


@pytest.mark.parametrize(
    ("new", "said"),
    [
        (asked(text="What mood?"), ["the question “What mood?” changed (question)"]),
        (asked(help="One line"), ["the question “Which mood?” changed (help)"]),
        (asked(task_type="ordinal"), ["the question “Which mood?” changed (kind of answer)"]),
        (asked(required=False), ["the question “Which mood?” changed (answer)"]),
        (asked(options={"none": True}), ["the question “Which mood?” changed (options)"]),
        (replace(BASE, questions=(ASKED, OTHER)), ["the question “How soon?” was added"]),
        (replace(BASE, questions=()), ["the question “Which mood?” was removed"]),
        (label(name="Fine"), ["the label “Fine” changed (name)"]),
        (label(definition="Quite."), ["the label “Good” changed (definition)"]),
        (label(value=1.0), ["the label “Good” changed (value)"]),
        (asked(labels=(GOOD,)), ["the label “Bad” was removed"]),
        (asked(labels=(GOOD, BAD, replace(BAD, key="so", name="So"))), ["the label “So” was added"]),
        (asked(labels=(BAD, GOOD)), ["the order of the labels of “Which mood?” changed"]),
        (example(value="bad"), ["the example “Well done” changed (label)"]),
        (example(confused_with="bad"), ["the example “Well done” changed (confused with)"]),
        (example(rationale="other"), ["the example “Well done” changed (why)"]),
        (example(kind="near_miss"), ["the example “Well done” changed (kind)"]),
        (example(content={"text": "Not well"}), ["the example “Not well” changed (text)"]),
        (replace(BASE, examples=()), ["the example “Well done” was removed"]),
        (replace(BASE, label_mapping={"mood": {"good": "bad"}}), ["“Good” becomes “Bad”"]),
        (replace(BASE, label_mapping={"mood": {"good": ["bad", "so"]}}), ["“Good” is divided into “Bad”, “so”"]),
    ],
)
def test_everything_but_the_wording_is_material_and_named(new, said):
    found = between(BASE, new)
    assert (found.is_material, found.is_empty) == (True, False)
    assert found.material() == said


def test_the_order_of_questions_is_material():
    old = replace(BASE, questions=(ASKED, OTHER))
    found = between(old, replace(BASE, questions=(OTHER, ASKED)))
    assert found.material() == ["the order of the questions changed"]


def test_a_label_put_between_two_others_is_added_and_moves_nothing():
    middle = LabelPart("so", "So-so", "", None)
    assert between(BASE, asked(labels=(GOOD, middle, BAD))).material() == ["the label “So-so” was added"]


def test_a_relabelled_key_is_one_removed_and_one_added():
    found = between(BASE, asked(labels=(replace(GOOD, key="fine"), BAD)))
    assert [(change.how, change.part.key) for change in found.labels] == [("added", "fine"), ("removed", "good")]


def test_an_example_that_moves_to_another_question_is_changed():
    old = replace(BASE, questions=(ASKED, OTHER))
    found = between(old, replace(old, examples=(replace(SHOWN, question_key="soon"),)))
    assert [field.title for field in found.examples[0].fields] == ["question"]


def test_a_first_version_adds_everything():
    found = between(Content(), BASE)
    assert found.material() == ["the question “Which mood?” was added", "the example “Well done” was added"]


def test_long_lists_name_the_first_few_and_count_the_rest():
    many = tuple(replace(GOOD, key=f"k{n}", name=f"K{n}") for n in range(10))
    named = between(BASE, asked(labels=(GOOD, BAD, *many))).named()
    assert named.count("was added") == 6
    assert named.endswith("; 4 more changes")


def test_fields_say_values_in_words_and_by_words():
    found = between(BASE, example(value="bad")).examples[0]
    assert found.fields[0].words == [("delete", "Good"), ("insert", "Bad")]
    assert found.said == ("Bad", "")


def test_text_in_chinese_and_arabic_is_compared():
    old, new = replace(BASE, text="他投诉了应用"), replace(BASE, text="他表扬了应用")
    assert "".join(change.text for change in between(old, new).text if change.op != "delete") == new.text
    arabic = between(replace(BASE, text="هذه شكوى"), replace(BASE, text="هذه شكوى قوية"))
    assert [change for change in arabic.text if change.op != "equal"] == [("insert", " قوية")]
