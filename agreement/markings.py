"""Spans as they are stored -> what each item adds to the figures on them.

The texts themselves are not needed: the places of their tokens are, and an export carries those. Fields of an item are
put one after the other, in alphabetical order, so that a span of one is compared with spans of the same field only.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from agreement.coefficients.ratings import MISSING
from agreement.coefficients.span_table import Item, SpanTable
from agreement.coefficients.spans import Span
from projects.task_types import Json
from projects.task_types.spans import Span as Stored
from projects.task_types.spans import spans_in
from projects.task_types.tokens import tokens

# Named with every figure on tokens: raised whenever `tokens` would cut a text otherwise. Figures on two of them are
# never compared.
TOKENISATION = "tokens 1"

# Field of an item -> its tokens as (start, end).
Tokens = Mapping[str, Sequence[tuple[int, int]]]


@dataclass(frozen=True)
class Marked:
    """One item: what each rater answered, by column and None where missing; its stratum; and its tokens."""

    answers: tuple[Json, ...]
    stratum: str
    tokens: Tokens


@dataclass
class Markings:
    """The spans of a draw: of all raters, of each pair of them, and of all others with the column of the `expert`, if
    there is one; who rated which items; what is no answer."""

    labels: tuple[str, ...]
    strata: tuple[str, ...]
    whole: SpanTable
    pairs: dict[tuple[int, int], SpanTable] = field(default_factory=dict)
    rated: Counter[tuple[tuple[int, ...], int]] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    tokenisation: str = TOKENISATION
    expert: int | None = None
    against: SpanTable | None = None

    def add(self, item: Marked) -> None:
        """Count one item."""
        stratum = self.strata.index(item.stratum) if item.stratum in self.strata else 0
        known = [self._known(answer) for answer in item.answers]
        codes = tuple(MISSING if spans is None else 0 for spans in known)
        if not any(code != MISSING for code in codes):
            return
        self.rated[codes, stratum] += 1
        found = _placed({place: spans for place, spans in enumerate(known) if spans is not None}, item.tokens)
        self.whole.add(found, stratum)
        if self.expert is not None and self.against is not None:
            self.against.add_against(found, self.expert, stratum)
        if len(known) > 2:
            for pair in combinations(sorted(found.marked), 2):
                of_pair = Item(found.tokens, {place: found.marked[place] for place in pair})
                self.pairs.setdefault(pair, SpanTable(self.labels)).add(of_pair, stratum)

    def pair(self, first: int, second: int) -> SpanTable | None:
        """The table of two columns; None where they share no item."""
        return self.whole if self.whole_is_pair else self.pairs.get((first, second))

    @property
    def whole_is_pair(self) -> bool:
        """Whether there are two raters in all, so that their table is the whole."""
        return all(len(codes) == 2 for codes, _ in self.rated)

    def fingerprint(self) -> bytes:
        """The same for equal figures, whatever the order of the items."""
        tables = [self.whole, *(self.pairs[pair] for pair in sorted(self.pairs))]
        tables += [] if self.against is None else [self.against]
        found = [(self.tokenisation, self.labels, self.strata, sorted(self.pairs), sorted(self.rated.items()))]
        of_tables = [(table.ordered(), sorted(table.table.items()), sorted(table.uses.items())) for table in tables]
        return repr((found, of_tables)).encode()

    def _known(self, answer: Json) -> list[Stored] | None:
        if answer is None:
            return None
        try:
            spans = spans_in(answer)
        except (KeyError, ValueError):
            spans = []
        whole = isinstance(answer, list) and len(spans) == len(answer)
        if not whole or any(span.label not in self.labels or span.start >= span.end for span in spans):
            self.unknown[json.dumps(answer)] += 1
            return None
        return spans


def none(
    labels: tuple[str, ...],
    strata: tuple[str, ...],
    populations: tuple[float, ...] | None,
    expert: int | None = None,
) -> Markings:
    """No item yet."""
    against = None if expert is None else SpanTable(labels, populations=populations)
    whole = SpanTable(labels, populations=populations)
    return Markings(labels, strata, whole, expert=expert, against=against)


def tokens_of(content: Mapping[str, Json]) -> dict[str, list[tuple[int, int]]]:
    """The tokens of each text of an item."""
    return {name: tokens(text) for name, text in sorted(content.items()) if isinstance(text, str)}


def _placed(marked: Mapping[int, Sequence[Stored]], tokens: Tokens) -> Item:
    """The item in one line: the fields one after the other."""
    fields = sorted({*tokens, *(span.field for spans in marked.values() for span in spans)})
    start, line = {}, 0
    for name in fields:
        start[name] = line
        ends = [span.end for spans in marked.values() for span in spans if span.field == name]
        line += max([0, *ends, *(end for _, end in tokens.get(name, ())[-1:])])
    units = [(start[name] + one, start[name] + end) for name in fields for one, end in tokens.get(name, ())]
    return Item(
        units,
        {
            place: tuple(
                Span(start[each.field] + each.start, start[each.field] + each.end, each.label) for each in spans
            )
            for place, spans in marked.items()
        },
    )
