"""How a file holds its ratings: a row for each, a column for each rater, or all of an item in one field."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from django.utils.translation import gettext as _

from annotations import rating_values
from annotations.enums import RatingProblem
from projects import file_fields
from projects.errors import Invalid
from projects.file_fields import Field
from projects.models import Label, Question
from projects.task_types import TASK_TYPES, Json

LONG, WIDE, NESTED = "long", "wide", "nested"
SHAPES = (LONG, WIDE, NESTED)
RATER_LENGTH = 120
FEW, SHORT = 30, 40  # values, and their characters, that look like labels under a name that says so
_RATERS = ("rater", "annotator", "worker", "coder", "user", "labeler", "labeller", "judge", "participant")
_LABELS = ("label", "rating", "ratings", "labels", "answer", "value", "annotation", "annotations", "score", "class")
_COMMENTS = ("rationale", "rationales", "comment", "comments", "reason", "reasons", "explanation", "explanations")

# (rater or None, question key -> value as the file has it, comment)
Given = tuple[str | None, dict[str, Json], str]


class RowError(ValueError):
    """The ratings of a row cannot be taken."""

    def __init__(self, problem: RatingProblem, message: str) -> None:
        super().__init__(message)
        self.problem, self.message = problem, message


@dataclass(frozen=True)
class Layout:
    """Which field is what.

    `labels`: question key -> its field. Long: the column of its labels, one rating a row, with `rater` beside it
    (empty: nobody knows who). Nested: a field that holds {rater: label} or, anonymous, [label, …]. Wide: its one
    question, and `raters` are the columns. `anonymous`: raters are places of ratings, not people.
    """

    shape: str
    shown: tuple[str, ...] = ()
    id_field: str = ""
    metadata: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    rater: str = ""
    raters: tuple[str, ...] = ()
    comment: str = ""
    anonymous: bool = False

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Self:
        lists = {name: tuple(stored[name]) for name in ("shown", "metadata", "raters")}
        return cls(**{**stored, **lists})

    def stored(self) -> dict[str, Any]:
        """As plain data."""
        lists = {name: list(getattr(self, name)) for name in ("shown", "metadata", "raters")}
        return {**asdict(self), **lists}

    @property
    def used(self) -> list[str]:
        """Every field that is named."""
        one = [self.id_field, self.rater, self.comment, *self.labels.values()]
        return [*self.shown, *self.metadata, *self.raters, *(name for name in one if name)]


def check(layout: Layout, names: Sequence[str], questions: Mapping[str, Question]) -> None:
    """Refuse a layout that the file or the guideline cannot carry."""
    unknown = next((name for name in layout.used if name not in names), None)
    if unknown is not None:
        raise Invalid(
            _("The file has no field “%(field)s”; it has: %(names)s.") % {"field": unknown, "names": ", ".join(names)},
            code="unknown_field",
        )
    absent = next((key for key in layout.labels if key not in questions), None)
    if absent is not None:
        raise Invalid(
            _("The guideline has no question “%(key)s” with labels; it has: %(keys)s.")
            % {"key": absent, "keys": ", ".join(questions)},
            code="unknown_question",
        )
    problem = _incomplete(layout)
    if problem:
        raise Invalid(problem, code="layout")


def _incomplete(layout: Layout) -> str:
    if layout.shape not in SHAPES:
        return _("“%(shape)s” is no shape: expected one of %(known)s.") % {
            "shape": layout.shape,
            "known": ", ".join(SHAPES),
        }
    if not layout.shown and not layout.id_field:
        return _("Choose the fields to show, or the id of items that the project has.")
    if not layout.labels or (layout.shape != WIDE and not all(layout.labels.values())):
        return _("Say which field holds the labels of which question.")
    if layout.shape == WIDE and len(layout.labels) > 1:
        return _("With a column for each rater there is one question: import the file once for each.")
    if layout.shape == WIDE and not layout.raters:
        return _("Choose the columns that hold the ratings, one for each rater.")
    if layout.shape == LONG and not layout.rater and not layout.anonymous:
        return _("Choose the field that names the rater, or say that nobody knows who rated.")
    twice = _twice(layout)
    if twice:
        return _("“%(field)s” was chosen twice: as ratings, and as something else.") % {"field": twice}
    return ""


def _twice(layout: Layout) -> str:
    ratings = [*layout.raters, layout.rater, layout.comment, *layout.labels.values()]
    ratings = [name for name in ratings if name]
    others = {*layout.shown, *layout.metadata, layout.id_field}
    repeated = (name for name in ratings if name in others or ratings.count(name) > 1)
    return next(repeated, "")


# -- reading a row -----------------------------------------------------------------------------------------------------


def ratings(record: Mapping[str, Json], layout: Layout, *, sets: Mapping[str, bool]) -> list[Given]:
    """What the row says; RowError where it says it in a way that cannot be taken. `sets`: questions that take several.

    Without a name the raters are places: None.
    """
    given = _READERS[layout.shape](record, layout)
    kept: list[Given] = []
    for rater, answers, comment in given:
        answers = {
            key: rating_values.as_set(raw) if sets.get(key) else raw
            for key, raw in answers.items()
            if not rating_values.is_missing(raw)
        }
        if not answers:
            continue
        for key, raw in answers.items():
            found = rating_values.problem(raw, sets=sets.get(key, False))
            if found:
                raise RowError(RatingProblem.BAD_VALUE, _("A rating of “%(key)s” is %(found)s.") % _about(key, found))
        kept.append((None if layout.anonymous else _rater(rater), answers, comment))
    return kept


def _about(key: str, found: str) -> dict[str, str]:
    return {"key": key, "found": found}


def _long(record: Mapping[str, Json], layout: Layout) -> list[tuple[Json, dict[str, Json], str]]:
    answers = {key: record.get(name) for key, name in layout.labels.items()}
    return [(record.get(layout.rater) if layout.rater else None, answers, _text(record.get(layout.comment)))]


def _wide(record: Mapping[str, Json], layout: Layout) -> list[tuple[Json, dict[str, Json], str]]:
    (key,) = layout.labels
    return [(name, {key: record.get(name)}, "") for name in layout.raters]


def _nested(record: Mapping[str, Json], layout: Layout) -> list[tuple[Json, dict[str, Json], str]]:
    found: dict[Json, dict[str, Json]] = {}
    comments = record.get(layout.comment) if layout.comment else None
    for key, name in layout.labels.items():
        for rater, raw in _members(record.get(name), name, anonymous=layout.anonymous):
            found.setdefault(rater, {})[key] = raw
    said = comments if isinstance(comments, dict) else {}
    return [(rater, answers, _text(said.get(str(rater)))) for rater, answers in found.items()]


def _members(held: Json, name: str, *, anonymous: bool) -> Iterator[tuple[Json, Json]]:
    if isinstance(held, dict):
        yield from held.items()
    elif isinstance(held, list) and anonymous:
        yield from ((place, raw) for place, raw in enumerate(held, start=1))
    elif not rating_values.is_missing(held):
        expected = _("a list, or an object with a value for each rater") if anonymous else _("{rater: label}")
        about = {"field": name, "expected": expected}
        if isinstance(held, list):
            raise RowError(
                RatingProblem.BAD_RATINGS,
                _("“%(field)s” is a list, whose places are nobody: say that the ratings are anonymous.") % about,
            )
        raise RowError(RatingProblem.BAD_RATINGS, _("“%(field)s” is no object: expected %(expected)s.") % about)


_READERS = {LONG: _long, WIDE: _wide, NESTED: _nested}


def _rater(raw: Json) -> str:
    if rating_values.is_missing(raw):
        raise RowError(RatingProblem.NO_RATER, _("There is a rating, and nobody who gave it."))
    if isinstance(raw, bool | dict | list):
        raise RowError(RatingProblem.BAD_RATER, _("The rater is no text and no number."))
    name = str(file_fields.shown_value(raw)).strip()
    if len(name) > RATER_LENGTH:
        raise RowError(
            RatingProblem.BAD_RATER,
            _("The rater's name has %(length)d characters: it may have %(limit)d.")
            % {"length": len(name), "limit": RATER_LENGTH},
        )
    return name


def _text(raw: Json) -> str:
    return "" if raw is None else str(file_fields.shown_value(raw)).strip()[:5_000]


# -- suggestions -------------------------------------------------------------------------------------------------------


def takes_sets(question: Question) -> bool:
    """Whether an answer is a set of labels."""
    return TASK_TYPES[question.task_type].level == "multilabel"


def suggest(
    fields: Sequence[Field],
    records: Sequence[Mapping[str, Json]],
    questions: Mapping[str, Question],
    *,
    before: Sequence[str] = (),
) -> Layout:
    """A layout for a file whose first rows are `records`; `before` is what the project shows already."""
    names = [one.name for one in fields]
    found = _nested_guess(names, records, questions) or _long_guess(fields, records, questions)
    found = found or _wide_guess(names, records, questions) or Layout(WIDE)
    left = [one for one in fields if one.name not in found.used]
    choice = file_fields.suggest(left, len(records), before=before)
    flat = {one.name for one in left if not one.nested}
    id_field = choice.id_field or (_id_of_long(left) if found.shape == LONG else "")
    shown = tuple(name for name in choice.shown if name in flat and name != id_field)
    metadata = tuple(name for name in choice.metadata if name not in shown and name != id_field)
    return replace(found, shown=shown, id_field=id_field, metadata=metadata)


def _id_of_long(fields: Sequence[Field]) -> str:
    """With a row for each rating an id comes up again and again."""
    named = (one.name for one in fields if not one.nested and one.name.lower() in ("id", "item_id", "item", "uid"))
    return next(named, "")


def _nested_guess(
    names: Sequence[str], records: Sequence[Mapping[str, Json]], questions: Mapping[str, Question]
) -> Layout | None:
    labels: dict[str, str] = {}
    held = [name for name in names if any(isinstance(record.get(name), dict | list) for record in records)]
    for key, question in questions.items():
        free = [name for name in held if name not in labels.values()]
        fitting = [name for name in free if _fits(_inside(records, name), question)]
        few = _named([name for name in free if _are_few(_inside(records, name))], (key, *_LABELS))
        if fitting or few:
            labels[key] = _named(fitting, (key, *_LABELS)) or (fitting or [few])[0]
    if not labels:
        return None
    anonymous = all(not isinstance(record.get(name), dict) for record in records for name in labels.values())
    comments = [name for name in held if name not in labels.values()]
    return Layout(NESTED, labels=labels, comment=_named(comments, _COMMENTS), anonymous=anonymous)


def _long_guess(
    fields: Sequence[Field], records: Sequence[Mapping[str, Json]], questions: Mapping[str, Question]
) -> Layout | None:
    names = [one.name for one in fields if not one.nested]
    rater = next((n for n in names if n.lower().removesuffix("_id").removesuffix("_name") in _RATERS), "")
    labels: dict[str, str] = {}
    for key, question in questions.items():
        free = [name for name in names if name != rater and name not in labels.values()]
        name = _named(free, (key, *_LABELS))
        raws = [record.get(name) for record in records]
        if name and (_fits(raws, question) or _are_few(raws)):
            labels[key] = name
    if not labels or not rater:
        return None
    return Layout(LONG, labels=labels, rater=rater, comment=_named(names, _COMMENTS))


def _wide_guess(
    names: Sequence[str], records: Sequence[Mapping[str, Json]], questions: Mapping[str, Question]
) -> Layout | None:
    for key, question in questions.items():
        columns = [name for name in names if _fits([record.get(name) for record in records], question)]
        columns = [name for name in columns if name.lower() not in ("id", "item_id", "n", "count", "row")]
        if len(columns) >= 2:
            return Layout(WIDE, labels={key: ""}, raters=tuple(columns))
    return None


def _named(names: Sequence[str], wanted: Iterable[str]) -> str:
    lower = {name.lower(): name for name in reversed(names)}
    return next((lower[name.lower()] for name in wanted if name.lower() in lower), "")


def _inside(records: Sequence[Mapping[str, Json]], name: str) -> list[Json]:
    held = [record.get(name) for record in records]
    return [raw for one in held if isinstance(one, dict | list) for raw in _values(one)]


def _values(held: dict[str, Json] | list[Json]) -> Iterable[Json]:
    return held.values() if isinstance(held, dict) else held


def _fits(raws: Iterable[Json], question: Question) -> bool:
    """Whether all that is there speaks for a label."""
    labels: list[Label] = list(question.labels.all())
    given = [raw for raw in raws if not rating_values.is_missing(raw)]
    sets = takes_sets(question)
    return bool(given) and all(
        not rating_values.problem(raw, sets=sets)
        and all(rating_values.guess(part, labels) is not None for part in rating_values.parts(raw))
        for raw in given
    )


def _are_few(raws: Iterable[Json]) -> bool:
    """Whether these are a few short values, as labels are, whatever they stand for."""
    given = [part for raw in raws if not rating_values.is_missing(raw) for part in rating_values.parts(raw)]
    tokens = {rating_values.token(raw) for raw in given if not isinstance(raw, dict | list)}
    return 0 < len(tokens) <= FEW and all(len(token) <= SHORT for token in tokens)
