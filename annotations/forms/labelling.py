"""What a labelling form sends: answers by question, comment, seconds; and the filter of one's own work."""

from typing import Any

from django.http import QueryDict

ANSWER = "answer-"
DRAFT_LIMIT = 20_000


def answers_in(data: QueryDict) -> dict[str, Any]:
    """Question key -> what was sent for it, as it was sent: the question's task type says whether it is an answer."""
    found: dict[str, Any] = {}
    for name in data:
        values = [value for value in data.getlist(name) if value != ""]
        if name.startswith(ANSWER) and values:
            found[name.removeprefix(ANSWER)] = values[0] if len(values) == 1 else values
    return found


def comment_in(data: QueryDict) -> str:
    return data.get("comment", "").replace("\r\n", "\n")


def seconds_in(data: QueryDict) -> float | None:
    """The time on task that the page measured; None where it measured none, as without JavaScript."""
    try:
        return float(data.get("seconds", ""))
    except ValueError:
        return None


def draft_in(data: QueryDict) -> dict[str, Any]:
    """What was typed so far, to be shown again. A draft is no answer: it is cut to a size, not judged."""
    return {
        "answers": {key: value for key, value in answers_in(data).items() if isinstance(value, str) and _fits(value)},
        "comment": _storable(comment_in(data))[:DRAFT_LIMIT],
        "typed_at": int(typed_at) if (typed_at := data.get("typed_at", "")).isdecimal() and len(typed_at) < 16 else 0,
    }


def _fits(value: str) -> bool:
    return len(value) <= DRAFT_LIMIT and "\x00" not in value


def _storable(text: str) -> str:
    """Without the one character that PostgreSQL cannot store."""
    return text.replace("\x00", "")
