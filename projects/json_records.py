"""JSON text -> records that can be stored, or the sentence that says why not."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from projects.decoding import RECORD_LIMIT, FormatError, Text
from projects.task_types import Json

Record = dict[str, Json]


class RecordError(ValueError):
    """One record cannot be read or kept; the message is a sentence that begins with its place in the file."""


def parse(text: str, where: str) -> Record:
    """The object that `text` is; RecordError, with a sentence about `where`, if it is none or cannot be stored."""
    try:
        record = _decoded(text)
        # Only an escape can bring in what the decoder and the parser do not let through.
        if "\\u" in text:
            _check_texts(record)
    except _UnstorableError as error:
        raise RecordError(f"{where} has {error}.") from error
    except json.JSONDecodeError as error:
        found = f"found {excerpt(text[error.pos :])}" if text[error.pos :].strip() else "where it ends"
        raise RecordError(f"{where} is not JSON: {error.msg} at character {error.pos + 1}, {found}.") from error
    except RecursionError as error:
        raise RecordError(f"{where} is nested too deeply to be read.") from error
    if not isinstance(record, dict):
        raise RecordError(f'{where} is {excerpt(text)}: expected an object, {{"field": value}}.')
    return record


def excerpt(text: str, limit: int = 40) -> str:
    """The beginning of `text`, quoted and escaped so that it can be stored and shown whatever is in it."""
    text = text.strip()
    return repr(text if len(text) <= limit else f"{text[: limit - 1]}…")


class _UnstorableError(ValueError):
    """Valid to the parser, but nothing that can be kept as it is."""


def _constant(name: str) -> Json:
    raise _UnstorableError(f"the number {name}, which JSON does not have: write null, or leave the field out")


def _whole_number(digits: str) -> int:
    # 19 digits and a sign hold every 64-bit number; beyond, databases and browsers each round in their own way.
    if len(digits) <= 20 and -(2**63) <= int(digits) < 2**63:
        return int(digits)
    raise _UnstorableError(
        f"the number {excerpt(digits)}, which does not fit into 64 bits: write it as text, in quotes"
    )


def _number(digits: str) -> float:
    number = float(digits)
    if math.isfinite(number):
        return number
    raise _UnstorableError(f"the number {excerpt(digits)}, which is too large: write it as text, in quotes")


def _object(pairs: list[tuple[str, Json]]) -> Record:
    record = dict(pairs)
    if len(record) == len(pairs) and "" not in record:
        return record
    if len(record) < len(pairs):
        twice = next(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)
        raise _UnstorableError(f"the field {twice!r} more than once: rename or remove one of them")
    raise _UnstorableError("a field without a name: give it one or remove it")


# One decoder for all records: json.loads makes a new one for each call with options.
_decoder = json.JSONDecoder(
    parse_constant=_constant, parse_int=_whole_number, parse_float=_number, object_pairs_hook=_object
)


def _decoded(text: str) -> Any:
    if text.startswith("{"):
        record, end = _decoder.raw_decode(text)
        if end == len(text) or text[end:].isspace():
            return record
    return _decoder.decode(text)  # skips white space in front, and says what is wrong with an end


_NUL_OR_SURROGATE = re.compile("[\0\ud800-\udfff]")


def _check_texts(value: Json, field: str = "") -> None:
    if isinstance(value, str):
        found = _NUL_OR_SURROGATE.search(value)
        if found:
            kind = "a NUL character" if found[0] == "\0" else f"half a surrogate pair (\\u{ord(found[0]):04x})"
            raise _UnstorableError(f"{kind} in {field!a}, which cannot be stored: remove it")
    elif isinstance(value, list):
        for entry in value:
            _check_texts(entry, field)
    elif isinstance(value, dict):
        for name, entry in value.items():
            _check_texts(name, name)
            _check_texts(entry, name)


# A string with its closing quote (group 1, absent where the text ends first), or what gives an array its shape.
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(")?|[\[\]{},]', re.DOTALL)


def elements(text: Text) -> Iterator[str]:
    """The text of each element of the array that `text` is, unparsed; FormatError if it is not one whole array.

    Only strings, brackets and commas are looked at, so that an element that is not JSON is for `parse` to name, and
    the next one can still be read.
    """
    buffer, start, scanned, depth, place = _opened(text), 0, 0, 0, 1
    while True:
        token = _TOKEN.search(buffer, scanned)
        if token is None or (token[0].startswith('"') and token[1] is None):
            scanned = len(buffer) if token is None else token.start()
            more = text.chunk()
            if not more:
                raise FormatError(
                    f"The file ends inside item {place}: it was cut off, or a quote or bracket is missing."
                )
            if len(buffer) - start > RECORD_LIMIT:
                raise FormatError(f"Item {place} is longer than {RECORD_LIMIT:,} characters: split it.")
            buffer, start, scanned = buffer[start:] + more, 0, scanned - start
            continue
        scanned = token.end()
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}" and depth:
            depth -= 1
        elif mark in ",]":
            if not depth:
                element = buffer[start : token.start()].strip()
                if element or mark == "," or place > 1:
                    yield element
                if mark == "]":
                    break
                start, place = scanned, place + 1
        elif mark == "}":
            raise FormatError(f"Item {place} closes a bracket that it did not open: remove the brace.")
    _check_end(buffer[scanned:], text)


def _opened(text: Text) -> str:
    """What follows the bracket that opens the array."""
    begin = ""
    while not begin:
        chunk = text.chunk()
        if not chunk:
            raise FormatError("The file holds nothing but white space: export it again, as a JSON array of objects.")
        begin = chunk.lstrip()
    if begin.startswith("["):
        return begin[1:]
    hint = " If every line is an object, it is JSONL: choose that format." if begin.startswith("{") else ""
    raise FormatError(f"The file begins with {excerpt(begin)}, not with the [ of an array of objects: add it.{hint}")


def _check_end(rest: str, text: Text) -> None:
    while not rest.strip():
        rest = text.chunk()
        if not rest:
            return
    raise FormatError(f"After the end of the array comes {excerpt(rest)}: remove it, or put all rows into one array.")
