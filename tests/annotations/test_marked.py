"""What two people marked in a text, side by side on it."""

from annotations import marked
from annotations.marked import Part
from projects.reading import LabelReading
from projects.task_types.spans import Span

LABELS = [
    LabelReading(key="praise", name="Praise <3", order=0, value=None, definition="", html="", colour="#123456"),
    LabelReading(key="fault", name="Fault", order=1, value=None, definition="", html="", colour="#654321"),
]
TEXT = "I like the map & hate the list"


def span(start: int, end: int, label: str = "praise", field: str = "text") -> dict[str, object]:
    return {"field": field, "start": start, "end": end, "label": label}


def shown(value, other, text: str = TEXT) -> list[str]:
    found = marked.shown({"text": text, "note": "x"}, value, other, LABELS, alone=False)
    return [f"{field.name}: {field.html}" for field in found]


def test_a_text_is_cut_where_either_one_s_mark_begins_or_ends():
    mine, others = [Span("text", 2, 14, "praise")], [Span("text", 0, 14, "praise"), Span("text", 17, 30, "fault")]

    assert marked.parts(TEXT, mine, others) == [
        Part("I ", (), (), True),
        Part("like the map", ("praise",), ("praise",), False),
        Part(" & ", (), (), False),
        Part("hate the list", (), (), True),
    ]


def test_the_same_part_with_another_label_is_apart():
    mine, others = [Span("text", 2, 14, "praise")], [Span("text", 2, 14, "fault")]

    assert [part.apart for part in marked.parts(TEXT, mine, others)] == [False, True, False]


def test_marks_name_their_label_and_everything_is_escaped():
    html = shown([span(2, 14)], [span(2, 14)])

    assert html == [
        'text: I <mark class="said" style="--label: #123456"><bdi class="said-name">Praise &lt;3</bdi>'
        "like the map</mark>"
        " &amp; hate the list"
    ]


def test_what_the_other_one_alone_marked_is_dotted():
    assert '<mark class="said said--left">hate the list</mark>' in shown([], [span(17, 30, "fault")])[0]


def test_a_field_in_which_nobody_marked_anything_is_left_out():
    assert [line.split(":")[0] for line in shown([span(0, 1, field="note")], [])] == ["note"]


def test_a_long_stretch_without_marks_is_shortened_and_every_mark_kept():
    text = "a " * 500 + "map" + " b" * 500

    html = shown([span(1000, 1003)], [], text)[0]

    assert ("map</mark>" in html, len(html) < 800, html.count(" … ")) == (True, True, 2)
