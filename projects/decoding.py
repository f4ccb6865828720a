"""Bytes -> text: which encoding a file is in, its lines or chunks, and where it stops being text."""

import io
from collections.abc import Iterator
from typing import IO

# In characters. Nobody labels a text of this length in one piece, and a quote that is never closed must not
# pull the rest of a large file into memory.
RECORD_LIMIT = 4 * 1024 * 1024
_CHUNK = 64 * 1024


class FormatError(ValueError):
    """The file as a whole cannot be read; the message names what was found and what to do."""


_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8"),
    (b"\xff\xfe\x00\x00", "utf-32-le"),  # before UTF-16, whose mark is the beginning of this one
    (b"\x00\x00\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)
_LONGEST_MARK = max(len(mark) for mark, _ in _BYTE_ORDER_MARKS)
_SIGNATURES = (
    (b"PK\x03\x04", "a ZIP archive or an Excel workbook"),
    (b"\xd0\xcf\x11\xe0", "an old Excel or Word document"),
    (b"%PDF", "a PDF document"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"PAR1", "a Parquet file"),
    (b"\x89PNG", "an image"),
    (b"\xff\xd8\xff", "an image"),
)
_WHAT_TO_DO = "save it as text, in UTF-8, or in UTF-16 with a byte-order mark"


def declared_encoding(head: bytes) -> tuple[str, int]:
    """The encoding that a byte-order mark declares, UTF-8 without one, and the length of the mark."""
    return next(((name, len(mark)) for mark, name in _BYTE_ORDER_MARKS if head.startswith(mark)), ("utf-8", 0))


class _Source(io.BufferedIOBase):
    """A byte stream that knows how much was read of it, so that a decoding error can say where in the file it is."""

    name = "import"  # TextIOWrapper asks for one

    def __init__(self, stream: IO[bytes], head: bytes, skip: int) -> None:
        self._stream, self._head, self.position = stream, head[skip:], skip

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        data, self._head = self._head or self._stream.read(_CHUNK if size < 0 else size), b""
        self.position += len(data)
        return data


class Text:
    """The decoded text of a stream, read by chunks; FormatError where it is not text."""

    def __init__(self, source: _Source, encoding: str) -> None:
        self._source, self._encoding = source, encoding
        self._wrapper = io.TextIOWrapper(source, encoding=encoding, errors="strict", newline="")

    def chunk(self) -> str:
        try:
            return self._wrapper.read(_CHUNK)
        except UnicodeDecodeError as error:
            offset = self._source.position - len(error.object) + error.start
            found = f"byte 0x{error.object[error.start]:02X} at offset {offset}"
            name = self._encoding.upper().removesuffix("-LE").removesuffix("-BE")
            raise FormatError(f"The file is not {name} text ({found}): {_WHAT_TO_DO}.") from error


def open_text(stream: IO[bytes]) -> Text:
    """The text of `stream`; FormatError if it is empty or begins as no text does."""
    head = stream.read(_CHUNK)
    while head and len(head) < _LONGEST_MARK and (more := stream.read(_CHUNK)):
        head += more
    if not head:
        raise FormatError("The file is empty (0 bytes): export it again, with rows in it.")
    kind = next((kind for signature, kind in _SIGNATURES if head.startswith(signature)), None)
    if kind:
        raise FormatError(f"The file is {kind}, not a text file: export it as CSV, TSV, JSON or JSONL.")
    encoding, skip = declared_encoding(head)
    if encoding == "utf-8":
        # In the first line it is no slip in a value: text of one byte a character has none of these.
        offset = head.split(b"\n", 1)[0].find(0)
        if offset >= 0:
            raise FormatError(f"The file is not a text file (byte 0x00 at offset {offset}): {_WHAT_TO_DO}.")
    return Text(_Source(stream, head, skip), encoding)


def lines(text: Text) -> Iterator[str]:
    """The lines with their ends (\\n, \\r or \\r\\n), as an editor counts them."""
    number, rest = 0, ""
    while chunk := text.chunk():
        buffer = rest + chunk
        # A \r at its end could be half of \r\n.
        end = max(buffer.rfind("\n"), buffer.rfind("\r", 0, -1)) + 1
        rest = buffer[end:]
        for line in io.StringIO(buffer[:end], newline=""):
            number += 1
            if len(line) > RECORD_LIMIT:
                raise _too_long(number)
            yield line
        if len(rest) > RECORD_LIMIT:
            raise _too_long(number + 1)
    if rest:
        yield rest


def _too_long(number: int) -> FormatError:
    return FormatError(
        f"Line {number} is longer than {RECORD_LIMIT:,} characters: "
        "check that it is the right file, in the right format, and split the row."
    )
