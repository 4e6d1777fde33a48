"""Tables as CSV, TSV or Parquet: a row for each answer or, in CSV and TSV, for each gold record or label.

Which files are CSV or TSV is known by their names; their first row is a header. Parquet needs the extra `parquet`.

A kilobyte of Parquet can unpack to gigabytes: pages are packed, and a page of numbers repeats values of a dictionary.
So the headers of all pages are read before any page. No value is larger than the largest page of its column: that
decides how many rows are read at a time. Texts in lists stay dictionaries until the size of their row is known.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Sequence
from typing import Any, TextIO

import orjson

from goldgate.errors import InputError, Place, describe_value
from goldgate.files.reading import BLOCK
from goldgate.readers.layouts.layout import FieldPaths, FileLayout, LayoutAnswer, answer_of, missing_package_error
from goldgate.readers.records import LINE_ENDS_TO_BLANKS, RecordFile, copy_records, decode_json, too_large_error

_RESPONSE = "response"
_GOLD_COLUMNS: dict[str, tuple[type, ...]] = {
    "events": (list,),
    "event_list": (list,),
    "value": (dict, list),
}  # JSON, and what it must be
_ONE_ROW = (
    'write {"id": …, "text": …, "events": […]} or {"id": …, "value": {…}} for each document, one per line of '
    "a .jsonl file"
)
_LONG_FORM = {"event_type", "role", "argument"}  # columns of a table with one row per argument
_JOIN_ROWS = (
    "this table has one row per argument, and a record is one document: docs/files.md has the pandas lines that join "
    'its rows (under "One row per argument")'
)
_LABEL = "label"
_ONE_LABEL = "one row per label, with the columns id, label, by (who gave it) and kind (human or judge)"
_LABEL_SCALARS = ("drawn", "judge_seen")  # columns of labels that hold no text; how a label is read, the words decide


def _answers(file: RecordFile, fields: FieldPaths) -> Iterator[tuple[int, LayoutAnswer | None]]:
    name = None if fields.response is not None else _RESPONSE
    for line, row in _rows(file, (name,), "--response-field names the column with what the model wrote"):
        yield line, answer_of(row, FieldPaths(fields.id, fields.response or _RESPONSE))


def gold_rows(file: RecordFile) -> RecordFile:
    """A table of gold as records: a column with events or a value in JSON, and whatever else a record has as text."""

    def records() -> Iterator[tuple[int, bytes]]:
        for line, row in _rows(file, (*_GOLD_COLUMNS,), _ONE_ROW):
            name = next(name for name in _GOLD_COLUMNS if name in row)
            cell = row[name].encode()
            try:
                gold = decode_json(cell)
            except ValueError:
                gold = None
            if not isinstance(gold, _GOLD_COLUMNS[name]):
                form = "an object or a list" if name == "value" else "a list"
                advice = f'with pandas: frame["{name}"] = frame["{name}"].map(json.dumps)'
                raise _bad_table_error(
                    file, line, f"{form} in JSON in the column {name}", describe_value(row[name]), advice
                )
            yield line, orjson.dumps({**row, name: orjson.Fragment(cell.translate(LINE_ENDS_TO_BLANKS))})

    return copy_records(file, records(), TABLE.name)


def label_rows(file: RecordFile) -> RecordFile:
    """A table of labels as records, their cells as text; a key whose cell is empty is left out."""
    rows = _rows(file, (_LABEL,), _ONE_LABEL)
    cells = ((line, {name: cell for name, cell in row.items() if cell}) for line, row in rows)
    scalars = (
        (line, {**row, **{name: cell_value(row[name]) for name in _LABEL_SCALARS if name in row}})
        for line, row in cells
    )
    return copy_records(file, ((line, orjson.dumps(row)) for line, row in scalars), TABLE.name)


def cell_value(cell: str) -> object:
    """A number, true or false, in the case of any spreadsheet; else the text itself."""
    try:
        value = decode_json(cell.strip().lower().encode())
    except ValueError:
        return cell
    return value if isinstance(value, (bool, int, float)) else cell


def _rows(file: RecordFile, names: Sequence[str | None], advice: str) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a table that has a column of one of these names (None: any), each with the line where it ends."""
    import csv  # few files are tables

    mark = _separator(file)
    csv.field_size_limit(min(file.limit + 1, 1 << 30))
    with io.TextIOWrapper(file.plain.stream(file.start), "utf-8", newline="") as text:
        lines = _Lines(file, text)
        rows = csv.DictReader(lines, delimiter=mark, restkey="", strict=True)
        try:
            columns = rows.fieldnames or []
            if None not in names and not any(name in columns for name in names):
                expected = f"a column {' or '.join(map(str, names))}"
                advice = _JOIN_ROWS if set(columns) >= _LONG_FORM else advice
                raise _bad_table_error(file, 1, expected, f"the columns {', '.join(columns)}", advice)
            if len({*columns}) < len(columns):
                twice = next(name for name in columns if columns.count(name) > 1)
                raise _bad_table_error(file, 1, "each column once", f"two columns {describe_value(twice)}")
            lines.size = 0
            for row in rows:
                lines.size = 0
                if "" in row or None in row.values():
                    actual = "more cells" if "" in row else "fewer cells"
                    raise _bad_table_error(file, rows.line_num, f"{len(columns)} cells, as in the header", actual)
                yield rows.line_num, row
        except csv.Error as problem:
            raise _bad_table_error(
                file, rows.line_num, "a table in which quotation marks are doubled", str(problem)
            ) from None
        except UnicodeDecodeError:
            raise _bad_table_error(file, None, "text in UTF-8", "other bytes", "save the file as UTF-8") from None


def _separator(file: RecordFile) -> str:
    """What is between cells: a comma, in .tsv a tab; a semicolon or the other where the header has none of these."""
    marks = "\t,;" if file.name.lower().removesuffix(".gz").endswith(".tsv") else ",;\t"
    header = file.plain.read_some(file.start, BLOCK).split(b"\n", 1)[0]
    return next((mark for mark in marks if mark.encode() in header), marks[0])


class _Lines:
    """The lines of a table; a row with more characters than a record may have bytes is an error."""

    def __init__(self, file: RecordFile, text: TextIO) -> None:
        self._file = file
        self._text = text
        self.size = 0  # characters of the row that is being read; whoever has read one sets it to 0

    def __iter__(self) -> Iterator[str]:
        limit, first = self._file.limit, 1
        for number, line in enumerate(iter(lambda: self._text.readline(limit + 1), ""), 1):
            first = first if self.size else number
            self.size += len(line)
            if self.size > limit:
                place, size = Place(self._file.name, first), f"a row of at least {self.size:,} characters"
                raise too_large_error(self._file.kind, place, size, limit)
            yield line


def _bad_table_error(
    file: RecordFile, line: int | None, expected: str | None, found: str, advice: str | None = None
) -> InputError:
    return InputError(
        f"{file.kind}.bad_table",
        "this table cannot be read",
        place=Place(file.name, line),
        expected=expected,
        found=found,
        advice=advice,
    )


TABLE = FileLayout("table", "CSV or TSV with a header", _answers, (".csv", ".tsv"))


_NAMES = ("id", "response", "events", "event_list")
_PAGE_RECORDS = 4  # a page may have 4 times the size of a record: most writers put 1,024 values into one
_BATCH_ROWS = 1024
_VALUE_BYTES = 64  # of a Python value beside its text
_HEADER_BYTES = 4096


def parquet_answers(file: RecordFile, fields: FieldPaths) -> Iterator[tuple[int, LayoutAnswer | None]]:
    names = {path.split(".")[0] for path in fields if path is not None} | {*fields, *_NAMES}
    return ((number, answer_of(row, fields)) for number, row in parquet_rows(file, names))


def parquet_rows(file: RecordFile, names: Collection[str | None]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a table from 1 on, with those of the named columns that it has."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise missing_package_error(file, "is a Parquet file", "pyarrow") from None
    try:
        table: Any = ParquetFile(file.plain.stream())
        columns = [name for name in table.schema_arrow.names if name in names]
        dictionaries, batch_rows = _plan(file, table.metadata, columns)
        table = ParquetFile(file.plain.stream(), read_dictionary=dictionaries, buffer_size=1 << 20)
        number = 0
        for group in range(table.num_row_groups):  # pyarrow joins no dictionaries of two of them in lists
            for batch in table.iter_batches(batch_rows, [group], columns):
                for row in _batch_rows(file, batch, number):
                    number += 1
                    yield number, row
    except (pyarrow.ArrowException, OSError) as problem:
        raise _bad_table_error(file, None, None, str(problem)) from None


def _plan(file: RecordFile, metadata: Any, names: list[str]) -> tuple[list[str], int]:
    """The columns that stay dictionaries, and the rows of a batch; pages must keep to the limit of a record."""
    most = file.limit * _PAGE_RECORDS
    dictionaries: dict[str, None] = {}
    rows = _BATCH_ROWS
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            path = column.path_in_schema
            if not any(path == name or path.startswith(name + ".") for name in names):
                continue
            largest, total, values = _pages(file, column)
            if largest > most:
                raise _column_too_large_error(file, path, f"a page of {largest:,} bytes", most)
            if not metadata.schema.column(number).max_repetition_level:
                rows = min(rows, max(1, file.limit // _PAGE_RECORDS // max(1, largest)))
                continue
            worst = max(total, values * 8)
            if column.physical_type == "BYTE_ARRAY" and "DELTA_BYTE_ARRAY" not in column.encodings:
                dictionaries[path] = None
            elif column.physical_type.endswith("BYTE_ARRAY"):  # pyarrow reads no dictionary of these
                worst = max(worst, values * largest)
            if worst > most:
                raise _column_too_large_error(
                    file, path, f"lists that may unpack to {worst:,} bytes in one row group", most
                )
    return list(dictionaries), rows


def _pages(file: RecordFile, column: Any) -> tuple[int, int, int]:
    """The pages of a column in a row group, unpacked: bytes of the largest, bytes of all, and how many values."""
    at = column.data_page_offset
    if column.has_dictionary_page and column.dictionary_page_offset is not None:
        at = min(at, column.dictionary_page_offset)
    end = at + column.total_compressed_size
    largest = total = values = 0
    while at < end:
        fields, length = _page_header(file, at)
        unpacked, packed = fields.get((2,), -1), fields.get((3,), -1)
        if min(unpacked, packed) < 0:
            raise OSError("a page without a size")
        largest, total = max(largest, unpacked), total + unpacked
        values += max(fields.get((5, 1), 0), fields.get((8, 1), 0))  # in the header of a data page, v1 or v2
        at += length + packed
    return largest, total, values


def _page_header(file: RecordFile, at: int) -> tuple[dict[tuple[int, ...], int], int]:
    """The numbers in the header of a page by their field, and the length of the header."""
    data = b""
    while True:
        more = file.plain.read_some(at + len(data), max(_HEADER_BYTES, len(data)))
        data += more
        fields: dict[tuple[int, ...], int] = {}
        try:
            return fields, _read_struct(data, 0, (), fields)
        except IndexError:
            if not more or len(data) > file.limit:
                raise OSError("the header of a page has no end") from None


def _read_struct(data: bytes, at: int, path: tuple[int, ...], fields: dict[tuple[int, ...], int]) -> int:
    """Read a struct in Thrift's compact protocol; the result is where it ends. IndexError where bytes are missing."""
    field = 0
    while kind := data[at]:
        at += 1
        field += kind >> 4
        if not kind >> 4:
            field, at = _varint(data, at)
            field = field >> 1 ^ -(field & 1)
        kind &= 15
        if kind in (4, 5, 6):
            number, at = _varint(data, at)
            fields[*path, field] = number >> 1 ^ -(number & 1)
        elif kind == 8:
            length, at = _varint(data, at)
            at += length
        elif kind == 12 and len(path) < 4:
            at = _read_struct(data, at, (*path, field), fields)
        elif kind in (3, 7):
            at += 1 if kind == 3 else 8
        elif kind not in (1, 2):  # booleans have no bytes of their own; lists and maps are in no page header
            raise OSError("the header of a page is damaged")
    return at + 1


def _varint(data: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return number, at
        if shift > 63:
            raise OSError("the header of a page is damaged")


def _batch_rows(file: RecordFile, batch: Any, before: int) -> Iterator[dict[str, Any]]:
    """The rows of a batch as Python values: all at once where they are small, else one by one."""
    if sum(map(_size, batch.columns)) <= file.limit:
        yield from batch.to_pylist()
        return
    for number in range(batch.num_rows):
        row = batch.slice(number, 1)
        size = sum(map(_size, row.columns))
        if size > file.limit:
            raise too_large_error(
                file.kind, Place(file.name, before + number + 1), f"a row of {size:,} bytes", file.limit
            )
        yield from row.to_pylist()


def _size(values: Any) -> int:
    """About how many bytes the values of an array have as Python values, without making them."""
    import pyarrow
    from pyarrow import compute

    kind, size = values.type, _VALUE_BYTES * len(values)
    if pyarrow.types.is_dictionary(kind) and pyarrow.types.is_string(kind.value_type):
        used, times = compute.value_counts(values.indices.drop_null()).flatten()
        lengths = compute.binary_length(values.dictionary.take(used))
        return size + (compute.sum(compute.multiply(lengths.cast("int64"), times)).as_py() or 0)
    if pyarrow.types.is_map(kind):
        return size + _size(values.keys) + _size(values.items)
    if pyarrow.types.is_struct(kind):
        return size + sum(map(_size, values.flatten()))
    if pyarrow.types.is_nested(kind) and not pyarrow.types.is_dictionary(kind):
        return size + _size(values.flatten())
    return size + int(values.nbytes)


def _column_too_large_error(file: RecordFile, column: str, found: str, most: int) -> InputError:
    error = too_large_error(file.kind, Place(file.name), f"{found} in the column {column}", file.limit)
    error.message = "a column of this table is larger than the limit"
    error.expected = f"at most {most:,} bytes at a time: {_PAGE_RECORDS} times the limit of a record"
    error.advice = f"write the table with smaller pages and row groups; {error.advice}"
    return error


PARQUET = FileLayout("parquet", "Parquet", parquet_answers, magic=b"PAR1")
