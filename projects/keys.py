"""Keys of questions and labels: made from the name once, never changed, never given to something else."""

import re
from collections.abc import Collection, Mapping
from itertools import count

from django.utils.text import slugify

from projects.folding import fold

KEY_LENGTH = 60
KEY = re.compile(rf"[-a-zA-Z0-9_]{{1,{KEY_LENGTH}}}")
_NUMBER = re.compile(r"([-+−]?)(\d+)(?:[.,](\d+))?")
# Room for "-" and a number, where a key is taken.
_STEM_LENGTH = KEY_LENGTH - 6


def made_from(name: str, *, taken: Collection[str], used: Mapping[str, str], stem: str) -> str:
    """A key for something called `name`.

    taken : keys of the others in the same draft
    used  : key -> name of everything there ever was in this place. A key that stood for something else is not given
            again, or figures and exports would take the two for one; what comes back under its old name gets its key
    stem  : where the name has no letter that a key can hold (投诉, شكوى) the key is this with a number
    """
    wanted = fold(name)
    returning = [key for key, old in used.items() if key not in taken and fold(old) == wanted]
    if returning:
        return returning[0]
    spelt = _spelt(name)
    candidates = (f"{spelt}-{n}" if n > 1 else spelt for n in count(1)) if spelt else (f"{stem}-{n}" for n in count(1))
    return next(key for key in candidates if key not in taken and key not in used)


def _spelt(name: str) -> str:
    # The sign is part of a step's name: -5 and 5 are the two ends of one scale.
    number = _NUMBER.fullmatch(name.strip())
    if number:
        sign, whole, part = number.groups()
        minus = "-" if sign in ("-", "−") else ""
        digits = f"{int(whole)}" + (f"_{part}" if part else "")
        return f"{minus}{digits}"[:_STEM_LENGTH]
    return slugify(name.casefold())[:_STEM_LENGTH].strip("-_")
