"""Parquet files: a row is an answer. Needs the extra `parquet`.

A kilobyte of Parquet can unpack to gigabytes: pages are packed, and a page of numbers repeats values of a dictionary.
So the headers of all pages are read before any page. No value is larger than the largest page of its column: that
decides how many rows are read at a time. Texts in lists stay dictionaries until the size of their row is known.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from goldgate.errors import InputError, MachineError, Place
from goldgate.readers.layouts.layout import FieldPaths, FileLayout, LayoutAnswer, answer_of
from goldgate.readers.records import RecordFile, too_large_error

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
        raise MachineError(
            "machine.missing_package",
            "this is a Parquet file, and the package pyarrow is not installed",
            place=Place(file.name),
            advice="pip install pyarrow",
        ) from None
    try:
        table: Any = ParquetFile(file.plain.stream())
        columns = [name for name in table.schema_arrow.names if name in names]
        plan = _plan(file, table.metadata, columns)
        table = ParquetFile(file.plain.stream(), read_dictionary=plan.dictionaries, buffer_size=1 << 20)
        number = 0
        for group in range(table.num_row_groups):  # pyarrow joins no dictionaries of two of them in lists
            for batch in table.iter_batches(plan.rows, [group], columns):
                for row in _rows(file, batch, number):
                    number += 1
                    yield number, row
    except (pyarrow.ArrowException, OSError) as problem:
        raise InputError(
            f"{file.kind}.bad_table", "this table cannot be read", place=Place(file.name), found=str(problem)
        ) from None


class _Plan(NamedTuple):
    """How a table is read: columns that stay dictionaries, and the rows of a batch."""

    dictionaries: list[str]
    rows: int


class _Pages(NamedTuple):
    """The pages of a column in a row group, unpacked: bytes of the largest, bytes of all, and how many values."""

    largest: int
    total: int
    values: int


def _plan(file: RecordFile, metadata: Any, names: list[str]) -> _Plan:
    """Check the headers of all pages against the limit of a record."""
    most = file.limit * _PAGE_RECORDS
    dictionaries: dict[str, None] = {}
    rows = _BATCH_ROWS
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            path = column.path_in_schema
            if not any(path == name or path.startswith(name + ".") for name in names):
                continue
            pages = _pages(file, column)
            if pages.largest > most:
                raise _column_too_large_error(file, path, f"a page of {pages.largest:,} bytes", most)
            if not metadata.schema.column(number).max_repetition_level:
                rows = min(rows, max(1, file.limit // _PAGE_RECORDS // max(1, pages.largest)))
                continue
            worst = max(pages.total, pages.values * 8)
            if column.physical_type == "BYTE_ARRAY" and "DELTA_BYTE_ARRAY" not in column.encodings:
                dictionaries[path] = None
            elif column.physical_type.endswith("BYTE_ARRAY"):  # pyarrow reads no dictionary of these
                worst = max(worst, pages.values * pages.largest)
            if worst > most:
                raise _column_too_large_error(
                    file, path, f"lists that may unpack to {worst:,} bytes in one row group", most
                )
    return _Plan(list(dictionaries), rows)


def _pages(file: RecordFile, column: Any) -> _Pages:
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
    return _Pages(largest, total, values)


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


def _rows(file: RecordFile, batch: Any, before: int) -> Iterator[dict[str, Any]]:
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
