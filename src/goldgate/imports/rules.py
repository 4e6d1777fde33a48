"""What the rules of a mapping give for a trace: the first value that fits, and the span that it was found in."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from goldgate.imports.mapping import Rule, chosen
from goldgate.imports.messages import answer, answer_json, question
from goldgate.imports.path import look_up, parsed
from goldgate.imports.span import Span
from goldgate.imports.trace import Trace

_READ: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "question": question,
    "answer": answer,
    "answer_json": answer_json,
}
_ANY = "*"


class Found(NamedTuple):
    """A value, and the id of its span."""

    value: Any
    span: str


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def is_list(value: Any) -> bool:
    return isinstance(decoded(value), list)


def first(trace: Trace, rules: Sequence[Rule], fits: Callable[[Any], bool]) -> Found | None:
    """What the first rule gives that gives something fitting."""
    return next((found for rule in rules if (found := _taken(trace, rule, fits)) is not None), None)


def _taken(trace: Trace, rule: Rule, fits: Callable[[Any], bool]) -> Found | None:
    spans = [span for span in trace.spans if chosen(span, rule.where)]
    if rule.pick == "all":
        items = [(item, span.id) for span in spans for item in _items(_value(span, rule))]
        return Found([item for item, _ in items], items[0][1]) if items else None
    if rule.pick == "last":
        spans = spans[-1:]
    elif spans:
        least = min(trace.depths[span.id] for span in spans)
        if rule.pick == "outermost":
            spans = [span for span in spans if trace.depths[span.id] == least][-1:]
        else:
            spans.sort(key=lambda span: trace.depths[span.id])
    values = ((_value(span, rule), span.id) for span in spans)
    return next((Found(value, span) for value, span in values if fits(value)), None)


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        yield from value
    elif value is not None:
        yield value


def _value(span: Span, rule: Rule) -> Any:
    value = look_up(_READ[rule.read](look_up(span.fields, rule.take)), rule.at)
    if rule.each or rule.pick == "all":
        value = decoded(value)
    if rule.words and type(value) in (str, int):
        return _word(value, rule)
    if rule.each:
        items = value if isinstance(value, list) else [value]
        return [_entry(item, rule) for item in items if isinstance(item, dict)] if value is not None else None
    return value


def decoded(value: Any) -> Any:
    """A list or an object that an attribute holds as JSON text; any other value as it is."""
    found = parsed(value) if isinstance(value, str) else None
    return value if found is None else found


def _word(value: str | int, rule: Rule) -> str:
    return rule.words.get(str(value), rule.words.get(_ANY, str(value)))


def _entry(item: dict[str, Any], rule: Rule) -> dict[str, Any]:
    """One of our records from one of theirs; a field that it lacks is left out."""
    entry: dict[str, Any] = {}
    for target, path in rule.each.items():
        found = look_up(item, path)
        if found is None:
            continue
        if rule.words and isinstance(found, str):
            found = rule.words.get(found, found)
        *outer, last = target.split(".")
        inside = entry
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = found
    return entry
