"""A page for the terminal: plain text, never wider than the terminal, aligned also where names are Chinese.

The first part lays out text in columns: wrapped lists, labels, and tables that always fit. All text passed to it
is safe to print already.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

from goldgate.core.page import (
    NOT_AVAILABLE,
    Block,
    Cell,
    FindingList,
    GateLine,
    LabelList,
    Matrix,
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Page,
    Paragraph,
    Phrase,
    ReportOrigin,
    Section,
    Table,
)
from goldgate.core.report_page import error_page
from goldgate.report.escape import (
    display_width,
    distinct_names,
    shorten,
    shorten_middle,
    shorten_with_digest,
    visible,
    visible_name,
)
from goldgate.report.verdicts import OPTIONAL, gate_columns, gate_notes, group_reasons, undefined_cells

DEFAULT_COLUMNS = 80
MIN_COLUMNS = 40  # columns of a terminal; one that is narrower breaks lines by itself
INDENT = "  "
_GAP = "  "
_NAME_COLUMNS = 12  # a name is not shortened further than this
_TEXT_COLUMNS = 20  # a text is not wrapped in less than this
_BETWEEN_WORDS = re.compile(" (?!%)")
_WORDS = re.compile("[^ ]+ *| +")
_COLOURS = {"PASS": 32, "FAIL": 31, "INCONCLUSIVE": 33, "SYSTEM_ERROR": 31, "NO_GATES": 33, NOT_AVAILABLE: 33}


class TextCell(NamedTuple):
    """A cell: lines of text. A name can be shortened, a text wrapped; a number goes to the right."""

    lines: tuple[str, ...]
    kind: Literal["fixed", "name", "text", "number", "verdict"] = "fixed"
    name: str = ""  # as it is in the data, if this is one

    @property
    def width(self) -> int:
        return max(map(display_width, self.lines), default=0)


class ColumnHead(NamedTuple):
    """The head of a column."""

    title: str = ""
    group: str = ""
    optional: bool = False


class TextRow(NamedTuple):
    """Cells, and a note to stand under them."""

    cells: tuple[TextCell, ...]
    note: str = ""


def wrap_parts(
    parts: Sequence[str],
    columns: int,
    begin: str = "",
    indent: str = "",
    separator: str = " ",
    most: int | None = None,
) -> list[str]:
    """Parts on as many lines as they need, up to `most`; one is only broken if it is longer than a line."""
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
    return lines


def word_parts(
    text: str, columns: int, indent: str = "", begin: str | None = None, most: int | None = None
) -> list[str]:
    """A text, broken between words; a number and its % are one."""
    return wrap_parts(_BETWEEN_WORDS.split(text), columns, indent if begin is None else begin, indent, most=most)


def labelled_lines(
    label: str, parts: Sequence[str], columns: int, label_width: int, separator: str = ", ", indent: str = INDENT
) -> list[str]:
    """A label, and beside it the parts; a single part is broken between its words."""
    if len(parts) == 1:
        parts, separator = parts[0].split(" "), " "
    label_width = min(label_width, columns // 2)
    label = shorten_middle(label, label_width)
    begin = indent + label + " " * (label_width - display_width(label)) + _GAP
    return wrap_parts(parts, columns, begin, " " * display_width(begin), separator)


def paint(text: str, verdict: str, *, colour: bool) -> str:
    """The text in the colour of a verdict, where colour is wanted."""
    number = _COLOURS.get(verdict)
    return f"\x1b[{number}m{text}\x1b[0m" if colour and number is not None else text


def text_table(
    heads: Sequence[ColumnHead], rows: Sequence[TextRow], columns: int, *, colour: bool = False
) -> list[str]:
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
    """A verdict, and beside it a line or more for each sentence, which need not be safe to show."""
    indent = " " * (len(verdict) + len(_GAP))
    lines = [line for sentence in sentences for line in word_parts(visible(sentence), columns, indent)]
    return [paint(verdict, verdict, colour=colour) + lines[0][len(verdict) :], *lines[1:]]


def more_line(count: int, indent: str = INDENT) -> list[str]:
    """A line on what is not shown."""
    return [f"{indent}… and {count} more (--format json shows all)"] if count > 0 else []


def _fragments(piece: str, room: int) -> Iterator[str]:
    """The piece, if it fits into a line; else its words; else parts of them."""
    if display_width(piece.rstrip(" ")) <= room:
        yield piece
        return
    for word in _WORDS.findall(piece):
        while display_width(word.rstrip(" ")) > room:
            part = shorten(word, room + 1)[:-1] or word[:1]
            yield part
            word = word[len(part) :]
        if word:
            yield word


def _column_sets(heads: Sequence[ColumnHead], fixed: list[int]) -> Iterator[list[int]]:
    """Which columns could stand side by side: all; fewer and fewer that are optional, the last one left out first; then
    fewer and fewer of the rest, groups as a whole, at last the first."""
    optional = [n for n, head in enumerate(heads) if head.optional]
    for kept in range(len(optional), 0, -1):
        yield sorted([*fixed, *optional[:kept]])
    for kept in range(len(fixed), 0, -1):
        group = heads[fixed[kept - 1]].group
        if kept in (1, len(fixed)) or not group or heads[fixed[kept]].group != group:
            yield fixed[:kept]


def _fit(heads: Sequence[ColumnHead], cells: list[list[TextCell]], room: int) -> list[list[TextCell]] | None:
    """The cells with names shortened and one text wrapped, as far as it needs; None if that does not help."""
    widths = _widths(heads, cells)
    excess = _total(widths) - room
    widest_first = sorted(range(len(heads)), key=lambda n: (-widths[n], n))
    for kind, least in (("name", _NAME_COLUMNS), ("text", _TEXT_COLUMNS)):
        for n in widest_first:
            narrow = max(least, widths[n] - excess, display_width(heads[n].title))
            if excess > 0 and narrow < widths[n] and any(cell.kind == kind for cell in (row[n] for row in cells)):
                cells = _narrowed(cells, n, narrow)
                excess -= widths[n] - narrow
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


def _widths(heads: Sequence[ColumnHead], cells: list[list[TextCell]]) -> list[int]:
    return [max([display_width(head.title), *(row[n].width for row in cells)]) for n, head in enumerate(heads)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _head_lines(heads: Sequence[ColumnHead], cells: list[list[TextCell]]) -> list[str]:
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


def _labelled_cell(head: ColumnHead, cell: TextCell) -> str:
    """A cell that stands under its row: `relaxed P 0.8588 (280/326)`; an interval has brackets of its own."""
    value, *others = filter(None, cell.lines)
    behind = " ".join(others)
    counts = behind if not others or (len(others) == 1 and behind.startswith("[")) else f"({behind})"
    return " ".join(filter(None, (head.group, head.title, value, counts)))


SHOWN_FILES = 5
SHOWN_DIGEST = 12  # hex digits, enough to tell files apart
FINDING_LINES = 3  # of one message
_SEVERITY_COLUMNS = 7
_LABEL_COLUMNS = 24


def render_text(page: Page, columns: int = DEFAULT_COLUMNS, colour: bool = False) -> str:
    """The verdict and the gates first, then what stands out, the sections, and what the numbers came from."""
    look = _TextRenderer(max(columns, MIN_COLUMNS), colour)
    untitled = [section for section in page.sections if not section.title]
    top = [*look.headline(page), *(line for section in untitled for line in look.blocks(section))]
    parts = [
        top,
        look.gates(page),
        _titled("What stands out", look.notes(Notes(tuple((message,) for message in page.stands_out)))),
        *(
            _titled(shorten(visible(s.title), look.columns), look.blocks(s))
            for s in page.sections
            if s.title and not s.is_detail
        ),
        look.first_samples(page),
        look.origin(page.origin),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def render_error(error: Mapping[str, Any], columns: int = DEFAULT_COLUMNS, colour: bool = False) -> str:
    """An error alone: why there are no numbers."""
    return render_text(error_page({"suite": "", "error": error}), columns, colour)


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, *lines] if lines else []


class _TextRenderer(NamedTuple):
    """How wide, and whether in colour: what every line depends on."""

    columns: int
    colour: bool

    def headline(self, page: Page) -> list[str]:
        about = visible(page.subject).split(", ") if page.subject else []
        about += [f"protocol {visible_name(page.protocol)}"] if page.protocol else []
        suite = f"goldgate {shorten_middle(visible_name(page.suite), _LABEL_COLUMNS)}" if page.suite else ""
        start = "  ".join(part for part in (page.verdict, suite) if part) + (": " if about else "")
        lines = wrap_parts(about, self.columns, start, INDENT * 3, ", ")
        return [paint(page.verdict, page.verdict, colour=self.colour) + lines[0][len(page.verdict) :], *lines[1:]]

    def gates(self, page: Page) -> list[str]:
        if page.gates is None:
            return []
        if not page.gates:
            return ["Gates", f"{INDENT}none"]
        titles = gate_columns(page.gates)
        own, shared = gate_notes(page.gates)
        rows = [TextRow(self._gate(gate, titles), visible(own.get(gate.metric, ""))) for gate in page.gates]
        lines = text_table(
            [ColumnHead(title, optional=title in OPTIONAL) for title in titles], rows, self.columns, colour=self.colour
        )
        for reason, metrics in shared.items():
            lines += word_parts(visible(f"{', '.join(metrics)}: {reason}"), self.columns, INDENT)
        if page.gates_note:
            lines += word_parts(visible(page.gates_note), self.columns, INDENT)
        return ["Gates", *lines]

    def _gate(self, gate: GateLine, titles: Mapping[str, Any]) -> tuple[TextCell, ...]:
        found = [visible(value(gate)) for value in titles.values()]
        kinds = {"": "verdict", "value": "number"}
        return tuple(
            TextCell((text,), kinds.get(title, "fixed"))  # type: ignore[arg-type]  # one of the kinds
            for title, text in zip(titles, found, strict=True)
        )

    def blocks(self, section: Section) -> list[str]:
        return [line for block in section.blocks for line in self.block(block)]

    def block(self, block: Block) -> list[str]:
        match block:
            case Table():
                return self.table(block)
            case Matrix():
                return self.table(block.as_table())
            case MetricValues():
                return self.values(block)
            case LabelList():
                return self.pairs(block)
            case Paragraph():
                return word_parts(visible(block.text), self.columns, INDENT)
            case Notes():
                return self.notes(block)
            case FindingList():
                return self.findings(block)

    def table(self, block: Table) -> list[str]:
        if not block.rows:
            return word_parts(visible(block.empty), self.columns, INDENT)
        rows = block.rows[: block.limit]
        names = [
            distinct_names(cell.text for cell in column if isinstance(cell, Name)) for column in zip(*rows, strict=True)
        ]
        shown = [
            TextRow(tuple(_cell(cell, names[n], with_counts=block.with_counts) for n, cell in enumerate(row)))
            for row in rows
        ]
        heads = [ColumnHead(visible(c.title), visible(c.group), c.optional) for c in block.columns]
        lines = text_table(heads, shown, self.columns, colour=self.colour)
        if block.with_counts:
            lines += self._reasons(group_reasons(undefined_cells(block)))
        return [*lines, *more_line(len(block.rows) - len(rows))]

    def values(self, block: MetricValues) -> list[str]:
        """Name, value, counts or why it is n/a; a reason that several share is said once, under them."""
        reasons = group_reasons((name.text, value.reason) for name, value in block.rows)
        if len(reasons) == 1 and all(value.reason for _, value in block.rows):
            ((reason, names),) = reasons.items()
            listed = [visible(name) for name in names]
            return [
                *wrap_parts(listed, self.columns, INDENT, INDENT, ", "),
                *word_parts(visible(f"n/a: {reason}"), self.columns, INDENT),
            ]
        shared = {reason: names for reason, names in reasons.items() if len(names) > 1}
        rows = []
        for name, value in block.rows:
            said = value.reason if value.reason not in shared else ""
            interval = "" if value.interval is None else str(value.interval)
            cells = [TextCell((visible(name.text),)), TextCell((str(value),), "number")]
            cells += [TextCell((interval,))] if any(v.interval for _, v in block.rows) else []
            rows.append(TextRow((*cells, TextCell((visible(said or value.counts),), "text"))))
        heads = [ColumnHead()] * len(rows[0].cells) if rows else []
        return [*text_table(heads, rows, self.columns, colour=self.colour), *self._reasons(shared)]

    def _reasons(self, reasons: Mapping[str, Sequence[str]]) -> list[str]:
        return [
            line
            for reason, names in reasons.items()
            for line in word_parts(visible(f"n/a: {', '.join(names)}: {reason}"), self.columns, INDENT * 2, INDENT)
        ]

    def pairs(self, block: LabelList) -> list[str]:
        labels = [visible(pair.label.text if isinstance(pair.label, Name) else pair.label) for pair in block.rows]
        longest = min(max(map(display_width, labels), default=0), _LABEL_COLUMNS)
        return [
            line
            for label, pair in zip(labels, block.rows, strict=True)
            for line in labelled_lines(label, [visible(part) for part in pair.parts], self.columns, longest)
        ]

    def notes(self, block: Notes) -> list[str]:
        lines = []
        for item in block.items[: block.limit]:
            lines += word_parts(visible(_phrase_text(item)), self.columns, INDENT * 2, f"{INDENT}- ")
        return [*lines, *(more_line(len(block.items) - block.limit) if block.limit is not None else [])]

    def findings(self, block: FindingList) -> list[str]:
        if not block.rows:
            return [f"{INDENT}none"]
        rows, lines = block.rows[: block.limit], []
        for severity, code, place, message in rows:
            first = visible(f"{severity:{_SEVERITY_COLUMNS}}  {code}  {place}").rstrip(" ")
            indent = INDENT + " " * (_SEVERITY_COLUMNS + 2)
            first = shorten_with_digest(first, (self.columns - len(indent)) * FINDING_LINES)
            lines += word_parts(first, self.columns, indent, INDENT)
            lines += word_parts(visible(message), self.columns, indent, most=FINDING_LINES)
        return [*lines, *more_line(len(block.rows) - len(rows))]

    def first_samples(self, page: Page) -> list[str]:
        if page.samples is None or not page.samples.first:
            return []
        names = distinct_names(sample.id for sample in page.samples.first)
        rows = [
            TextRow((TextCell((names[sample.id],), "name", sample.id), TextCell((visible(sample.word),), "text")))
            for sample in page.samples.first
        ]
        title = shorten(visible(f"Look at these first, of {page.samples.count} in {page.samples.file}"), self.columns)
        return [title, *text_table([ColumnHead(), ColumnHead()], rows, self.columns)]

    def origin(self, origin: ReportOrigin | None) -> list[str]:
        if origin is None:
            return []
        kinds = list(dict.fromkeys(given.kind for given in origin.inputs))
        pairs = [(label, [visible(version)]) for label, version in origin.versions]
        shown = [(name, given) for name in kinds for given in _first_samples(origin, name)]
        digests = [(k, [f"sha256 {visible(g.sha256[:SHOWN_DIGEST])}  {visible(g.size)}".rstrip()]) for k, g in shown]
        longest = max(display_width(visible(label)) for label, _ in [*pairs, ("signature", []), *digests])
        lines = ["Where the numbers come from"]
        for label, parts in pairs:
            lines += labelled_lines(label, parts, self.columns, longest)
        # The lines put together again are the signature.
        lines += labelled_lines("signature", visible(origin.signature).split("|"), self.columns, longest, "|")
        for label, parts in digests:
            lines += labelled_lines(visible(label), parts, self.columns, longest)
        for kind in kinds:
            left_out = sum(given.kind == kind for given in origin.inputs) - SHOWN_FILES
            lines += (
                word_parts(visible(f"… and {left_out} more {kind} files"), self.columns, INDENT) if left_out > 0 else []
            )
        return lines


def _first_samples(origin: ReportOrigin, kind: str) -> list[Any]:
    return [given for given in origin.inputs if given.kind == kind][:SHOWN_FILES]


def _cell(cell: Cell, names: Mapping[str, str], *, with_counts: bool) -> TextCell:
    if isinstance(cell, Name):
        return TextCell((names[cell.text],), "fixed" if cell.whole else "name", cell.text)
    if isinstance(cell, MeasuredValue):
        interval = () if cell.interval is None else (str(cell.interval),)
        value = f"{cell}*" if cell.best else str(cell)
        return TextCell((value, *interval, *([cell.counts] if with_counts else [])), "number")
    return TextCell((visible(cell),), "text")


def _phrase_text(phrase: Phrase) -> str:
    return "".join(part.text if isinstance(part, Name) else part for part in phrase)
