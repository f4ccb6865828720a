"""What in a text looks like somebody's address or number: a hint beside an example; names it cannot see."""

import re
from collections.abc import Iterable

SHOWN = 6
_PATTERNS = (
    re.compile(r"[^\s@<>()\"']+@[^\s@<>()\"']+\.\w{2,}"),  # an address of mail
    re.compile(r"(?<![\w@])@\w{2,30}\b"),  # a name in a network
    re.compile(r"(?<![\w.,])\+?\(?\d[\d ()/.-]{5,}\d(?![\w%])"),  # a telephone number, an account
)
_FEWEST_DIGITS = 7


def details(texts: Iterable[object]) -> list[str]:
    """The first few of them, in the order of the texts, each once."""
    found: dict[str, None] = {}
    for text in (text for text in texts if isinstance(text, str)):
        places = [match for pattern in _PATTERNS for match in pattern.finditer(text)]
        for match in sorted(places, key=re.Match.start):
            if "@" in match[0] or sum(sign.isdigit() for sign in match[0]) >= _FEWEST_DIGITS:
                found.setdefault(match[0].strip(), None)
    return list(found)[:SHOWN]
