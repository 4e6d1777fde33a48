"""Units as HTML: one with all that explains its result, and the list of those worth looking at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from goldgate.core.page import Paragraph, counted
from goldgate.core.unit_page import MarkedText, UnitPage, UnitSummary
from goldgate.report.html.anchors import unit_anchor
from goldgate.report.html.blocks import SAMPLES, Facets, block
from goldgate.report.html.element import Content, Markup, element, fragment
from goldgate.report.html.gates import FIRST, GATE
from goldgate.report.html.looked import Looked
from goldgate.report.html.texts import PAGE, Limits, marked, name, names, words

NOTHING_WRONG = "nothing went wrong"
SIZE_LIMIT = 600_000  # characters of markup for all units of a page


def unit_sections(unit: UnitPage, limits: Limits = PAGE, level: int = 3) -> Markup:
    """All that is known of a unit: its sections, each under its title, a heading of this level."""
    return fragment(_sections(unit, limits, level))


def _sections(unit: UnitPage, limits: Limits = PAGE, level: int = 3) -> Iterator[Markup]:
    for section in unit.sections:
        blocks = [
            marked(each, f"{section.title} of {unit.id}", limits)
            if isinstance(each, MarkedText)
            else block(each, f"{section.title} of {unit.id}", rows=limits.rows)
            for each in section.blocks
        ]
        yield element("section", element(f"h{level}", words(section.title)), *blocks)


def unit_list(looked: Looked, limit: int = SIZE_LIMIT) -> tuple[Markup, Looked]:
    """Units that can be opened one by one, until the page would be too large; and what of them is in it."""
    reasons: dict[str, list[str]] = {}
    for metric, (_, identities) in looked.explains.items():
        for identity in identities:
            reasons.setdefault(identity, []).append(metric)
    shown = names(summary.id for summary, _ in looked.units)
    first = {identity for _, identities in looked.explains.values() for identity in identities[:FIRST]}
    found: dict[int, Markup] = {}
    left = limit
    # Those that a gate names find room before all others.
    for place in sorted(range(len(looked.units)), key=lambda place: looked.units[place][0].id not in first):
        summary, unit = looked.units[place]
        item = _item(summary, unit, shown[summary.id], reasons.get(summary.id, ()), left if found else None)
        if item is None or (found and len(item) > left):  # a smaller one may still find room
            continue
        left -= len(item)
        found[place] = item
    kept = tuple(looked.units[place] for place in sorted(found))
    items = [found[place] for place in sorted(found)]
    return element("div", *items, class_="units"), looked._replace(units=kept, explains=_kept(looked, kept))


def shown_words(looked: Looked) -> str:
    """How many of how many are shown."""
    shown = sum(1 for summary, _ in looked.units if summary.weight)
    rest = len(looked.units) - shown
    things = f"{looked.unit}s"
    if not looked.wrong and looked.units:  # the suite does not say what went wrong in a unit
        count = len(looked.units)
        said = "is shown that costs" if count == 1 else "are shown that cost"
        return f"{counted(count, looked.unit)} {said} a gate; of {looked.total} in all."
    if not looked.wrong:
        return f"In none of {counted(looked.total, looked.unit)} anything went wrong."
    said = f"{shown} of {looked.wrong} {things} with errors are shown, the worst first"
    said += f", and {rest} without" if rest else ""
    return f"{said}; of {looked.total} in all."


def facets_of(looked: Looked) -> Facets:
    """By what the units can be filtered, and with which values."""
    found: dict[str, set[str]] = {}
    for summary, _ in looked.units:
        for facet, values in summary.facets.items():
            found.setdefault(facet, set()).update(values)
    return {facet: dict.fromkeys(values, f"#{SAMPLES}") for facet, values in found.items()}


def _item(
    summary: UnitSummary, unit: UnitPage, shown: str, gates: Sequence[str], room: int | None = None
) -> Markup | None:
    """A unit to be opened; None as soon as it is seen that there is no room for it."""
    word = summary.word or (f"it costs {', '.join(gates)}" if gates else NOTHING_WRONG)
    sections: list[Markup] = []
    for section in _sections(_without(unit, word)):
        sections.append(section)
        if room is not None:
            room -= len(section)
            if room < 0:
                return None
    anchor, facets = unit_anchor(summary.id), _facets(summary, gates)
    # The place of a link lies inside: a browser that follows the link opens what is around it.
    return element(
        "details",
        element(
            "summary",
            element("bdi", shown, class_="id"),
            element("span", words(word), class_="word", dir="auto"),
        ),
        element(
            "article",
            element("a", "link to this", href=f"#{anchor}", class_="here"),
            sections,
            id=anchor,
            aria_label=shown,
        ),
        class_="unit" if summary.weight else "unit right",
        data_facets=json.dumps(facets, ensure_ascii=True, separators=(",", ":")),
    )


def _without(unit: UnitPage, said: str) -> UnitPage:
    """Without a first section that only says again what stands above it."""
    first = unit.sections[0].blocks if unit.sections else ()
    match first:
        case (Paragraph(text=text),) if text.rstrip(".").lower() == said.lower():
            return unit._replace(sections=unit.sections[1:])
    return unit


def _facets(summary: UnitSummary, gates: Iterable[str]) -> dict[str, tuple[str, ...]]:
    found = {GATE: tuple(gates), **summary.facets}
    return {name(facet): tuple(dict.fromkeys(map(name, values))) for facet, values in found.items() if values}


def _kept(looked: Looked, kept: Iterable[tuple[UnitSummary, UnitPage]]) -> dict[str, tuple[int, tuple[str, ...]]]:
    """What explains a gate, of the units that are in the page."""
    inside = {summary.id for summary, _ in kept}
    return {
        metric: (number, tuple(identity for identity in identities if identity in inside))
        for metric, (number, identities) in looked.explains.items()
    }


def filters(looked: Looked) -> Content:
    """The place where the page's script puts the filters; without one there is nothing to see."""
    if not looked.units:
        return None
    facets = list(dict.fromkeys(chain.from_iterable(summary.facets for summary, _ in looked.units)))
    return element("div", id="filters", data_facets=json.dumps([GATE, *map(name, facets)]), hidden=True)
