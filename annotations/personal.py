"""What in a text looks like somebody's address or number: a hint beside an example; names it cannot see."""

import re
from collections.abc import Iterable

SHOWN = 6
LONGEST = 20_000  # signs of a text that are looked at: a hint, and the page waits for it
_WITH_AT = (
    # An address of mail, as long as one may be: a text without spaces is not looked through from each sign to its end.
    re.compile(r"[^\s@<>()\"']{1,64}@[^\s@<>()\"']{1,255}\.\w{2,}"),
    re.compile(r"(?<![\w@])@\w{2,30}\b"),  # a name in a network
)
_NUMBERS = (
    re.compile(r"(?<![\w.,])\+?\(?\d[\d ()/.-]{5,}\d(?![\w%])"),  # a telephone number, an account
)
_FEWEST_DIGITS = 7


def details(texts: Iterable[object]) -> list[str]:
    """The first few of them, in the order of the texts, each once."""
    found: dict[str, None] = {}
    for text in (text for text in texts if isinstance(text, str)):
        looked_at = text[:LONGEST]
        patterns = (*_WITH_AT, *_NUMBERS) if "@" in looked_at else _NUMBERS
        places = [match for pattern in patterns for match in pattern.finditer(looked_at)]
        for match in sorted(places, key=re.Match.start):
            if "@" in match[0] or sum(sign.isdigit() for sign in match[0]) >= _FEWEST_DIGITS:
                found.setdefault(match[0].strip(), None)
    return list(found)[:SHOWN]
