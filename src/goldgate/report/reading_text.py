"""What was read of answers as text for people: one in full, or a few lines for each of many and a summary."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from goldgate.core.page import counted
from goldgate.report.escape import shortened, shortened_in_the_middle, visible, width
from goldgate.report.layout import COLUMNS, INDENT, Head, Row, Shown, labelled, more, table, words, wrapped
from goldgate.report.places import Places
from goldgate.report.reading_json import value_text
from goldgate.suites.extraction.events.alone import ReadAnswer
from goldgate.suites.extraction.events.event import Found, Violation
from goldgate.suites.extraction.response import Method, Parsed, Status, ThoughtState
from goldgate.suites.extraction.response import words as reading_words

SHOWN_PLACES = 3  # of one kind of repair
SHOWN_ITEMS = 20  # of anything else that is listed
SHOWN_VALUE_LINES = 10
SHOWN_CHARACTERS = 2_000  # of a value: more than those lines hold
_LABEL_COLUMNS = 10
_BAR = " | "
_NAME_COLUMNS = 30
_PATH_COLUMNS = 45


@dataclass(slots=True)
class ReadingSummary:
    """How many answers were read in each way."""

    answers: int = 0
    counts: dict[str, Counter[str]] = field(
        default_factory=lambda: {
            label: Counter() for label in ("status", "found", "thought", "repairs", "left out", "violations")
        }
    )

    def add(self, answer: ReadAnswer) -> None:
        parsed = answer.parsed
        self.answers += 1
        self.counts["status"][parsed.status] += 1
        self.counts["found"][parsed.method] += 1
        self.counts["thought"][parsed.thought_state] += 1
        self.counts["repairs"].update(map(str, parsed.repairs))
        self.counts["left out"].update({item.reason for item in parsed.left_out})
        self.counts["violations"].update({str(found.violation) for found in _violations(answer)})

    @property
    def unread(self) -> int:
        """How many could not be read."""
        return self.counts["status"][Status.ERROR]


def render_summary(summary: ReadingSummary, columns: int = COLUMNS) -> str:
    """Counts of answers: a name counts once in each."""
    lines = [f"{counted(summary.answers, 'response')}, {summary.unread} could not be read"]
    for label, counts in summary.counts.items():
        entries = [f"{name} {count}" for name, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]
        lines += labelled(label, entries or ["none"], columns, _LABEL_COLUMNS)
    return "\n".join(lines) + "\n"


def render_read_line(answer: ReadAnswer, columns: int = COLUMNS) -> str:
    """A line on an answer, and one for each kind of thing that was odd about it."""
    parsed, places = answer.parsed, Places(answer.response)
    found = [parsed.status, parsed.method]
    if parsed.start is not None and parsed.end is not None:
        found.append(places.stretch(parsed.start, parsed.end))
    if parsed.status != Status.ERROR:
        events = answer.written
        found.append(counted(len(events), "event"))
        found.append(counted(sum(len(event.arguments) for event in events), "argument"))
    if parsed.thought_state != ThoughtState.NONE:
        found.append(f"thought {parsed.thought_state}")
    lines = wrapped(found, columns, f"{_name(answer.id or '-')}  ", INDENT, ", ")
    steps = [
        f"{step} {places.position(min(place.at for place in parsed.places if place.step == step))}"
        for step in parsed.repairs
    ]
    left_out = [f"{places.stretch(item.start, item.end)} ({item.reason})" for item in parsed.left_out]
    violations = [f"{item.violation} {_name(item.path, _PATH_COLUMNS)}" for item in _violations(answer)]
    for label, entries in (("repairs", steps), ("left out", left_out), ("violations", violations)):
        if entries:
            more = len(entries) - SHOWN_PLACES if label != "repairs" else 0
            shown = entries if more <= 0 else [*entries[:SHOWN_PLACES], f"{more} more"]
            lines += labelled(label, shown, columns, _LABEL_COLUMNS)
    return "\n".join(lines) + "\n"


def render_read(answer: ReadAnswer, columns: int = COLUMNS) -> str:
    """Everything about one answer: where it stood, each repair with its place, what was left out, what it says."""
    parsed, places = answer.parsed, Places(answer.response)
    sections = [
        _headline(answer, places, columns),
        _repairs(parsed, places, columns),
        _left_out(parsed, places, columns),
        _events(answer, columns),
        _violation_lines(answer, columns),
    ]
    return "\n\n".join("\n".join(lines) for lines in sections if lines) + "\n"


def _headline(answer: ReadAnswer, places: Places, columns: int) -> list[str]:
    parsed = answer.parsed
    name = "" if answer.id is None else f"{_name(answer.id)}  "
    lines = [shortened(f"{name}{parsed.status.upper()}: {reading_words.STATUSES[parsed.status]}", columns)]
    lines += labelled("found", [f"{parsed.method}: {reading_words.METHODS[parsed.method]}"], columns, _LABEL_COLUMNS)
    if parsed.start is not None and parsed.end is not None:
        stretch = places.stretch(parsed.start, parsed.end)
        lines += labelled("place", [f"{stretch} (characters {parsed.start} to {parsed.end})"], columns, _LABEL_COLUMNS)
    if parsed.method != Method.STRUCTURED:
        state = f"{parsed.thought_state}: {reading_words.THOUGHTS[parsed.thought_state]}"
        length = f", {counted(len(parsed.thought), 'character')}" if parsed.thought else ""
        lines += labelled("thought", [state + length], columns, _LABEL_COLUMNS)
    return lines


def _repairs(parsed: Parsed, places: Places, columns: int) -> list[str]:
    """Each kind of repair with its first places, in the order in which the kinds come up in the text."""
    if not parsed.places:
        return []
    by_step = {step: [place.at for place in parsed.places if place.step == step] for step in parsed.repairs}
    gutter = 4 + max(len(str(places.position(place.at))) for place in parsed.places)
    lines = ["Repairs"]
    for step, found in sorted(by_step.items(), key=lambda item: (item[1][0], item[0])):
        times = "" if len(found) == 1 else f", {len(found)} times"
        lines += words(f"{step}{times}: {reading_words.STEPS[step]}", columns, INDENT * 2, INDENT)
        for at in found[:SHOWN_PLACES]:
            lines += _marked(places, at, gutter, columns)
        lines += more(len(found) - SHOWN_PLACES, INDENT * 2)
    return lines


def _marked(places: Places, at: int, gutter: int, columns: int) -> list[str]:
    """`line:column` beside the line of the text, and under it a mark at the place."""
    text, caret = places.excerpt(at, columns - gutter - len(_BAR))
    return [f"{places.position(at)!s:>{gutter}}{_BAR}{text}", " " * gutter + _BAR + caret]


def _left_out(parsed: Parsed, places: Places, columns: int) -> list[str]:
    lines = ["Left out"] if parsed.left_out else []
    for item in parsed.left_out[:SHOWN_ITEMS]:
        stretch, reason = places.stretch(item.start, item.end), item.reason
        lines += words(f"{stretch}, {reason}: {reading_words.REASONS[reason]}", columns, INDENT * 2, INDENT)
        text = visible(places.text[item.start : min(item.end, item.start + columns)].split("\n")[0])
        lines.append(f"   {_BAR}{shortened(text, columns - 3 - len(_BAR))}")
    return [*lines, *more(len(parsed.left_out) - SHOWN_ITEMS, INDENT * 2)]


def _events(answer: ReadAnswer, columns: int) -> list[str]:
    """Each event with its roles and values; the value itself where it holds no events."""
    parsed = answer.parsed
    if parsed.status == Status.ERROR:
        return []
    if any(found.violation == Violation.NOT_AN_EVENT_LIST for found in answer.events.violations):
        return ["Value", *_cut_lines(visible(value_text(answer.response, parsed)[:SHOWN_CHARACTERS]), columns)]
    lines = ["Events"]
    for event in answer.written[:SHOWN_ITEMS]:
        name = "one object; its event type is the gold's to say" if event.event_type is None else event.event_type
        lines.append(shortened(f"{INDENT}{visible(name)}", columns))
        roles = [_name(role) for role, _ in event.arguments]
        longest = max(map(width, roles), default=0)
        for role, (_, value) in list(zip(roles, event.arguments, strict=True))[:SHOWN_ITEMS]:
            start = f"    {role}{' ' * (longest - width(role))} = "
            lines.append(start + shortened(visible(value), columns - width(start)))
        lines += more(len(roles) - SHOWN_ITEMS, INDENT * 2)
    if not answer.written:
        lines.append(f"{INDENT}none")
    return [*lines, *more(len(answer.written) - SHOWN_ITEMS, INDENT * 2)]


def _cut_lines(text: str, columns: int) -> list[str]:
    """The text on as many lines as it needs, up to a few."""
    lines: list[str] = []
    room = columns - 3 - len(_BAR)
    while text and len(lines) < SHOWN_VALUE_LINES:
        line = shortened(text, room)
        if line != text:
            line = line[:-1]  # the mark of what was cut off
        lines.append(f"   {_BAR}{line}")
        text = text[len(line) :]
    return lines if not text else [*lines, "    … (--format json shows all)"]


def _violation_lines(answer: ReadAnswer, columns: int) -> list[str]:
    found = _violations(answer)
    if not found:
        return []
    rows = [
        Row((Shown((str(item.violation),)), Shown((visible(item.path),), "name", item.path)))
        for item in found[:SHOWN_ITEMS]
    ]
    return [
        "Not in the expected form",
        *table([Head(), Head()], rows, columns),
        *more(len(found) - SHOWN_ITEMS, INDENT * 2),
    ]


def _violations(answer: ReadAnswer) -> list[Found]:
    """What is not as it should be, but for the answer that was not read at all: its status says so."""
    return [found for found in answer.events.violations if found.violation != Violation.NOT_PARSED]


def _name(text: str, columns: int = _NAME_COLUMNS) -> str:
    return shortened_in_the_middle(visible(text), columns)
