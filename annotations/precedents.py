"""What was decided before: the cases most like this one, and the rationales that may be used again.

Both look at a bounded number of rows, whatever the project's size.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, F, OuterRef, QuerySet, TextField
from django.db.models.functions import Cast, Left
from django.utils.translation import gettext as _

from annotations.cases import describe, of_project
from annotations.conflicts import canonical
from annotations.enums import Cause
from annotations.models import Case, Resolution
from annotations.queue import first_words
from projects.models import Membership
from projects.reading import LabelReading, QuestionReading
from projects.task_types import Json

SHOWN = 4
LOOKED_AT = 100  # decided cases of the same pair, and as many of other pairs
LOOKED_INTO = 4_000  # characters of an item: a long one is compared by its beginning
# A word that more of the cases looked at have (but at least so many) is one like “the”: to share it says nothing.
COMMON, FEW = 0.1, 3
RATIONALES_OF_A_VALUE = 3
RATIONALES_SHOWN = 12
RATIONALES_LOOKED_AT = 60
RULE_LIMIT = 200
_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")
_WORD = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True)
class Precedent:
    """A decided case that is like the one in hand. `same_pair`: it was between the same two labels."""

    case: Case
    words: str
    decided: str
    rationale: str
    same_pair: bool
    shared: list[str]


@dataclass(frozen=True)
class Rationale:
    """A rationale that was given before, with its cause and what was decided. `of_pair`: for the same two labels.

    One that is made of a label's rule has no cause: whoever takes it still says what the disagreement came from.
    """

    text: str
    value: Json
    name: str
    cause: str = ""
    of_pair: bool = False

    @property
    def cause_name(self) -> str:
        return str(Cause(self.cause).label) if self.cause else ""

    @property
    def decided(self) -> str:
        """The value as the page compares it with what is chosen there."""
        return json.dumps(self.value, ensure_ascii=False, separators=(",", ":"))


def similar(case: Case, question: QuestionReading) -> list[Precedent]:
    """The decided cases most like `case`: those between the same labels first, then by the words they share.

    A rare word that both have says more than a common one. Of other pairs only those that share a word are shown. What
    a rule of the protocol decided gives no reason and is no precedent.
    """
    decided = of_project(case.item.project).decided().filter(question_key=case.question_key).exclude(item=case.item_id)
    decided = decided.filter(Exists(Resolution.objects.by_people().filter(case=OuterRef("pk"))))
    decided = decided.exclude(Exists(Resolution.objects.filter(case=OuterRef("pk"), standing=True).exclude(rule="")))
    texts = _texts(decided.filter(pair_key=case.pair_key)) | _texts(decided.exclude(pair_key=case.pair_key))
    own = _words(Case.objects.filter(pk=case.pk).values_list(_beginning(), flat=True)[0], case)
    ranked = _ranked(own, texts, case)
    found = Case.objects.select_related("item").in_bulk([pk for pk, _shared in ranked])
    standing = {row.case_id: row for row in Resolution.objects.filter(case__in=found, standing=True)}
    return [
        Precedent(
            case=found[pk],
            words=first_words(found[pk].item),
            decided=describe(question, standing[pk].value, found[pk].item.content),
            rationale=standing[pk].rationale,
            same_pair=found[pk].pair_key == case.pair_key,
            shared=shared,
        )
        for pk, shared in ranked
        if pk in standing
    ]


def rationales(case: Case, member: Membership, question: QuestionReading) -> list[Rationale]:
    """What may be said again, once for each label: the rationales last used for this pair, by anybody, then those last
    used by `member`, then the rules of the two labels. Of one label a few, so that none crowds the others out."""
    rows = Resolution.objects.filter(
        case__draw__wave__project=member.project, case__question_key=case.question_key, rule=""
    )
    of_pair = rows.filter(case__pair_key=case.pair_key)
    found: dict[tuple[str, str], Rationale] = {}
    seen = Counter[str]()
    for of, some in ((True, of_pair), (False, rows.filter(by=member))):
        newest = some.by_people().order_by("-at", "-pk").values_list("rationale", "value", "cause")
        for text, value, cause in newest[:RATIONALES_LOOKED_AT]:
            key = text, canonical(value)
            if key not in found and seen[key[1]] < RATIONALES_OF_A_VALUE:
                found[key] = Rationale(text, value, describe(question, value, case.item.content), cause, of)
                seen[key[1]] += 1
    for rule in _rules(case, question):
        found.setdefault((rule.text, canonical(rule.value)), rule)
    return list(found.values())[:RATIONALES_SHOWN]


def _rules(case: Case, question: QuestionReading) -> list[Rationale]:
    """What the guideline says of each of the two labels, as a reason to decide for it; of answers that are labels."""
    given = [case.first_value, case.second_value]
    labels = [label for value in given if isinstance(value, str) and (label := question.label(value)) is not None]
    labels.sort(key=lambda label: label.order)
    return [Rationale(_rule(label), label.key, label.name) for label in labels if label.definition.strip()]


def _rule(label: LabelReading) -> str:
    line = " ".join(label.definition.split())
    shown = line if len(line) <= RULE_LIMIT else f"{line[: RULE_LIMIT - 1].rstrip()}…"
    return _("The rule for “%(label)s”: %(rule)s") % {"label": label.name, "rule": shown}


# -- likeness ----------------------------------------------------------------------------------------------------------


def _beginning() -> Left:
    return Left(Cast("item__content", TextField()), LOOKED_INTO)


def _texts(rows: "QuerySet[Case]") -> dict[int, tuple[str, str]]:
    """Case -> its pair and the beginning of its item, of the newest ones."""
    newest = rows.order_by(F("decided_at").desc(), "-pk").values_list("pk", "pair_key", _beginning())
    return {pk: (pair, text) for pk, pair, text in newest[:LOOKED_AT]}


def _words(text: str, case: Case) -> set[str]:
    """The words of stored JSON, which SQLite has with its letters escaped; the names of the fields are none."""
    plain = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)
    names = {word for name in case.item.content for word in _WORD.findall(name.casefold())}
    return set(_WORD.findall(plain.casefold())) - names


def _ranked(own: set[str], texts: dict[int, tuple[str, str]], case: Case) -> list[tuple[int, list[str]]]:
    """The best few, each with the rarest words that it shares with `own`."""
    shared = {pk: own & _words(text, case) for pk, (_pair, text) in texts.items()}
    known_in = Counter(word for words in shared.values() for word in words)
    most = max(FEW, COMMON * len(texts))
    shared = {pk: {word for word in words if known_in[word] <= most} for pk, words in shared.items()}
    same = {pk: pair == case.pair_key for pk, (pair, _text) in texts.items()}

    def score(pk: int) -> tuple[bool, float, int]:
        return same[pk], sum(1 / known_in[word] for word in shared[pk]), pk

    best = sorted((pk for pk in texts if same[pk] or shared[pk]), key=score, reverse=True)[:SHOWN]
    return [(pk, _rarest(shared[pk], known_in)) for pk in best]


def _rarest(words: Iterable[str], known_in: Counter[str], limit: int = 3) -> list[str]:
    return sorted(words, key=lambda word: (known_in[word], -len(word), word))[:limit]
