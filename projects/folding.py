"""When two items are the same: exactly (content hash), or to a reader (folded hash)."""

import hashlib
import json
import unicodedata
from collections.abc import Mapping

from projects.task_types import Json

# Below it every whole number is exact as a double, so that a number means the same however JSON wrote it.
_EXACT_INTEGERS = 2**53


def content_hash(shown: Mapping[str, Json]) -> str:
    """SHA-256 (hex) of what is shown of an item; changes with any character, and with nothing else.

    Hashed is canonical JSON: keys sorted by code point, no spaces, UTF-8, and one spelling for a number (1.0 is 1, as
    in RFC 8785), so that the order of columns, the file format and a database's own JSON leave the hash as it is.
    NaN, Infinity and lone surrogates raise ValueError.
    """
    return _hash({key: _one_spelling(value) for key, value in shown.items()})


def folded_hash(shown: Mapping[str, Json]) -> str:
    """SHA-256 (hex) that is equal for items which read the same after folding case and white space.

    Texts are NFKC-normalised, case-folded, and runs of white space become one space, none at the ends. Numbers, true
    and false are taken as the text they are shown as, nothing as the empty text: "1" from a CSV file is 1 from JSON.
    """
    return _hash({key: _fold(value) for key, value in shown.items()})


def fold(text: str) -> str:
    """The text without differences of case, width, composition and white space."""
    # Case-folding can undo the normal form (and the other way round): once more makes folding twice change nothing.
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).casefold().split())


def _hash(value: Json) -> str:
    canonical = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode("utf-8")).hexdigest()


def _one_spelling(value: Json) -> Json:
    if isinstance(value, float) and value.is_integer() and abs(value) < _EXACT_INTEGERS:
        return int(value)
    if isinstance(value, list):
        return [_one_spelling(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _one_spelling(entry) for key, entry in value.items()}
    return value


def _fold(value: Json) -> Json:
    if isinstance(value, str):
        return fold(value)
    if value is None:
        return ""
    if isinstance(value, list):
        return [_fold(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _fold(entry) for key, entry in value.items()}
    return json.dumps(_one_spelling(value), allow_nan=False)
