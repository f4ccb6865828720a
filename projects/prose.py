"""A guideline's text: Markdown to safe HTML, and what changed between two texts, by words."""

import re
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher
from itertools import takewhile
from typing import Literal, NamedTuple

import nh3
from markdown_it import MarkdownIt

Operation = Literal["equal", "insert", "delete"]


class Change(NamedTuple):
    """A stretch of text that both have, or only the new one, or only the old one."""

    op: Operation
    text: str


# Images are left out: a page fetches nothing from elsewhere, and a picture's server would see who labels, and when.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")

# What the Markdown above can make. The sanitiser is a second wall, for the day the first has a hole.
_TAGS = {
    *("h1", "h2", "h3", "h4", "h5", "h6", "p", "blockquote", "pre", "hr", "br"),
    *("ul", "ol", "li", "strong", "em", "code", "a"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}}
_URL_SCHEMES = {"http", "https", "mailto"}


def render_markdown(text: str, heading_offset: int = 1) -> str:
    """Safe HTML of CommonMark with tables; raw HTML comes out as the text it is.

    Headings go down by `heading_offset`: the page that shows them has its own h1.
    """
    tokens = _MARKDOWN.parse(text)
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + heading_offset)}"
    html = _MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {})
    return nh3.clean(
        html,
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_URL_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )


def word_diff(old: str, new: str) -> list[Change]:
    """What changed from `old` to `new`, by words; a removal comes before what stands in its place.

    Everything but the insertions makes `old`, and everything but the deletions makes `new`, to the character.
    Paragraphs are compared first, then the words of those that are versions of each other; a paragraph that shares
    too little with any other is removed or added as a whole, rather than woven together from chance words.
    """
    changes = _Changes()
    before, after = _paragraphs(old), _paragraphs(new)
    for op, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if op == "equal":
            changes.keep("".join(before[i1:i2]))
            continue
        for one, other in _pairs(before[i1:i2], after[j1:j2]):
            if one and other:
                _compare_words(one, other, changes)
            else:
                changes.replace(one, other)
    return changes.joined()


# A blank line ends a paragraph, and so does a line that begins a list item, heading, table row or quotation.
_PARAGRAPH_START = re.compile(
    r"(?<=\n)(?=[ \t]*(?:[-*+] |\d+[.)] |#|\||>))|(?<=\n)(?<!\n\n)(?=[ \t]*\n)|(?<=\n\n)(?=\S)"
)
# Chinese and Japanese are written without spaces: there a character is the word. In Indic scripts, Hebrew and Arabic a
# word goes on through its vowel signs, and an accent of its own belongs to its letter, which \w does not know.
_LETTER = r"[\w\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0dff\u200c\u200d]"
_WORD = re.compile(rf"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]|{_LETTER}+(?:['’-]{_LETTER}+)*")
# Two paragraphs are versions of each other from this share of common words on.
_ALIKE = 0.4
# Above it pairing costs more than it gives: so many paragraphs at once are a new text.
_PAIRING_LIMIT = 20_000
_AUTOJUNK_FROM = 1_000


def _paragraphs(text: str) -> list[str]:
    return [part for part in _PARAGRAPH_START.split(text) if part]


def _words(text: str) -> tuple[list[str], list[str]]:
    """The words of a text, and before each and after the last what stands there: white space and punctuation."""
    words, gaps, end = [], [], 0
    for match in _WORD.finditer(text):
        gaps.append(text[end : match.start()])
        words.append(match[0])
        end = match.end()
    return words, [*gaps, text[end:]]


def _pairs(before: list[str], after: list[str]) -> Iterator[tuple[str, str]]:
    """Old paragraphs beside the new ones that they became, in order, so that shared words are the most; "" for none."""
    if len(before) * len(after) > _PAIRING_LIMIT:
        yield "".join(before), ""
        yield "", "".join(after)
        return
    likeness = _likeness(before, after)
    best = [[0.0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i in reversed(range(len(before))):
        for j in reversed(range(len(after))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], best[i + 1][j + 1] + likeness[i][j])
    i = j = 0
    while i < len(before) or j < len(after):
        if i < len(before) and j < len(after) and best[i][j] > max(best[i + 1][j], best[i][j + 1]):
            yield before[i], after[j]
            i, j = i + 1, j + 1
        elif i < len(before) and best[i + 1][j] == best[i][j]:
            yield before[i], ""
            i += 1
        else:
            yield "", after[j]
            j += 1


def _likeness(before: list[str], after: list[str]) -> list[list[float]]:
    """Share of common words (Dice) of each pair, 0 below `_ALIKE`."""
    bags = [[Counter(word.casefold() for word in _WORD.findall(part)) for part in parts] for parts in (before, after)]
    sizes = [[bag.total() for bag in side] for side in bags]
    rows = []
    for one, size in zip(bags[0], sizes[0], strict=True):
        shares = []
        for other, other_size in zip(bags[1], sizes[1], strict=True):
            share = 2 * sum(min(n, other[word]) for word, n in one.items()) / max(1, size + other_size)
            shares.append(share if share >= _ALIKE else 0.0)
        rows.append(shares)
    return rows


def _compare_words(old: str, new: str, changes: "_Changes") -> None:
    (before, old_gaps), (after, new_gaps) = _words(old), _words(new)
    # In long paragraphs words that come up everywhere are no landmarks, and would make this slow.
    autojunk = len(before) + len(after) > _AUTOJUNK_FROM
    changes.replace(old_gaps[0], new_gaps[0])
    for op, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=autojunk).get_opcodes():
        if op == "equal":
            for i, j in zip(range(i1, i2), range(j1, j2), strict=True):
                changes.keep(after[j])
                changes.replace(old_gaps[i + 1], new_gaps[j + 1])
        else:
            changes.replace(_joined(before, old_gaps, i1, i2), _joined(after, new_gaps, j1, j2))


def _joined(words: list[str], gaps: list[str], start: int, end: int) -> str:
    return "".join(words[place] + gaps[place + 1] for place in range(start, end))


class _Changes:
    """Collects changes so that neighbours of a kind are one, and a removal stands before its replacement."""

    def __init__(self) -> None:
        self._done: list[Change] = []
        self._deleted = self._inserted = ""

    def replace(self, old: str, new: str) -> None:
        # The same gap between two changed words is no island to stop at: "a b" -> "c d" is one change, not two.
        if old == new and not (self._deleted or self._inserted):
            self.keep(old)
        else:
            self._deleted += old
            self._inserted += new

    def keep(self, text: str) -> None:
        head, tail = self._shared_ends()
        self._append("equal", head)
        self._append("delete", self._deleted[len(head) : len(self._deleted) - len(tail)])
        self._append("insert", self._inserted[len(head) : len(self._inserted) - len(tail)])
        self._append("equal", tail + text)
        self._deleted = self._inserted = ""

    def joined(self) -> list[Change]:
        self.keep("")
        return self._done

    def _shared_ends(self) -> tuple[str, str]:
        """The white space and punctuation that a removal and its replacement both begin and end with."""
        head = _shared_gap(self._deleted, self._inserted)
        rest = self._deleted[len(head) :], self._inserted[len(head) :]
        return head, _shared_gap(rest[0][::-1], rest[1][::-1])[::-1]

    def _append(self, op: Operation, text: str) -> None:
        if text and self._done and self._done[-1].op == op:
            text = self._done.pop().text + text
        if text:
            self._done.append(Change(op, text))


def _shared_gap(one: str, other: str) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1] and not _WORD.match(pair[0]), zip(one, other, strict=False))
    return "".join(character for character, _ in same)
