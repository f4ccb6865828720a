"""What the rows of an uploaded file would be as items, or what is wrong with them by themselves."""

import json
from dataclasses import dataclass
from functools import lru_cache

from django.utils.translation import gettext as _

from projects import folding
from projects.enums import RowProblem
from projects.file_fields import Choice, shown_value
from projects.formats import Row
from projects.task_types import Json

# One encoder for all values: json.dumps makes a new one for each call with options.
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_key = lru_cache(maxsize=1024)(_json)
_TEXT = frozenset((str,))


@dataclass(slots=True)
class Candidate:
    """A row of the file, with what it would be as an item, or what is wrong with it. Objects are kept as JSON.

    The fields are columns of StagedRow.
    """

    number: int
    external_id: str = ""
    content: str | None = None
    metadata: str = "{}"
    content_hash: str = ""
    folded_hash: str = ""
    problem: str = ""
    message: str = ""

    def reject(self, problem: RowProblem, message: str) -> None:
        self.problem, self.message = problem.value, message


def candidate(row: Row, choice: Choice) -> Candidate:
    """What `choice` makes of a row; problems that the row has by itself are found here."""
    made = Candidate(row.number)
    record = row.record
    if record is None:
        made.reject(RowProblem.UNREADABLE, row.problem or "")
        return made
    content = {name: shown_value(record.get(name)) for name in choice.shown}
    text = folding.canonical(content)
    # Canonical JSON spells a number in its own way; what is kept has it as the file does.
    texts = {*map(type, content.values())} <= _TEXT
    made.content = text if texts else _json(content)
    if choice.metadata:
        kept = [
            f"{_key(name)}:{folding.written(value)}"
            for name in choice.metadata
            if (value := record.get(name)) is not None
        ]
        made.metadata = f"{{{','.join(kept)}}}"
    if choice.id_field:
        _identify(made, record.get(choice.id_field), choice.id_field)
        if made.problem:
            return made
    blank = [name for name, value in content.items() if (not value and value == "") or str(value).isspace()]
    if len(blank) == len(content):
        made.reject(RowProblem.EMPTY, _("“%(field)s” is empty, so there is nothing to label.") % {"field": blank[0]})
        return made
    made.content_hash, made.folded_hash = folding.digest(text), folding.folded_hash(content)
    if blank:
        made.reject(RowProblem.PARTLY_EMPTY, _("“%(field)s” is empty.") % {"field": "”, “".join(blank)})
    return made


def _identify(made: Candidate, value: Json, name: str) -> None:
    """Take over the id: a text, or a number as the text it is written as."""
    if isinstance(value, bool | dict | list):
        kind = {"bool": _("true or false"), "dict": _("an object"), "list": _("a list")}[type(value).__name__]
        made.reject(
            RowProblem.BAD_ID,
            _("“%(field)s” is %(kind)s: an id is a text or a number.") % {"field": name, "kind": kind},
        )
        return
    text = str(shown_value(value)).strip()
    if not text:
        made.reject(RowProblem.NO_ID, _("“%(field)s”, the id, is missing or empty.") % {"field": name})
    elif len(text) > 200:
        made.reject(
            RowProblem.BAD_ID,
            _("“%(field)s” has %(length)d characters: an id has 200 at most.") % {"field": name, "length": len(text)},
        )
    else:
        made.external_id = text
