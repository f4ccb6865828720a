import random
import time
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.prose import Change, render_markdown, word_diff

pytestmark = pytest.mark.one_database


def changes(old: str, new: str) -> list[tuple[str, str]]:
    return [(change.op, change.text) for change in word_diff(old, new)]


def test_markdown_of_a_guideline() -> None:
    text = (
        "# Rules\n\nUse *care* and **judgement**.\n\n1. first\n2. `second`\n\n| label | when |\n| - | - |\n| a | b |\n"
    )

    assert render_markdown(text) == (
        "<h2>Rules</h2>\n<p>Use <em>care</em> and <strong>judgement</strong>.</p>\n"
        "<ol>\n<li>first</li>\n<li><code>second</code></li>\n</ol>\n"
        "<table>\n<thead>\n<tr>\n<th>label</th>\n<th>when</th>\n</tr>\n</thead>\n"
        "<tbody>\n<tr>\n<td>a</td>\n<td>b</td>\n</tr>\n</tbody>\n</table>\n"
    )


def test_headings_go_down_and_stop_at_the_sixth() -> None:
    assert render_markdown("# a\n\n###### b") == "<h2>a</h2>\n<h6>b</h6>\n"
    assert render_markdown("# a", heading_offset=0) == "<h1>a</h1>\n"


def test_links_give_nothing_away() -> None:
    assert render_markdown('[x](https://example.org "t")') == (
        '<p><a href="https://example.org" title="t" rel="noopener noreferrer nofollow">x</a></p>\n'
    )


def test_raw_html_is_text() -> None:
    assert render_markdown("a <script>alert(1)</script> <b>c</b>") == (
        "<p>a &lt;script&gt;alert(1)&lt;/script&gt; &lt;b&gt;c&lt;/b&gt;</p>\n"
    )


def test_an_image_is_not_loaded() -> None:
    assert "<img" not in render_markdown("![alt](https://example.org/x.png)")


class Seen(HTMLParser):
    """Collects tags and attributes of a page as a browser would find them."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name == "href"]


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)>",
        "<svg/onload=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](&#106;avascript:alert(1))",
        "[x](data:text/html;base64,PHNjcmlwdD4=)",
        "<javascript:alert(1)>",
        "[x]: javascript:alert(1)\n\n[x]",
        '[x](https://a.b" onmouseover="alert(1))',
        '```"><script>alert(1)</script>\ncode\n```',
        "| <script>a</script> |\n| - |\n| <iframe src=x> |",
        "<style>*{display:none}</style>",
        "<form action=x><input name=csrfmiddlewaretoken></form>",
    ],
)
def test_no_text_makes_active_content(text: str) -> None:
    seen = Seen()
    seen.feed(render_markdown(text))

    assert seen.tags <= {"p", "a", "code", "pre", "table", "thead", "tbody", "tr", "th", "td"}
    assert seen.attributes <= {"href", "title", "rel"}
    assert [link for link in seen.links if not link.startswith("https://a.b")] == []


def test_diff_of_equal_texts_is_one_piece() -> None:
    assert word_diff("Same.\n\nSame.\n", "Same.\n\nSame.\n") == [Change("equal", "Same.\n\nSame.\n")]


@pytest.mark.parametrize(("old", "new", "op"), [("", "all new", "insert"), ("all gone", "", "delete")])
def test_diff_with_an_empty_text(old: str, new: str, op: str) -> None:
    assert changes(old, new) == [(op, old + new)]
    assert word_diff("", "") == []


def test_diff_goes_by_words_and_leaves_punctuation_in_place() -> None:
    assert changes("Mark sarcasm as negative. Use your judgement.", "Mark irony as negative. Use the examples.") == [
        ("equal", "Mark "),
        ("delete", "sarcasm"),
        ("insert", "irony"),
        ("equal", " as negative. Use "),
        ("delete", "your judgement"),
        ("insert", "the examples"),
        ("equal", "."),
    ]


def test_diff_keeps_unrelated_paragraphs_whole() -> None:
    old = "Label the tone of the text.\n\nWhen in doubt choose neutral, and say why.\n"
    new = "Label the tone of the text.\n\nA quotation belongs to the person who is quoted.\n"

    assert changes(old, new) == [
        ("equal", "Label the tone of the text.\n\n"),
        ("delete", "When in doubt choose neutral, and say why"),
        ("insert", "A quotation belongs to the person who is quoted"),
        ("equal", ".\n"),
    ]


def test_diff_puts_a_new_list_item_between_its_neighbours() -> None:
    assert changes("- one thing\n- two things\n", "- one thing\n- a new rule\n- two big things\n") == [
        ("equal", "- one thing\n- "),
        ("insert", "a new rule\n- "),
        ("equal", "two "),
        ("insert", "big "),
        ("equal", "things\n"),
    ]


def test_diff_shows_a_change_of_white_space() -> None:
    assert changes("a b", "a\nb") == [("equal", "a"), ("delete", " "), ("insert", "\n"), ("equal", "b")]


def test_diff_of_chinese_goes_by_characters_and_of_hindi_by_words() -> None:
    assert changes("标记情绪", "标记语气") == [("equal", "标记"), ("delete", "情绪"), ("insert", "语气")]
    assert changes("हिन्दी भाषा", "हिन्दी लिपि") == [("equal", "हिन्दी "), ("delete", "भाषा"), ("insert", "लिपि")]


prose_texts = st.lists(
    st.sampled_from(["a", "b", "the", "don't", " ", "  ", "\n", "\n\n", "\n- ", ".", ", ", "# ", "\r\n", "é", "情"]),
    max_size=40,
).map("".join) | st.text(max_size=40)


@given(prose_texts, prose_texts)
def test_diff_gives_both_texts_back_to_the_character(old: str, new: str) -> None:
    found = word_diff(old, new)

    assert "".join(change.text for change in found if change.op != "insert") == old
    assert "".join(change.text for change in found if change.op != "delete") == new
    assert all(change.text for change in found)
    assert all(one.op != other.op for one, other in pairwise(found))


def _text(rng: random.Random, words: int, between: str) -> str:
    vocabulary = [*(f"word{number}" for number in range(2_000)), *(["the", "of", "and", "a"] * 200)]
    return between.join(" ".join(rng.choices(vocabulary, k=80)) for _ in range(words // 80))


@pytest.mark.parametrize("between", ["\n\n", "\n- ", " "], ids=["paragraphs", "list", "one paragraph"])
@pytest.mark.parametrize("changed", [0.05, 0.5, 1.0])
def test_diff_of_50_kb_takes_well_under_two_seconds(between: str, changed: float) -> None:
    rng = random.Random(7)
    old = _text(rng, 9_000, between)
    new = " ".join(word if rng.random() > changed else rng.choice(["new", "words"]) for word in old.split(" "))

    begun = time.perf_counter()
    word_diff(old, new)

    assert len(old) > 50_000
    assert time.perf_counter() - begun < 2
