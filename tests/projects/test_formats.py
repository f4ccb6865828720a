import csv
import io
import json
import tracemalloc
from collections.abc import Iterator
from typing import IO, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projects.decoding import RECORD_LIMIT, lines, open_text
from projects.formats import FORMATS, Format, FormatError, Row, guess_format
from projects.task_types import Json

pytestmark = pytest.mark.one_database


def read(key: str, data: bytes | str) -> list[Row]:
    return list(FORMATS[key].read(io.BytesIO(data.encode() if isinstance(data, str) else data)))


def problems(key: str, data: bytes | str) -> list[tuple[int, str | None]]:
    return [(row.number, row.problem) for row in read(key, data)]


def refusal(key: str, data: bytes | str) -> str:
    with pytest.raises(FormatError) as caught:
        read(key, data)
    return str(caught.value)


def written(key: str, rows: list[dict[str, Json]], fields: list[str] | None = None) -> bytes:
    stream = io.BytesIO()
    assert FORMATS[key].write(rows, stream, fields) == len(rows)
    return stream.getvalue()


# --- the registry ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("file_format", FORMATS.values(), ids=FORMATS)
def test_every_format_keeps_the_whole_contract(file_format: Format) -> None:
    rows: list[dict[str, Json]] = [{"id": "1", "text": "one"}, {"id": "2", "text": 'a "quoted"\nline, and\ttab'}]

    data = written(file_format.key, rows)

    assert FORMATS[file_format.key] is file_format
    assert file_format.media_type.count("/") == 1
    assert [row.record for row in read(file_format.key, data)] == rows
    assert guess_format(f"items{file_format.suffix}", data) == file_format.key
    assert guess_format("items", data) == file_format.key


@pytest.mark.parametrize("file_format", FORMATS.values(), ids=FORMATS)
def test_reading_leaves_the_stream_open(file_format: Format) -> None:
    stream = io.BytesIO(written(file_format.key, [{"a": "1"}]))

    list(file_format.read(stream))

    assert not stream.closed


# --- encodings -------------------------------------------------------------------------------------------------------

ENCODED = {
    "utf-8": lambda text: text.encode("utf-8"),
    "utf-8 with mark": lambda text: text.encode("utf-8-sig"),
    "utf-16-le": lambda text: b"\xff\xfe" + text.encode("utf-16-le"),
    "utf-16-be": lambda text: b"\xfe\xff" + text.encode("utf-16-be"),
    "utf-32-le": lambda text: b"\xff\xfe\x00\x00" + text.encode("utf-32-le"),
}
SAMPLES = {
    "csv": 'id,text\r\n1,"zwei\nZeilen: 日本 🙂"\r\n',
    "tsv": 'id\ttext\n1\t"zwei\nZeilen: 日本 🙂"\n',
    "json": '[{"id": "1", "text": "zwei\\nZeilen: 日本 🙂"}]',
    "jsonl": '{"id": "1", "text": "zwei\\nZeilen: 日本 🙂"}\n',
}


@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("key", SAMPLES)
def test_unicode_is_read_in_every_encoding_with_a_mark_and_in_utf_8(key: str, encoding: str) -> None:
    data = ENCODED[encoding](SAMPLES[key])

    assert [row.record for row in read(key, data)] == [{"id": "1", "text": "zwei\nZeilen: 日本 🙂"}]
    assert guess_format("upload", data) == key


@pytest.mark.parametrize("key", SAMPLES)
def test_bytes_that_are_not_utf_8_are_named_with_their_offset(key: str) -> None:
    begin, row = {"json": ("[", '{"a": "日本"},\n'), "jsonl": ("", '{"a": "日本"}\n')}.get(key, ("a\n", "日本\n"))
    data = begin.encode() + row.encode() * 20_000 + b'"caf\xe9"\n'
    offset = len(data) - 3

    assert refusal(key, data) == (
        f"The file is not UTF-8 text (byte 0xE9 at offset {offset}): "
        "save it as text, in UTF-8, or in UTF-16 with a byte-order mark."
    )


def test_the_offset_counts_the_byte_order_mark() -> None:
    assert "(byte 0xE9 at offset 5)" in refusal("csv", b"\xef\xbb\xbfa\n\xe9\n")


def test_utf_16_that_ends_in_half_a_character_is_refused() -> None:
    assert refusal("csv", b"\xff\xfe" + "a\nb\n".encode("utf-16-le") + b"\x41") == (
        "The file is not UTF-16 text (byte 0x41 at offset 10): "
        "save it as text, in UTF-8, or in UTF-16 with a byte-order mark."
    )


# --- files that cannot be read ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", FORMATS)
def test_an_empty_file_is_refused(key: str) -> None:
    assert refusal(key, b"") == "The file is empty (0 bytes): export it again, with rows in it."


@pytest.mark.parametrize("key", FORMATS)
@pytest.mark.parametrize("data", [b"\n", b" \r\n\n", b"\xef\xbb\xbf"], ids=["line", "lines", "mark"])
def test_a_file_of_white_space_is_refused(key: str, data: bytes) -> None:
    message = refusal(key, data)

    assert message.startswith(("The file holds nothing but white space", "Column 1 has no name"))


@pytest.mark.parametrize("key", FORMATS)
@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b"PK\x03\x04\x14\x00\x06\x00", "a ZIP archive or an Excel workbook, not a text file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Excel or Word document, not a text file"),
        (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3", "a PDF document, not a text file"),
        (b"\x1f\x8b\x08\x00", "a gzip archive, not a text file"),
        (b"\x00\x00\x00\x00", "not a text file (byte 0x00 at offset 0)"),
        (b"MZ\x90\x00\x03", "not a text file (byte 0x00 at offset 3)"),
        (b"i\x00d\x00\n\x00", "not a text file (byte 0x00 at offset 1)"),
        (bytes(range(128, 256)), "not UTF-8 text (byte 0x80 at offset 0)"),
    ],
)
def test_a_binary_file_is_refused_by_what_it_is(key: str, data: bytes, found: str) -> None:
    assert refusal(key, data).startswith(f"The file is {found}")


@pytest.mark.parametrize("data", ["id,text", "id,text\n", "id,text\r\n\r\n"])
def test_a_header_without_rows_is_refused(data: str) -> None:
    assert refusal("csv", data) == "The file has a header and no rows: add rows below the header."


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("id,,text", "Column 2 has no name in the header on line 1: give it one or remove it."),
        ("id, ,text", "Column 2 has no name in the header on line 1: give it one or remove it."),
        ("id,text,", "Column 3 has no name in the header on line 1: give it one or remove it."),
        ("id,text,id", "The header on line 1 has 'id' more than once: rename one of the columns."),
        (
            '"id,text',
            "The header cannot be read. Line 1: a quote opens here and never closes: close it, or double it "
            "if it is text.",
        ),
    ],
)
def test_a_header_that_cannot_name_fields_is_refused(header: str, message: str) -> None:
    assert refusal("csv", f"{header}\n1,2,3\n") == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            '{"id": 1}\n{"id": 2}\n',
            'The file begins with \'{"id": 1}\\n{"id": 2}\', not with the [ of an array of objects: add it. '
            "If every line is an object, it is JSONL: choose that format.",
        ),
        ("id,text\n", "The file begins with 'id,text', not with the [ of an array of objects: add it."),
        ("[]", "The array is empty: export it again, with one object for each row."),
        (
            "[1, 2]",
            "The array begins with '1', and its items have to be objects: write every row as {\"field\": value}.",
        ),
        ('[{"a": 1}', "The file ends inside item 1: it was cut off, or a quote or bracket is missing."),
        ('[{"a": 1}, {"a": "x', "The file ends inside item 2: it was cut off, or a quote or bracket is missing."),
        ('[{"a": 1}}', "Item 1 closes a bracket that it did not open: remove the brace."),
        (
            '[{"a": 1}] [{"a": 2}]',
            "After the end of the array comes '[{\"a\": 2}]': remove it, or put all rows into one array.",
        ),
    ],
)
def test_json_that_is_no_array_of_objects_is_refused(data: str, message: str) -> None:
    assert refusal("json", data) == message


@pytest.mark.parametrize(
    ("key", "data", "message"),
    [
        ("csv", b"a\n" + b"x" * (RECORD_LIMIT + 1), "Line 2 is longer than 4,194,304 characters"),
        ("jsonl", b'{"a": "' + b"x" * RECORD_LIMIT, "Line 1 is longer than 4,194,304 characters"),
        ("json", b'[{"a": "' + b"x" * 5_000_000 + b'"}]', "Item 1 is longer than 4,194,304 characters"),
    ],
)
def test_a_record_without_end_is_refused_before_it_fills_the_memory(key: str, data: bytes, message: str) -> None:
    assert refusal(key, data).startswith(message)


# --- rows with a problem, and the rows around them -------------------------------------------------------------------


def test_csv_rows_are_numbered_by_the_line_they_begin_on() -> None:
    rows = read("csv", 'id,text\r\n1,one\r\n\r\n2,"two\r\nlines"\r\n3,three')

    assert rows == [
        Row(2, {"id": "1", "text": "one"}),
        Row(4, {"id": "2", "text": "two\r\nlines"}),
        Row(6, {"id": "3", "text": "three"}),
    ]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("length", [64 * 1024 - 2, 64 * 1024 - 1, 64 * 1024, 200_000])
def test_lines_end_where_they_end_wherever_the_reader_cuts_the_file(end: str, length: int) -> None:
    found = list(lines(open_text(io.BytesIO(f"{'x' * length}{end}y{end}".encode()))))
    assert found == [f"{'x' * length}{end}", f"y{end}"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_on_any_system(end: str) -> None:
    assert read("csv", f"a{end}1{end}2{end}") == [Row(2, {"a": "1"}), Row(3, {"a": "2"})]


def test_a_line_separator_inside_a_text_ends_no_line() -> None:
    text = "a\u2028b\x0bc\x85d"

    assert read("csv", f"t\n{text}\n") == [Row(2, {"t": text})]
    assert read("jsonl", json.dumps({"t": text}, ensure_ascii=False)) == [Row(1, {"t": text})]


def test_csv_rows_with_the_wrong_number_of_fields_are_problems_and_the_rest_goes_on() -> None:
    assert read("csv", "a,b\n1\n1,2\n1,2,3\n") == [
        Row(2, None, "Line 2 has 1 field and the header has 2: quote values that hold the separator."),
        Row(3, {"a": "1", "b": "2"}),
        Row(4, None, "Line 4 has 3 fields and the header has 2: quote values that hold the separator."),
    ]


def test_csv_text_after_a_quote_is_a_problem_and_the_rest_goes_on() -> None:
    assert read("csv", 'a,b\n"x"y,2\n3,4\n') == [
        Row(2, None, "Line 2: text follows a closing quote: a quote inside a quoted value has to be doubled."),
        Row(3, {"a": "3", "b": "4"}),
    ]


def test_csv_quote_that_never_closes_is_named_where_it_opens() -> None:
    assert read("csv", 'a,b\n1,2\n3,"four\n5,6\n') == [
        Row(2, {"a": "1", "b": "2"}),
        Row(3, None, "Line 3: a quote opens here and never closes: close it, or double it if it is text."),
    ]


def test_csv_quote_that_does_not_close_for_megabytes_costs_no_more_than_those() -> None:
    data = 'a,b\n1,"two\n' + "5,6\n" * (RECORD_LIMIT // 4 + 10)

    rows = read("csv", data)

    assert rows[0].problem == "Line 2: a quote opens here and does not close within 4,194,304 characters: close it."
    assert {row.problem for row in rows[1:]} == {None}
    assert rows[-1].number == data.count("\n")


def test_a_quote_inside_an_unquoted_value_is_text() -> None:
    assert read("csv", 'a,b\n5" pipe,2\n') == [Row(2, {"a": '5" pipe', "b": "2"})]


def test_csv_nul_is_a_problem_of_its_row() -> None:
    assert read("csv", "a,b\n1,x\0y\n2,z\n") == [
        Row(2, None, "Line 2 has a NUL character in 'b', which cannot be stored: remove it."),
        Row(3, {"a": "2", "b": "z"}),
    ]


def test_jsonl_line_that_is_not_json_is_a_problem_and_the_rest_goes_on() -> None:
    assert read("jsonl", '{"a": 1}\n\n{"a": oops}\n[1]\n"text"\n{"a": 2') == [
        Row(1, {"a": 1}),
        Row(3, None, "Line 3 is not JSON: Expecting value at character 7, found 'oops}'."),
        Row(4, None, "Line 4 is '[1]': expected an object, {\"field\": value}."),
        Row(5, None, 'Line 5 is \'"text"\': expected an object, {"field": value}.'),
        Row(6, None, "Line 6 is not JSON: Expecting ',' delimiter at character 8, where it ends."),
    ]


def test_json_item_that_is_not_json_is_a_problem_and_the_rest_goes_on() -> None:
    data = '[ {"a": "]},[{\\"" , "b": {"c": [1, {}]}},\n{"a": oops}, 3, , {"a": 1, "a": 2},{"a": null},]'

    assert read("json", data) == [
        Row(1, {"a": ']},[{"', "b": {"c": [1, {}]}}),
        Row(2, None, "Item 2 is not JSON: Expecting value at character 7, found 'oops}'."),
        Row(3, None, "Item 3 is '3': expected an object, {\"field\": value}."),
        Row(4, None, "Item 4 is not JSON: Expecting value at character 1, where it ends."),
        Row(5, None, "Item 5 has the field 'a' more than once: rename or remove one of them."),
        Row(6, {"a": None}),
        Row(7, None, "Item 7 is not JSON: Expecting value at character 1, where it ends."),
    ]


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("NaN", "the number NaN, which JSON does not have: write null, or leave the field out"),
        ("-Infinity", "the number -Infinity, which JSON does not have: write null, or leave the field out"),
        ("1e400", "the number '1e400', which is too large: write it as text, in quotes"),
        (str(2**63), f"the number '{2**63}', which does not fit into 64 bits: write it as text, in quotes"),
        (
            str(-(2**63) - 1),
            f"the number '{-(2**63) - 1}', which does not fit into 64 bits: write it as text, in quotes",
        ),
        (
            "9" * 5_000,
            f"the number '{'9' * 39}…', which does not fit into 64 bits: write it as text, in quotes",
        ),
        (r'"x\u0000y"', "a NUL character in 'a', which cannot be stored: remove it"),
        (r'["x", {"b": "\ud83d"}]', r"half a surrogate pair (\ud83d) in 'b', which cannot be stored: remove it"),
        (r'{"\udc00": 1}', r"half a surrogate pair (\udc00) in '\udc00', which cannot be stored: remove it"),
        ('{"": 1}', "a field without a name: give it one or remove it"),
        ('{"b": 1, "b": 2}', "the field 'b' more than once: rename or remove one of them"),
    ],
)
def test_json_values_that_cannot_be_stored_are_problems_of_their_row(value: str, problem: str) -> None:
    assert problems("jsonl", f'{{"a": {value}}}\n{{"a": 1}}\n') == [(1, f"Line 1 has {problem}."), (2, None)]
    assert problems("json", f'[{{"a": {value}}}, {{"a": 1}}]') == [(1, f"Item 1 has {problem}."), (2, None)]


def test_json_that_is_nested_without_end_is_a_problem_of_its_row() -> None:
    deep = '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"

    assert problems("jsonl", f"{deep}\n") == [(1, "Line 1 is nested too deeply to be read.")]


def test_a_raw_nul_in_a_line_of_json_leaves_a_sentence_that_can_be_stored() -> None:
    [_, (number, problem)] = problems("jsonl", b'{"a": 1}\n{"a": "x\0y"}\n')

    assert number == 2
    assert problem == "Line 2 is not JSON: Invalid control character at at character 9, found '\\x00y\"}'."


def test_json_numbers_keep_their_type() -> None:
    record = {"a": 1, "b": 1.0, "c": "1", "d": True, "e": None, "f": 2**63 - 1, "g": -(2**63), "h": [0.1, -5]}

    for key, data in (("jsonl", json.dumps(record)), ("json", json.dumps([record]))):
        [row] = read(key, data)
        assert row.record is not None
        assert [(name, type(value), value) for name, value in row.record.items()] == [
            (name, type(value), value) for name, value in record.items()
        ]


def test_a_pair_of_surrogate_escapes_is_one_character() -> None:
    assert read("jsonl", r'{"a": "\ud83d\ude42"}') == [Row(1, {"a": "🙂"})]


# --- pieces and sizes ------------------------------------------------------------------------------------------------


class Trickle(io.RawIOBase):
    """A stream that gives as few bytes as it likes, as a socket does."""

    def __init__(self, data: bytes, size: int) -> None:
        self._data, self._size = io.BytesIO(data), size

    def read(self, size: int = -1) -> bytes:
        return self._data.read(self._size)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize("encoding", ENCODED)
@pytest.mark.parametrize("key", SAMPLES)
def test_where_a_stream_is_cut_does_not_matter(key: str, encoding: str, size: int) -> None:
    data = ENCODED[encoding](SAMPLES[key])

    rows = list(FORMATS[key].read(cast(IO[bytes], Trickle(data, size))))

    assert rows == read(key, data)


class Lines(io.RawIOBase):
    """A file of `count` lines that is never in memory as a whole."""

    def __init__(self, head: bytes, line: bytes, count: int, tail: bytes) -> None:
        self._pieces = self._generate(head, line, count, tail)

    def _generate(self, head: bytes, line: bytes, count: int, tail: bytes) -> Iterator[bytes]:
        yield head
        for _ in range(count // 100):
            yield line * 100
        yield tail

    def read(self, size: int = -1) -> bytes:
        return next(self._pieces, b"")


BIG = {
    "csv": (b"id,text\n", b'17,"some text of an item,\nwith two lines"\n', b""),
    "tsv": (b"id\ttext\n", b"17\tsome text of an item\n", b""),
    "jsonl": (b"", b'{"id": 17, "text": "some text of an item"}\n', b'{"id": 1}'),
    "json": (b"[", b'{"id": 17, "text": "some text of an item"},\n', b'{"id": 1}]'),
}


def _peak_of_reading(key: str, count: int) -> int:
    head, line, tail = BIG[key]
    stream = cast(IO[bytes], Lines(head or line, line, count, tail))
    tracemalloc.start()
    try:
        rows = sum(row.problem is None for row in FORMATS[key].read(stream))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert rows == count + (not head) + bool(tail)
    return peak


@pytest.mark.parametrize("key", BIG)
def test_reading_100_000_rows_needs_the_memory_of_1_000(key: str) -> None:
    small = _peak_of_reading(key, 1_000)

    # 1,000 rows may be less than one buffer. The text of 100,000 is 2.5 MB and more, their records some 40 MB.
    assert _peak_of_reading(key, 100_000) < small + 400_000


class Sink(io.RawIOBase):
    """Forgets what is written to it."""

    def write(self, data: object) -> int:
        return 0


@pytest.mark.parametrize("key", FORMATS)
def test_writing_takes_rows_as_they_come(key: str) -> None:
    asked = 0

    def rows() -> Iterator[dict[str, Json]]:
        nonlocal asked
        for _ in range(20_000):
            asked += 1
            yield {"id": asked, "text": "some text of an item" * 10}

    tracemalloc.start()
    try:
        assert FORMATS[key].write(rows(), cast(IO[bytes], Sink())) == 20_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert asked == 20_000
    assert peak < 200_000


# --- there and back --------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12) | st.sampled_from(
    ["=1+1", "-5", "@x", "+1", '"', '""', "\r", "\n", "\r\n", "\t", ",", " ", "\ufeff", "\u2028", "\\", "{", "],["]
)
names = texts.filter(lambda name: name.strip() != "" and not name.startswith("\ufeff"))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, Json]]:
    columns = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    return draw(st.lists(st.fixed_dictionaries(dict.fromkeys(columns, texts)), min_size=1, max_size=5))


@given(tables())
def test_texts_come_back_from_a_table_to_the_character(rows: list[dict[str, Json]]) -> None:
    for key in ("csv", "tsv"):
        assert [row.record for row in read(key, written(key, rows))] == rows


@given(st.lists(st.dictionaries(names, values, min_size=1, max_size=4), min_size=1, max_size=5))
def test_values_come_back_from_json_with_their_types(rows: list[dict[str, Json]]) -> None:
    for key in ("json", "jsonl"):
        assert [repr(row.record) for row in read(key, written(key, rows))] == [repr(row) for row in rows]


def test_a_table_writes_other_values_as_json_has_them() -> None:
    rows: list[dict[str, Json]] = [{"a": None, "b": True, "c": 1.5, "d": ["é", 1], "e": {"f": 2}}]

    assert written("csv", rows).decode() == 'a,b,c,d,e\r\n,true,1.5,"[""é"", 1]","{""f"": 2}"\r\n'


@pytest.mark.parametrize(
    ("key", "data"),
    [
        ("csv", b"b,a\r\n,1\r\n2,\r\n"),
        ("tsv", b"b\ta\r\n\t1\r\n2\t\r\n"),
        ("json", b'[\n{"b": null, "a": 1},\n{"b": 2, "a": null}\n]\n'),
        ("jsonl", b'{"b": null, "a": 1}\n{"b": 2, "a": null}\n'),
    ],
)
def test_fields_give_every_row_the_same_columns(key: str, data: bytes) -> None:
    assert written(key, [{"a": 1}, {"b": 2}], fields=["b", "a"]) == data


@pytest.mark.parametrize(("key", "data"), [("csv", b"a\r\n"), ("tsv", b"a\r\n"), ("json", b"[]\n"), ("jsonl", b"")])
def test_no_rows_make_a_valid_file(key: str, data: bytes) -> None:
    assert written(key, [], fields=["a"]) == data


def test_a_table_refuses_a_field_that_has_no_column() -> None:
    with pytest.raises(ValueError, match=r"Row 2 has 'b', which is none of the columns \['a'\]"):
        written("csv", [{"a": 1}, {"b": 2}])


@pytest.mark.parametrize("key", ["json", "jsonl"])
def test_json_refuses_to_write_nan(key: str) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        written(key, [{"a": float("nan")}])


# --- which format it is ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("filename", "head", "key"),
    [
        ("items.CSV", b"a\tb\n", "csv"),
        ("items.tab", b"a,b\n", "tsv"),
        ("items.ndjson", b"", "jsonl"),
        ("items.json", b' [{"a": 1}]', "json"),
        ("items.json", b'{"a": 1}\n{"a": 2}\n', "jsonl"),
        ("items.txt", b"a\tb,c\td\n", "tsv"),
        ("items.txt", b"\xef\xbb\xbf\n[", "json"),
        ("items", b"", "csv"),
        ("items", b"\xff\xfea\x00\t\x00b\x00", "tsv"),
        ("items", b"\x89\x00\xff", "csv"),
    ],
)
def test_the_format_is_guessed_from_name_and_beginning(filename: str, head: bytes, key: str) -> None:
    assert guess_format(filename, head) == key


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (b"id;text\n1;a, b\n", {"id": "1", "text": "a, b"}),
        (b"id\ttext\n1\ta;b\n", {"id": "1", "text": "a;b"}),
        (b"id,text;x\n1,a;b\n", {"id": "1", "text;x": "a;b"}),
        (b'"a;b",text\n1,c\n', {"a;b": "1", "text": "c"}),
        (b'"a,b";text\n1;c\n', {"a,b": "1", "text": "c"}),
        (b"text\na;b\n", {"text": "a;b"}),
        (b'"a\t\r",b\n1,c\n', {"a\t\r": "1", "b": "c"}),
        (b'"a,\nb";text\n1;c\n', {"a,\nb": "1", "text": "c"}),
        (b'a"b;text\n1;c\n', {'a"b': "1", "text": "c"}),
    ],
)
def test_a_csv_of_a_spreadsheet_that_writes_semicolons_or_tabs_is_read_as_it_is_meant(header, expected):
    assert [row.record for row in FORMATS["csv"].read(io.BytesIO(header))] == [expected]


@pytest.mark.parametrize("value", [True, False, 0, -7, 2**70, 1.5, 1e300, -0.0, [1, "é"], {"a": None, "b": [True]}])
def test_a_cell_that_is_no_text_is_what_json_has(value: Json) -> None:
    stream = io.BytesIO()
    FORMATS["csv"].write([{"a": value}], stream)
    (_header, row) = csv.reader(io.StringIO(stream.getvalue().decode()))
    assert row == [json.dumps(value, ensure_ascii=False)]


def test_a_number_that_json_does_not_have_is_no_cell() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        FORMATS["csv"].write([{"a": float("nan")}], io.BytesIO())
