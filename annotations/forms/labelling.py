"""What a labelling form sends: answers by question, comment, seconds; and the filter of one's own work."""

import json
from collections.abc import Iterable
from typing import Any

from django.http import QueryDict

from projects.asking import PREFIX, posted
from projects.reading import QuestionReading

DRAFT_LIMIT = 20_000
ANSWER_LIMIT = 100_000


def answers_in(data: QueryDict, questions: Iterable[QuestionReading]) -> dict[str, Any]:
    """Question key -> what was sent for it, as its task type reads it, which says later whether it is an answer."""
    asked = {question.key: question for question in questions}
    found: dict[str, Any] = {}
    for name in data:
        if not name.startswith(PREFIX):
            continue
        key, values = name.removeprefix(PREFIX), data.getlist(name)
        # A question that is not there is left to `labelling.clean_answers`, which refuses it by name.
        answer = posted(asked[key], values) if key in asked else "".join(values) or None
        if answer is not None:
            found[key] = answer
    return found


def comment_in(data: QueryDict) -> str:
    return data.get("comment", "").replace("\r\n", "\n")


def seconds_in(data: QueryDict) -> float | None:
    """The time on task that the page measured; None where it measured none, as without JavaScript."""
    try:
        return float(data.get("seconds", ""))
    except ValueError:
        return None


def draft_in(data: QueryDict, questions: Iterable[QuestionReading]) -> dict[str, Any]:
    """What was typed so far, to be shown again. A draft is no answer: it is cut to a size, not judged."""
    return {
        "answers": {key: value for key, value in answers_in(data, questions).items() if fits(value)},
        "comment": _storable(comment_in(data))[:DRAFT_LIMIT],
        "typed_at": int(typed_at) if (typed_at := data.get("typed_at", "")).isdecimal() and len(typed_at) < 16 else 0,
    }


def fits(value: Any) -> bool:
    """Whether an answer is small enough to be kept, and holds nothing that no database can keep."""
    text = json.dumps(value, ensure_ascii=False)
    return len(text) <= ANSWER_LIMIT and "\\u0000" not in text


def _storable(text: str) -> str:
    """Without the one character that PostgreSQL cannot store."""
    return text.replace("\x00", "")
