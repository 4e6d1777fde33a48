"""A page for the terminal: plain text, never wider than the terminal, aligned also where names are Chinese.

The first part lays out text in columns: wrapped lists, labels, and tables that always fit. All text passed to it
is safe to print already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from goldgate.core.page import (
    NOT_AVAILABLE,
    Block,
    Cell,
    Column,
    FindingList,
    InputLine,
    LabelList,
    Matrix,
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Page,
    Paragraph,
    Reasons,
    ReportOrigin,
    Table,
    undefined_lines,
)
from goldgate.core.report_page import error_page
from goldgate.errors import GoldgateError
from goldgate.report.escape import (
    display_width,
    distinct_names,
    shorten,
    shorten_middle,
    shorten_with_digest,
    visible,
    visible_name,
)
from goldgate.report.verdicts import OPTIONAL, gate_columns, gate_notes

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorValue

DEFAULT_COLUMNS = 80
MIN_COLUMNS = 40  # columns of a terminal; one that is narrower breaks lines by itself
INDENT = "  "
_GAP = "  "
_NAME_COLUMNS = 12  # a name is not shortened further than this
_TEXT_COLUMNS = 20  # a text is not wrapped in less than this
_BRACES = r"\{[^{}]*+(?:\{[^{}]*+(?:\{[^{}]*+\}[^{}]*+)*+\}[^{}]*+)*+\}"
_COMMAND = r"\b(?:goldgate [a-z]|pip install)\S*(?: (?:-[\w-]+(?:[ =](?!-)\S+)?|[A-Z][A-Z.…]*\b|\S*[/.]\w\S*))*"
_WHOLE = re.compile(f"`[^` ]++(?: [^` ]++)*+`|{_COMMAND}")  # code and commands, which no line breaks
_TOGETHER = re.compile(f"{_BRACES}| (?=%)")  # YAML in braces, a number and its %: not broken where a line holds them
# A word with one of these is a path or the name of a file.
_PATH = re.compile(r"/\.*[^\W\d]|\.{1,2}/|\.(?:jsonl?|ya?ml|md|html|xml|csv|tsv|txt|tex|svg|parquet|gz|py|ipynb)\b")
_FILE = re.compile(r".*?\.(?:jsonl?|csv|tsv|parquet|gz)(?::\d+)?(?=[ ,]|$)")  # of a place that begins with one
_CLAUSE = re.compile("[，。；：、！？]")  # Chinese has no blanks: a word with one of these is a sentence
_MAX_PATH = 4_096  # characters, as systems have it
GLUE = "\xa0"  # a blank that no line is broken at; text that is safe to print has none
_WORDS = re.compile("[^ ]+ *| +")
_COLOURS = {"PASS": 32, "FAIL": 31, "INCONCLUSIVE": 33, "SYSTEM_ERROR": 31, "NO_GATES": 33, NOT_AVAILABLE: 33}


CellKind = Literal["fixed", "name", "text", "number", "verdict"]


class TextCell(NamedTuple):
    """A cell: lines of text. A name can be shortened, a text wrapped; a number goes to the right."""

    lines: tuple[str, ...]
    kind: CellKind = "fixed"
    name: str = ""  # as it is in the data, if this is one

    @property
    def width(self) -> int:
        return max(map(display_width, self.lines), default=0)


class TextRow(NamedTuple):
    """Cells, and a note to stand under them."""

    cells: tuple[TextCell, ...]
    note: str = ""


def wrap_parts(
    parts: Sequence[str], columns: int, begin: str = "", indent: str = "", separator: str = " ", most: int | None = None
) -> list[str]:
    """Parts on as many lines as they need, up to `most`; one is only broken if it is longer than a line.

    A path and a command are never broken: the terminal does that, and what is copied from there is whole.
    """
    lines, line, is_new = [], begin, True
    for number, part in enumerate(parts):
        piece = part + (separator if number < len(parts) - 1 else "")
        for fragment in _fragments(piece, max(2, columns - display_width(indent))):
            fits = display_width(line) + display_width(fragment.rstrip(" ")) <= columns
            if not fits and (not is_new or display_width(line) > display_width(indent)):
                lines.append(line.rstrip(" "))
                line = indent
            line, is_new = line + fragment, False
    lines.append(line.rstrip(" "))
    if most is not None and len(lines) > most:
        lines[most - 1] = shorten(lines[most - 1], columns - 2).rstrip("… ") + " …"
        del lines[most:]
    return [line.replace(GLUE, " ") for line in lines]


def unbroken(text: str) -> str:
    """A path or a command, made visible, that `wrap_parts` does not break, whatever blanks are in it."""
    return visible(text).replace(" ", GLUE)


def word_parts(
    text: str, columns: int, indent: str = "", begin: str | None = None, most: int | None = None
) -> list[str]:
    """A text, broken between words."""
    return wrap_parts(_words(text), columns, indent if begin is None else begin, indent, most=most)


def labelled_lines(
    label: str, parts: Sequence[str], columns: int, label_width: int, separator: str = ", "
) -> list[str]:
    """A label, and beside it the parts; a single part is broken between its words."""
    if len(parts) == 1:
        parts, separator = _words(parts[0]), " "
    label_width = min(label_width, columns // 2)
    label = shorten_middle(label, label_width)
    begin = INDENT + label + " " * (label_width - display_width(label)) + _GAP
    return wrap_parts(parts, columns, begin, " " * display_width(begin), separator)


def glue_commands(text: str) -> str:
    """The text with `GLUE` for each blank in code or a command."""
    return _WHOLE.sub(lambda match: match[0].replace(" ", GLUE), text)


def _words(text: str) -> list[str]:
    """The words of a text; what no line should break is one of them."""
    joined = _TOGETHER.sub(lambda match: match[0].replace(" ", "\0"), glue_commands(text))
    return [word.replace("\0", " ") for word in joined.split(" ")]


def paint(text: str, verdict: str, *, colour: bool) -> str:
    """The text in the colour of a verdict, where colour is wanted."""
    number = _COLOURS.get(verdict)
    return f"\x1b[{number}m{text}\x1b[0m" if colour and number is not None else text


def text_table(heads: Sequence[Column], rows: Sequence[TextRow], columns: int, *, colour: bool = False) -> list[str]:
    """Rows with aligned columns, none of them wider than `columns`; heads without any title are not shown."""
    fixed = [n for n, head in enumerate(heads) if not head.optional]
    room = columns - len(INDENT)
    for chosen in _column_sets(heads, fixed):
        fitted = _fit([heads[n] for n in chosen], [[row.cells[n] for n in chosen] for row in rows], room)
        if fitted is not None:
            break
    else:
        fitted = [[_cut(row.cells[n], room) for n in chosen] for row in rows]
    shown_heads = [heads[n]._replace(title=shorten_middle(heads[n].title, room)) for n in chosen]
    lines, widths = _head_lines(shown_heads, fitted), _widths(shown_heads, fitted)
    for row, cells in zip(rows, fitted, strict=True):
        lines += _row_lines(cells, widths, colour=colour)
        below = [_labelled_cell(heads[n], row.cells[n]) for n in fixed if n not in chosen and any(row.cells[n].lines)]
        if below:
            lines += wrap_parts(below, columns, INDENT * 3, INDENT * 3, ", ")
        if row.note:
            lines += word_parts(row.note, columns, INDENT * 3)
    return lines


def verdict_lines(verdict: str, sentences: Sequence[str], columns: int, colour: bool) -> list[str]:
    """A verdict, and beside it a line or more for each sentence."""
    indent = " " * (len(verdict) + len(_GAP))
    lines = [line for sentence in sentences for line in word_parts(sentence, columns, indent)]
    return [paint(verdict, verdict, colour=colour) + lines[0][len(verdict) :], *lines[1:]]


def more_line(count: int, indent: str = INDENT) -> list[str]:
    """A line on what is not shown."""
    return [f"{indent}… and {count} more (--format json shows all)"] if count > 0 else []


def _fragments(piece: str, room: int) -> Iterator[str]:
    """The piece, if it fits into a line; else its words; else parts of those that are no path and no command."""
    if display_width(piece.rstrip(" ")) <= room:
        yield piece
        return
    for word in _WORDS.findall(piece):
        is_whole = len(word) <= _MAX_PATH and (GLUE in word or _is_path(word))
        while display_width(word.rstrip(" ")) > room and not is_whole:
            part = shorten(word, room + 1)[:-1] or word[:1]
            yield part
            word = word[len(part) :]
        if word:
            yield word


def _is_path(word: str) -> bool:
    return _PATH.search(word) is not None and _CLAUSE.search(word) is None


def _column_sets(heads: Sequence[Column], fixed: list[int]) -> Iterator[list[int]]:
    """Which columns could stand side by side: all; fewer and fewer that are optional, the last one left out first; then
    fewer and fewer of the rest, groups as a whole, at last the first."""
    optional = [n for n, head in enumerate(heads) if head.optional]
    for kept in range(len(optional), 0, -1):
        yield sorted([*fixed, *optional[:kept]])
    for kept in range(len(fixed), 0, -1):
        group = heads[fixed[kept - 1]].group
        if kept in (1, len(fixed)) or not group or heads[fixed[kept]].group != group:
            yield fixed[:kept]


def _fit(heads: Sequence[Column], cells: list[list[TextCell]], room: int) -> list[list[TextCell]] | None:
    """The cells with names shortened and one text wrapped, as far as it needs; None if that does not help."""
    widths = _widths(heads, cells)
    excess = _total(widths) - room
    widest_first = sorted(range(len(heads)), key=lambda n: (-widths[n], n))
    for kind, least in (("name", _NAME_COLUMNS), ("text", _TEXT_COLUMNS)):
        for n in widest_first:
            narrow = max(least, widths[n] - excess, display_width(heads[n].title))
            if excess > 0 and narrow < widths[n] and any(cell.kind == kind for cell in (row[n] for row in cells)):
                cells = _narrowed(cells, n, narrow)
                excess = _total(_widths(heads, cells)) - room
    return cells if excess <= 0 else None


def _narrowed(cells: list[list[TextCell]], n: int, narrow: int) -> list[list[TextCell]]:
    names = distinct_names((row[n].name for row in cells if row[n].kind == "name"), narrow)
    return [[*row[:n], _narrow(row[n], names, narrow), *row[n + 1 :]] for row in cells]


def _narrow(cell: TextCell, names: dict[str, str], narrow: int) -> TextCell:
    if cell.kind == "name":
        return cell._replace(lines=(names[cell.name],))
    return cell._replace(lines=tuple(part for line in cell.lines for part in word_parts(line, narrow)))


def _cut(cell: TextCell, room: int) -> TextCell:
    return cell._replace(lines=tuple(shorten_middle(line, room) for line in cell.lines))


def _widths(heads: Sequence[Column], cells: list[list[TextCell]]) -> list[int]:
    return [max([display_width(head.title), *(row[n].width for row in cells)]) for n, head in enumerate(heads)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _head_lines(heads: Sequence[Column], cells: list[list[TextCell]]) -> list[str]:
    widths, lines = _widths(heads, cells), []
    if any(head.group for head in heads):
        line = ""
        for group, members in groupby(range(len(heads)), key=lambda n: heads[n].group):
            span = _total([widths[n] for n in members])
            name = shorten(group, span)
            line += name + " " * (span - display_width(name)) + _GAP
        lines.append((INDENT + line).rstrip(" "))
    if any(head.title for head in heads):
        numbers = [any(row[n].kind == "number" for row in cells) for n in range(len(heads))]
        titles = [TextCell((h.title,), "number" if right else "fixed") for h, right in zip(heads, numbers, strict=True)]
        lines += _row_lines(titles, widths)
    return lines


def _row_lines(cells: Sequence[TextCell], widths: Sequence[int], *, colour: bool = False) -> list[str]:
    lines = []
    for number in range(max((len(cell.lines) for cell in cells), default=0)):
        line = INDENT
        for cell, columns in zip(cells, widths, strict=True):
            text = cell.lines[number] if number < len(cell.lines) else ""
            blanks = " " * (columns - display_width(text))
            if cell.kind in ("verdict", "number"):
                text = paint(text, text.split(" ")[0], colour=colour)
            line += (blanks + text if cell.kind == "number" else text + blanks) + _GAP
        lines.append(line.rstrip(" "))
    return lines


def _labelled_cell(head: Column, cell: TextCell) -> str:
    """A cell that stands under its row: `relaxed P 0.8588 (280/326)`; an interval has brackets of its own."""
    value, *others = filter(None, cell.lines)
    behind = " ".join(others)
    counts = behind if not others or (len(others) == 1 and behind.startswith("[")) else f"({behind})"
    return " ".join(filter(None, (head.group, head.title, value, counts)))


SHOWN_FILES = 5
SHOWN_DIGEST = 12  # hex digits, enough to tell files apart
FINDING_LINES = 6  # of one message
_SEVERITY_COLUMNS = 7
_LABEL_COLUMNS = 24


def render_text(page: Page, columns: int = DEFAULT_COLUMNS, colour: bool = False) -> str:
    """The verdict and the gates first, then the remarks, the sections, and what the numbers came from."""
    renderer = _TextRenderer(max(columns, MIN_COLUMNS), colour)
    remarks = Notes(tuple((message,) for message in page.remarks))
    parts = [
        [*renderer.headline(page), *renderer.blocks(page.headline_blocks)],
        renderer.gates(page),
        renderer.titled("What stands out", renderer.notes(remarks)),
        *(renderer.titled(s.title, renderer.blocks(s.blocks)) for s in page.titled_sections if not s.is_detail),
        renderer.origin(page.origin),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def render_error(error: GoldgateError, columns: int = DEFAULT_COLUMNS, status: str = "ERROR") -> str:
    """An error as it is printed where there is no report: its message first, and its file as it was named."""
    begin = f"{status}  "
    renderer = _TextRenderer(max(columns, MIN_COLUMNS), colour=False)
    file = unbroken(str(error.place._replace(field=None)))
    where = ": ".join(filter(None, (file, visible(error.place.field or ""))))
    details = (where, *(visible(text or "") for text in (error.expected, error.found, error.advice, error.code)))
    rows = [row for row in zip(("where", "expected", "found", "do", "code"), details, strict=True) if row[1]]
    longest = max(len(label) for label, _ in rows)
    lines = renderer.words(error.message, " " * len(begin), begin)
    lines += [line for label, text in rows for line in labelled_lines(label, [text], renderer.columns, longest)]
    sections = error_page("", cast("ErrorValue", error.as_json())).sections
    for problems in (block for section in sections for block in section.blocks if isinstance(block, Notes)):
        lines += ["", "Other problems", *renderer.notes(problems._replace(items=problems.items[1:]))]  # not this one
    return "\n".join(lines) + "\n"


class _TextRenderer(NamedTuple):
    """Lays out the parts of a page in a width, in colour or not."""

    columns: int
    colour: bool

    def titled(self, title: str, lines: list[str]) -> list[str]:
        return [shorten(visible(title), self.columns), *lines] if lines else []

    def words(self, text: str, indent: str = INDENT, begin: str | None = None, most: int | None = None) -> list[str]:
        return word_parts(visible(text), self.columns, indent, begin, most)

    def headline(self, page: Page) -> list[str]:
        about = visible(page.subject).split(", ") if page.subject else []
        about += [f"protocol {visible_name(page.protocol)}"] if page.protocol else []
        suite = f"goldgate {shorten_middle(visible_name(page.suite), _LABEL_COLUMNS)}" if page.suite else ""
        start = "  ".join(part for part in (page.verdict, suite) if part) + (": " if about else "")
        lines = wrap_parts(about, self.columns, start, INDENT * 3, ", ")
        return [paint(page.verdict, page.verdict, colour=self.colour) + lines[0][len(page.verdict) :], *lines[1:]]

    def gates(self, page: Page) -> list[str]:
        if not page.gates:
            return []
        columns = gate_columns(page.gates)
        own, shared = gate_notes(page.gates)
        kinds: dict[str, CellKind] = {"": "verdict", "value": "number"}
        rows = [
            TextRow(
                tuple(TextCell((visible(text(gate)),), kinds.get(title, "fixed")) for title, text in columns.items()),
                visible(own.get(gate.metric, "")),
            )
            for gate in page.gates
        ]
        heads = [Column(title, optional=title in OPTIONAL) for title in columns]
        lines = text_table(heads, rows, self.columns, colour=self.colour)
        for reason, metrics in shared.items():
            lines += self.words(f"{', '.join(metrics)}: {reason}")
        return ["Gates", *lines, *(self.words(page.gates_note) if page.gates_note else [])]

    def blocks(self, blocks: Sequence[Block]) -> list[str]:
        return [line for block in blocks for line in self.block(block)]

    def block(self, block: Block) -> list[str]:
        match block:
            case Table():
                return self.table(block)
            case Matrix():
                return self.table(block.as_table())
            case MetricValues():
                return self.values(block)
            case LabelList():
                return self.labels(block)
            case Paragraph():
                return self.words(block.text)
            case Notes():
                return self.notes(block)
            case FindingList():
                return self.findings(block)

    def table(self, block: Table) -> list[str]:
        if not block.rows:
            return self.words(block.empty)
        rows = block.rows[: block.limit]
        names = [
            distinct_names(cell.text for cell in column if isinstance(cell, Name)) for column in zip(*rows, strict=True)
        ]
        text_rows = [
            TextRow(tuple(_cell(cell, names[n], with_counts=block.with_counts) for n, cell in enumerate(row)))
            for row in rows
        ]
        heads = [c._replace(title=visible(c.title), group=visible(c.group)) for c in block.columns]
        lines = text_table(heads, text_rows, self.columns, colour=self.colour)
        return [*lines, *self._reasons(block.reasons()), *more_line(len(block.rows) - len(rows))]

    def values(self, block: MetricValues) -> list[str]:
        """A line for each metric: value, counts or why it is n/a; a reason that several share stands under them."""
        only_reason = block.only_reason()
        if only_reason is not None:
            names = [visible(name.text) for name, _ in block.rows]
            return [*wrap_parts(names, self.columns, INDENT, INDENT, ", "), *self.words(f"n/a: {only_reason}")]
        rows = []
        for line in block.lines():
            cells = [TextCell((visible(line.name),)), TextCell((line.value,), "number")]
            cells += [TextCell((line.interval,))] if block.has_intervals else []
            rows.append(TextRow((*cells, TextCell((visible(line.counts),), "text"))))
        heads = [Column("")] * len(rows[0].cells) if rows else []
        return [*text_table(heads, rows, self.columns, colour=self.colour), *self._reasons(block.shared_reasons())]

    def _reasons(self, reasons: Reasons) -> list[str]:
        return [line for text in undefined_lines(reasons) for line in self.words(text, INDENT * 2, INDENT)]

    def labels(self, block: LabelList) -> list[str]:
        labels = [visible(str(pair.label)) for pair in block.rows]
        longest = min(max(map(display_width, labels), default=0), _LABEL_COLUMNS)
        return [
            line
            for label, pair in zip(labels, block.rows, strict=True)
            for line in labelled_lines(label, [visible(part) for part in pair.parts], self.columns, longest)
        ]

    def notes(self, block: Notes) -> list[str]:
        items = block.items[: block.limit]
        lines = [line for item in items for line in self.words("".join(map(str, item)), INDENT * 2, f"{INDENT}- ")]
        return [*lines, *more_line(len(block.items) - len(items))]

    def findings(self, block: FindingList) -> list[str]:
        if not block.rows:
            return [f"{INDENT}none"]
        rows, lines = block.rows[: block.limit], []
        indent = INDENT + " " * (_SEVERITY_COLUMNS + 2)
        for severity, code, place, message, *_ in rows:
            whole_place = _FILE.sub(lambda match: match[0].replace(" ", GLUE), visible(place), count=1)
            first = f"{visible(f'{severity:{_SEVERITY_COLUMNS}}  {code}  ')}{whole_place}".rstrip(" ")
            if len(first) > _MAX_PATH or not _is_path(place):
                first = shorten_with_digest(first, (self.columns - len(indent)) * FINDING_LINES)
            lines += word_parts(first, self.columns, indent, INDENT)
            lines += self.words(message, indent, most=FINDING_LINES) if message else []
        return [*lines, *more_line(len(block.rows) - len(rows))]

    def origin(self, origin: ReportOrigin | None) -> list[str]:
        if origin is None:
            return []
        kinds: dict[str, list[InputLine]] = {}
        for file in origin.inputs:
            kinds.setdefault(file.kind, []).append(file)
        # The lines of the signature put together again are the signature.
        rows = [(label, [visible(version)], ", ") for label, version in origin.versions]
        rows.append(("signature", visible(origin.signature).split("|"), "|"))
        for kind, files in kinds.items():
            for file in files[:SHOWN_FILES]:
                digest = f"sha256 {visible(file.sha256[:SHOWN_DIGEST])}  {visible(file.size)}".rstrip()
                rows.append((visible(kind), [digest], ", "))
        longest = max(display_width(label) for label, *_ in rows)
        lines = ["Where the numbers come from"]
        for label, parts, separator in rows:
            lines += labelled_lines(label, parts, self.columns, longest, separator)
        for kind, files in kinds.items():
            if len(files) > SHOWN_FILES:
                lines += self.words(f"… and {len(files) - SHOWN_FILES} more {kind} files")
        return lines


def _cell(cell: Cell, names: Mapping[str, str], *, with_counts: bool) -> TextCell:
    if isinstance(cell, Name):
        return TextCell((names[cell.text],), "fixed" if cell.whole else "name", cell.text)
    if isinstance(cell, MeasuredValue):
        interval = () if cell.interval is None else (str(cell.interval),)
        value = f"{cell}*" if cell.best else str(cell)
        return TextCell((value, *interval, *([cell.counts] if with_counts else [])), "number")
    return TextCell((visible(cell),), "text")
