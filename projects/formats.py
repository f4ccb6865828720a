"""Rows <-> bytes, both ways: the file formats of import and export.

`read` takes a byte stream and yields rows one by one, so that a file of any length needs the memory of its longest
record. What is wrong with one row is that row's `problem`, and the others go on; what is wrong with the file raises
FormatError, for the most part before the first row. `write` makes files that `read` gives back unchanged.

Two things are done here although libraries exist for them:

* Elements of a JSON array are cut apart by `json_records.elements` and parsed by `json`, as lines of JSONL are. The
  incremental parsers for Python on top of yajl turn a lone surrogate into "?" without a word, and end the file at
  the first NaN, which `json.dump` writes.
* A cell that begins with = + - or @ is written as it is. Some spreadsheets run such a cell as a formula, and a quote in
  front of it would stop that, but it would also change the data: a label or an item that starts with "-" has to come
  back as it went out. Who opens an export in a spreadsheet imports it as text.
"""

import csv
import json
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import PurePath
from typing import IO, ClassVar

from projects import json_records
from projects.decoding import RECORD_LIMIT, FormatError, declared_encoding, lines, open_text
from projects.json_records import Record, RecordError
from projects.task_types import Json

# More than this many lines in the names of the columns are a quote that was never closed.
HEADER_LINES = 100

__all__ = ["FORMATS", "Format", "FormatError", "NoRows", "Record", "Row", "guess_format"]

# The csv module has one limit for the whole process, and its default of 131,072 is shorter than some texts.
csv.field_size_limit(RECORD_LIMIT)
# Made once: `json.dumps` with options makes an encoder for every call.
_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


@dataclass(frozen=True, slots=True)
class Row:
    """One record or what is wrong with it. `number` is the line it begins on, or its place in a JSON array from 1."""

    number: int
    record: Record | None
    problem: str | None = None


class NoRows(FormatError):
    """A table that has a header and nothing below it; `header` are its columns."""

    def __init__(self, header: list[str]) -> None:
        super().__init__("The file has a header and no rows: add rows below the header.")
        self.header = header


class Format(ABC):
    """One file format, under its key in FORMATS."""

    key: ClassVar[str]
    suffix: ClassVar[str]
    media_type: ClassVar[str]

    @abstractmethod
    def read(self, stream: IO[bytes]) -> Iterator[Row]:
        """The rows of `stream`, read as they are asked for. Does not close it. Raises FormatError while iterating."""

    @abstractmethod
    def write(self, rows: Iterable[Mapping[str, Json]], stream: IO[bytes], fields: Sequence[str] | None = None) -> int:
        """Write `rows` as they come, UTF-8, and return their number. `fields`: the columns, unless the first row's."""


def _header(found: Iterator[str]) -> tuple[str, list[str]]:
    """The text of the header, which a quoted column name may carry over several lines, and the lines read for it."""
    begun: list[str] = []
    for line in islice(found, HEADER_LINES):
        begun.append(line)
        text = "".join(begun)
        if text.count('"') % 2 == 0:
            return text, begun
    # A quote that stays open is an error, or a sign inside a name: the first line alone is the header then.
    return "".join(begun[:1]), begun


class Delimited(Format):
    """A table with a header line, quoted as RFC 4180 has it. Every value is a text; a missing one is empty."""

    delimiter: ClassVar[str]

    def read(self, stream: IO[bytes]) -> Iterator[Row]:
        records = self._records(stream)
        number, header, problem = next(records, (0, [], None))
        if problem:
            raise FormatError(f"The header cannot be read. {problem}")
        if not header:
            raise FormatError("The file holds nothing but white space: export it again, with a header and rows.")
        _check_header(header, number)
        rows = 0
        for number, fields, problem in records:
            rows += 1
            found = problem or _fields_problem(fields, header, number)
            yield Row(number, None, found) if found else Row(number, dict(zip(header, fields, strict=True)))
        if not rows:
            raise NoRows(header)

    def _records(self, stream: IO[bytes]) -> Iterator[tuple[int, list[str], str | None]]:
        """The line that each record begins on, its fields, and why it could not be read; blank lines left out."""
        found = lines(open_text(stream))
        header, begun = _header(found)
        reader = csv.reader(chain(begun, found), delimiter=self.delimiter_in(header), strict=True)
        while True:
            number = reader.line_num + 1
            try:
                fields = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                # The reader starts afresh on the next line, so one bad row costs no other.
                yield number, [], _quoting_problem(error, number)
            else:
                if fields:
                    yield number, fields, None

    def delimiter_in(self, header: str) -> str:
        """What stands between the fields of a file with this header, which a quoted name may carry over lines."""
        return self.delimiter

    def write(self, rows: Iterable[Mapping[str, Json]], stream: IO[bytes], fields: Sequence[str] | None = None) -> int:
        found = iter(rows)
        first = next(found, None)
        columns = list(first or ()) if fields is None else list(fields)
        begun = () if first is None else (first,)
        # \r\n, because then csv quotes a lone \r as well as a lone \n, and both come back.
        writer = csv.writer(_Utf8(stream), delimiter=self.delimiter, lineterminator="\r\n")
        if columns:
            writer.writerow(columns)
        counted = count(1)
        writer.writerows(map(_cells(columns), chain(begun, found), counted))
        return next(counted) - 1


class Csv(Delimited):
    key = "csv"
    suffix = ".csv"
    media_type = "text/csv"
    delimiter = ","

    def delimiter_in(self, header: str) -> str:
        """A comma; where the header has none, a semicolon or a tab, which spreadsheets write in many countries."""
        bare = re.sub(r'"[^"]*"', "", header)
        others = (sign for sign in ";\t" if sign in bare)
        return self.delimiter if self.delimiter in bare else next(others, self.delimiter)


class Tsv(Delimited):
    key = "tsv"
    suffix = ".tsv"
    media_type = "text/tab-separated-values"
    delimiter = "\t"


class JsonLines(Format):
    """One JSON object a line."""

    key = "jsonl"
    suffix = ".jsonl"
    media_type = "application/jsonl"

    def read(self, stream: IO[bytes]) -> Iterator[Row]:
        rows = 0
        for number, line in enumerate(lines(open_text(stream)), start=1):
            if line.isspace():
                continue
            rows += 1
            yield _row(line, number, f"Line {number}")
        if not rows:
            raise FormatError("The file holds nothing but white space: export it again, one JSON object a line.")

    def write(self, rows: Iterable[Mapping[str, Json]], stream: IO[bytes], fields: Sequence[str] | None = None) -> int:
        written = 0
        for row in rows:
            stream.write(f"{_dump(row, fields)}\n".encode())
            written += 1
        return written


class JsonArray(Format):
    """One JSON array of objects."""

    key = "json"
    suffix = ".json"
    media_type = "application/json"

    def read(self, stream: IO[bytes]) -> Iterator[Row]:
        number = 0
        for number, element in enumerate(json_records.elements(open_text(stream)), start=1):
            if number == 1 and not element.startswith("{"):
                raise FormatError(
                    f"The array begins with {json_records.excerpt(element)}, and its items have to be objects: "
                    'write every row as {"field": value}.'
                )
            yield _row(element, number, f"Item {number}")
        if not number:
            raise FormatError("The array is empty: export it again, with one object for each row.")

    def write(self, rows: Iterable[Mapping[str, Json]], stream: IO[bytes], fields: Sequence[str] | None = None) -> int:
        written = 0
        for written, row in enumerate(rows, start=1):
            stream.write(f"{'[' if written == 1 else ','}\n{_dump(row, fields)}".encode())
        stream.write(b"\n]\n" if written else b"[]\n")
        return written


FORMATS: dict[str, Format] = {file_format.key: file_format for file_format in (Csv(), Tsv(), JsonArray(), JsonLines())}

_SUFFIXES = {file_format.suffix: key for key, file_format in FORMATS.items()} | {".tab": "tsv", ".ndjson": "jsonl"}


def guess_format(filename: str, head: bytes) -> str:
    """The key in FORMATS that name and first bytes speak for. A guess: the person who imports may say otherwise."""
    encoding, skip = declared_encoding(head)
    text = head[skip:].decode(encoding, errors="ignore").lstrip()
    named = _SUFFIXES.get(PurePath(filename).suffix.lower())
    if named == "json" and text.startswith("{"):
        return "jsonl"  # one object a line is often called .json; a single object is no array either way
    if named:
        return named
    if text.startswith(("[", "{")):
        return "json" if text.startswith("[") else "jsonl"
    first_line = text.split("\n", 1)[0]
    return "tsv" if first_line.count("\t") > first_line.count(",") else "csv"


def _check_header(header: list[str], number: int) -> None:
    unnamed = [place for place, name in enumerate(header, start=1) if not name.strip()]
    if unnamed:
        raise FormatError(f"Column {unnamed[0]} has no name in the header on line {number}: give it one or remove it.")
    twice = [name for name, times in Counter(header).items() if times > 1]
    if twice:
        raise FormatError(f"The header on line {number} has {twice[0]!r} more than once: rename one of the columns.")
    if any("\0" in name for name in header):
        raise FormatError(f"The header on line {number} has a NUL character in it: remove it.")


def _fields_problem(fields: list[str], header: list[str], number: int) -> str | None:
    if len(fields) != len(header):
        found = f"{len(fields)} field{'' if len(fields) == 1 else 's'}"
        return f"Line {number} has {found} and the header has {len(header)}: quote values that hold the separator."
    for name, value in zip(header, fields, strict=True):
        if "\0" in value:
            return f"Line {number} has a NUL character in {name!r}, which cannot be stored: remove it."
    return None


def _quoting_problem(error: csv.Error, number: int) -> str:
    message = str(error)
    if "field larger" in message:
        return f"Line {number}: a quote opens here and does not close within {RECORD_LIMIT:,} characters: close it."
    if "unexpected end" in message:
        return f"Line {number}: a quote opens here and never closes: close it, or double it if it is text."
    if "expected after" in message:
        return f"Line {number}: text follows a closing quote: a quote inside a quoted value has to be doubled."
    return f"Line {number} cannot be read: {message}."


def _cells(columns: Sequence[str]) -> Callable[[Mapping[str, Json], int], list[str]]:
    """What makes the cells of a row, given its number; a row with another column is an error."""
    known = frozenset(columns)

    def cells(row: Mapping[str, Json], number: int) -> list[str]:
        if not row.keys() <= known:
            unknown = next(name for name in row if name not in known)
            raise ValueError(f"Row {number} has {unknown!r}, which is none of the columns {columns}.")
        # The common ones here: a call for each of twenty columns would cost more than all the rest.
        values = map(row.get, columns)
        return [value if type(value) is str else "" if value is None else _cell(value) for value in values]

    return cells


def _cell(value: Json) -> str:
    """The text of a value: a text as it is, nothing as the empty cell, all else as JSON has it."""
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(int(value)) if isinstance(value, int) else _json(value)


class _Utf8:
    """What csv.writer needs of a text file, on a byte stream that is left open."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text.encode())


def _row(text: str, number: int, where: str) -> Row:
    try:
        return Row(number, json_records.parse(text, where))
    except RecordError as error:
        return Row(number, None, str(error))


def _dump(row: Mapping[str, Json], fields: Sequence[str] | None) -> str:
    record = dict(row) if fields is None else {name: row.get(name) for name in fields}
    return _json(record)
