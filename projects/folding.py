"""When two items are the same: exactly (content hash), or to a reader (folded hash)."""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from json.encoder import encode_basestring

from projects.task_types import Json

# Below it every whole number is exact as a double, so that a number means the same however JSON wrote it.
_EXACT_INTEGERS = 2**53


# One encoder for all values: json.dumps makes a new one for each call with options.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode
_key = lru_cache(maxsize=1024)(_encode)


def content_hash(shown: Mapping[str, Json]) -> str:
    """SHA-256 (hex) of what is shown of an item; changes with any character, and with nothing else.

    Hashed is canonical JSON: keys sorted by code point, no spaces, UTF-8, and one spelling for a number (1.0 is 1, as
    in RFC 8785), so that the order of columns, the file format and a database's own JSON leave the hash as it is.
    NaN, Infinity and lone surrogates raise ValueError.
    """
    return digest(canonical(shown))


def folded_hash(shown: Mapping[str, Json]) -> str:
    """96 bits of SHA-256 (hex) that are equal for items which read the same after folding case and white space.

    Texts are NFKC-normalised, case-folded, and runs of white space become one space, none at the ends. Numbers, true
    and false are taken as the text they are shown as, nothing as the empty text: "1" from a CSV file is 1 from JSON.
    Cut short, because of all indexes this one costs an import most: of 10 million texts two different ones share it
    with a probability of 1 to 10**15.
    """
    pieces = [
        f"{_key(key)}:{encode_basestring(fold(value)) if value.__class__ is str else written(_fold(value))}"
        for key, value in _sorted(shown)
    ]
    return digest(f"{{{','.join(pieces)}}}")[:24]


def canonical(shown: Mapping[str, Json]) -> str:
    """What `content_hash` hashes, as a text."""
    pieces = [
        f"{_key(key)}:{encode_basestring(value) if value.__class__ is str else written(_one_spelling(value))}"
        for key, value in _sorted(shown)
    ]
    return f"{{{','.join(pieces)}}}"


def _sorted(shown: Mapping[str, Json]) -> Iterable[tuple[str, Json]]:
    return shown.items() if len(shown) == 1 else sorted(shown.items())


def written(value: Json) -> str:
    """A value as JSON without spaces, keys sorted; NaN and Infinity raise ValueError."""
    # The two that nearly all values are, without the encoder's set-up.
    if value.__class__ is str:
        return encode_basestring(value)
    if value.__class__ is int:
        return repr(value)
    return _encode(value)


def digest(text: str) -> str:
    """SHA-256 (hex) of a text; a lone surrogate raises ValueError."""
    return hashlib.sha256(text.encode()).hexdigest()


def fold(text: str) -> str:
    """The text without differences of case, width, composition and white space."""
    if text.isascii():  # is in every normal form, and folds to its lower case
        return " ".join(text.lower().split())
    # Case-folding can undo the normal form (and the other way round): once more makes folding twice change nothing.
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).casefold().split())


def _one_spelling(value: Json) -> Json:
    if isinstance(value, str):
        return value
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
    return written(_one_spelling(value))
