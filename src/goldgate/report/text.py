"""A page for the terminal: plain text, no line wider than the terminal, aligned also where names are Chinese."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from goldgate.core.frame import error_page
from goldgate.core.page import (
    Block,
    Cell,
    Findings,
    GateLine,
    Matrix,
    Measured,
    Name,
    Notes,
    Origin,
    Page,
    Pairs,
    Paragraph,
    Phrase,
    Section,
    Table,
    Values,
)
from goldgate.report.escape import apart, named, shortened, shortened_apart, shortened_in_the_middle, visible, width
from goldgate.report.layout import (
    COLUMNS,
    INDENT,
    NARROWEST,
    Head,
    Row,
    Shown,
    labelled,
    more,
    paint,
    table,
    words,
    wrapped,
)
from goldgate.report.said_once import OPTIONAL, gate_columns, gate_notes, said_once, undefined_cells

SHOWN_FILES = 5
SHOWN_DIGEST = 12  # hex digits, enough to tell files apart
FINDING_LINES = 3  # of one message
_SEVERITY_COLUMNS = 7
_LABEL_COLUMNS = 24


def render_text(page: Page, columns: int = COLUMNS, colour: bool = False) -> str:
    """The verdict and the gates first, then what stands out, the sections, and what the numbers came from."""
    look = _Look(max(columns, NARROWEST), colour)
    untitled = [section for section in page.sections if not section.title]
    top = [*look.headline(page), *(line for section in untitled for line in look.blocks(section))]
    parts = [
        top,
        look.gates(page),
        _titled("What stands out", look.notes(Notes(tuple((message,) for message in page.stands_out)))),
        *(
            _titled(shortened(visible(s.title), look.columns), look.blocks(s))
            for s in page.sections
            if s.title and not s.is_detail
        ),
        look.first_samples(page),
        look.origin(page.origin),
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines) + "\n"


def render_error(error: Mapping[str, Any], columns: int = COLUMNS, colour: bool = False) -> str:
    """An error alone: why there are no numbers."""
    return render_text(error_page({"suite": "", "error": error}), columns, colour)


def _titled(title: str, lines: list[str]) -> list[str]:
    return [title, *lines] if lines else []


class _Look(NamedTuple):
    """How wide, and whether in colour: what every line depends on."""

    columns: int
    colour: bool

    def headline(self, page: Page) -> list[str]:
        about = visible(page.subject).split(", ") if page.subject else []
        about += [f"protocol {named(page.protocol)}"] if page.protocol else []
        suite = f"goldgate {shortened_in_the_middle(named(page.suite), _LABEL_COLUMNS)}" if page.suite else ""
        start = "  ".join(part for part in (page.verdict, suite) if part) + (": " if about else "")
        lines = wrapped(about, self.columns, start, INDENT * 3, ", ")
        return [paint(page.verdict, page.verdict, colour=self.colour) + lines[0][len(page.verdict) :], *lines[1:]]

    def gates(self, page: Page) -> list[str]:
        if page.gates is None:
            return []
        if not page.gates:
            return ["Gates", f"{INDENT}none"]
        titles = gate_columns(page.gates)
        own, shared = gate_notes(page.gates)
        rows = [Row(self._gate(gate, titles), visible(own.get(gate.metric, ""))) for gate in page.gates]
        lines = table(
            [Head(title, optional=title in OPTIONAL) for title in titles], rows, self.columns, colour=self.colour
        )
        for reason, metrics in shared.items():
            lines += words(visible(f"{', '.join(metrics)}: {reason}"), self.columns, INDENT)
        if page.gates_note:
            lines += words(visible(page.gates_note), self.columns, INDENT)
        return ["Gates", *lines]

    def _gate(self, gate: GateLine, titles: Mapping[str, Any]) -> tuple[Shown, ...]:
        found = [visible(value(gate)) for value in titles.values()]
        kinds = {"": "verdict", "value": "number"}
        return tuple(
            Shown((text,), kinds.get(title, "fixed"))  # type: ignore[arg-type]  # one of the kinds
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
            case Values():
                return self.values(block)
            case Pairs():
                return self.pairs(block)
            case Paragraph():
                return words(visible(block.text), self.columns, INDENT)
            case Notes():
                return self.notes(block)
            case Findings():
                return self.findings(block)

    def table(self, block: Table) -> list[str]:
        if not block.rows:
            return words(visible(block.empty), self.columns, INDENT)
        rows = block.rows[: block.limit]
        names = [apart(cell.text for cell in column if isinstance(cell, Name)) for column in zip(*rows, strict=True)]
        shown = [
            Row(tuple(_cell(cell, names[n], with_counts=block.with_counts) for n, cell in enumerate(row)))
            for row in rows
        ]
        heads = [Head(visible(c.title), visible(c.group), c.optional) for c in block.columns]
        lines = table(heads, shown, self.columns, colour=self.colour)
        if block.with_counts:
            lines += self._reasons(said_once(undefined_cells(block)))
        return [*lines, *more(len(block.rows) - len(rows))]

    def values(self, block: Values) -> list[str]:
        """Name, value, counts or why it is n/a; a reason that several share is said once, under them."""
        reasons = said_once((name.text, value.reason) for name, value in block.rows)
        if len(reasons) == 1 and all(value.reason for _, value in block.rows):
            ((reason, names),) = reasons.items()
            listed = [visible(name) for name in names]
            return [
                *wrapped(listed, self.columns, INDENT, INDENT, ", "),
                *words(visible(f"n/a: {reason}"), self.columns, INDENT),
            ]
        shared = {reason: names for reason, names in reasons.items() if len(names) > 1}
        rows = []
        for name, value in block.rows:
            said = value.reason if value.reason not in shared else ""
            interval = "" if value.interval is None else str(value.interval)
            cells = [Shown((visible(name.text),)), Shown((str(value),), "number")]
            cells += [Shown((interval,))] if any(v.interval for _, v in block.rows) else []
            rows.append(Row((*cells, Shown((visible(said or value.counts),), "text"))))
        heads = [Head()] * len(rows[0].cells) if rows else []
        return [*table(heads, rows, self.columns, colour=self.colour), *self._reasons(shared)]

    def _reasons(self, reasons: Mapping[str, Sequence[str]]) -> list[str]:
        return [
            line
            for reason, names in reasons.items()
            for line in words(visible(f"n/a: {', '.join(names)}: {reason}"), self.columns, INDENT * 2, INDENT)
        ]

    def pairs(self, block: Pairs) -> list[str]:
        labels = [visible(pair.label.text if isinstance(pair.label, Name) else pair.label) for pair in block.rows]
        longest = min(max(map(width, labels), default=0), _LABEL_COLUMNS)
        return [
            line
            for label, pair in zip(labels, block.rows, strict=True)
            for line in labelled(label, [visible(part) for part in pair.parts], self.columns, longest)
        ]

    def notes(self, block: Notes) -> list[str]:
        lines = []
        for item in block.items[: block.limit]:
            lines += words(visible(_said(item)), self.columns, INDENT * 2, f"{INDENT}- ")
        return [*lines, *(more(len(block.items) - block.limit) if block.limit is not None else [])]

    def findings(self, block: Findings) -> list[str]:
        if not block.rows:
            return [f"{INDENT}none"]
        rows, lines = block.rows[: block.limit], []
        for severity, code, place, message in rows:
            first = visible(f"{severity:{_SEVERITY_COLUMNS}}  {code}  {place}").rstrip(" ")
            indent = INDENT + " " * (_SEVERITY_COLUMNS + 2)
            first = shortened_apart(first, (self.columns - len(indent)) * FINDING_LINES)
            lines += words(first, self.columns, indent, INDENT)
            lines += words(visible(message), self.columns, indent, most=FINDING_LINES)
        return [*lines, *more(len(block.rows) - len(rows))]

    def first_samples(self, page: Page) -> list[str]:
        if page.samples is None or not page.samples.first:
            return []
        names = apart(sample.id for sample in page.samples.first)
        rows = [
            Row((Shown((names[sample.id],), "name", sample.id), Shown((visible(sample.word),), "text")))
            for sample in page.samples.first
        ]
        title = shortened(visible(f"Look at these first, of {page.samples.count} in {page.samples.file}"), self.columns)
        return [title, *table([Head(), Head()], rows, self.columns)]

    def origin(self, origin: Origin | None) -> list[str]:
        if origin is None:
            return []
        kinds = list(dict.fromkeys(given.kind for given in origin.inputs))
        pairs = [(label, [visible(version)]) for label, version in origin.versions]
        shown = [(name, given) for name in kinds for given in _first(origin, name)]
        digests = [(k, [f"sha256 {visible(g.sha256[:SHOWN_DIGEST])}  {visible(g.size)}".rstrip()]) for k, g in shown]
        longest = max(width(visible(label)) for label, _ in [*pairs, ("signature", []), *digests])
        lines = ["Where the numbers come from"]
        for label, parts in pairs:
            lines += labelled(label, parts, self.columns, longest)
        # The lines put together again are the signature.
        lines += labelled("signature", visible(origin.signature).split("|"), self.columns, longest, "|")
        for label, parts in digests:
            lines += labelled(visible(label), parts, self.columns, longest)
        for kind in kinds:
            left_out = sum(given.kind == kind for given in origin.inputs) - SHOWN_FILES
            lines += words(visible(f"… and {left_out} more {kind} files"), self.columns, INDENT) if left_out > 0 else []
        return lines


def _first(origin: Origin, kind: str) -> list[Any]:
    return [given for given in origin.inputs if given.kind == kind][:SHOWN_FILES]


def _cell(cell: Cell, names: Mapping[str, str], *, with_counts: bool) -> Shown:
    if isinstance(cell, Name):
        return Shown((names[cell.text],), "fixed" if cell.whole else "name", cell.text)
    if isinstance(cell, Measured):
        interval = () if cell.interval is None else (str(cell.interval),)
        value = f"{cell}*" if cell.best else str(cell)
        return Shown((value, *interval, *([cell.counts] if with_counts else [])), "number")
    return Shown((visible(cell),), "text")


def _said(phrase: Phrase) -> str:
    return "".join(part.text if isinstance(part, Name) else part for part in phrase)
