"""Tables as CSV or TSV, by their name: a header, and a row for each answer, gold record or label."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TextIO

import orjson

from goldgate.errors import InputError, Place, describe_value
from goldgate.files.reading import BLOCK
from goldgate.readers.layouts.layout import FieldPaths, FileLayout, LayoutAnswer, answer_of
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
                raise _bad_table_error(file, 1, expected, f"the columns {', '.join(columns)}", advice)
            if len({*columns}) < len(columns):
                twice = next(name for name in columns if columns.count(name) > 1)
                raise _bad_table_error(file, 1, "each column once", f"two columns {describe_value(twice)}", None)
            lines.begin_row()
            for row in rows:
                lines.begin_row()
                if "" in row or None in row.values():
                    actual = "more cells" if "" in row else "fewer cells"
                    raise _bad_table_error(file, rows.line_num, f"{len(columns)} cells, as in the header", actual, None)
                yield rows.line_num, row
        except csv.Error as problem:
            raise _bad_table_error(
                file, rows.line_num, "a table in which quotation marks are doubled", str(problem), None
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
        self._line = 0
        self.begin_row()

    def begin_row(self) -> None:
        """Start counting the characters of a new row."""
        self._first, self._size = self._line + 1, 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self._file.limit + 1)
        if not line:
            raise StopIteration
        self._line, self._size = self._line + 1, self._size + len(line)
        if self._size > self._file.limit:
            place, actual = Place(self._file.name, self._first), f"a row of at least {self._size:,} characters"
            raise too_large_error(self._file.kind, place, actual, self._file.limit)
        return line


def _bad_table_error(file: RecordFile, line: int | None, expected: str, found: str, advice: str | None) -> InputError:
    return InputError(
        f"{file.kind}.bad_table",
        "this table cannot be read",
        place=Place(file.name, line),
        expected=expected,
        found=found,
        advice=advice,
    )


TABLE = FileLayout("table", "CSV or TSV with a header", _answers, (".csv", ".tsv"))
