"""Gates and units as HTML: the verdicts, the worst units of a report, and which of them explain a failed gate."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from hashlib import sha256
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import orjson

from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import Verdict
from goldgate.core.page import GateLine, Page, Paragraph, Table, count_text
from goldgate.core.suite import Plan, Suite
from goldgate.core.unit_page import InputLookup, MarkedText, UnitPage, UnitSummary
from goldgate.report.element import Content, Markup, element, fragment
from goldgate.report.html.blocks import (
    PAGE_LIMITS,
    SAMPLES,
    DisplayLimits,
    Facets,
    column_heads,
    html_block,
    html_marked_text,
    html_name,
    html_names,
    html_notes,
    html_sentence,
    html_table,
)
from goldgate.report.svg.scores import GATE_LEGEND, draw_gate_scales
from goldgate.report.verdicts import gate_columns, gate_notes
from goldgate.suites.worst_units import (
    SHOWN,
    SHOWN_A_GATE,
    GateCost,
    HeaviestUnits,
    WorstUnits,
    gate_costs,
    unit_summaries,
)

if TYPE_CHECKING:
    from goldgate.core.contracts import CountedRecord

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
_OTHER = re.compile(r"[^a-z0-9]+")
_SLUG = 32  # characters of a title or an id that a reader can still recognize
_OWN = ("main", "filters")
_DIGEST = 12  # hex digits


def unit_anchor(identity: str) -> str:
    """`sample-zh-003`; an id that cannot stand in a link as it is gets a digest, and no two ids get the same."""
    if _PLAIN.fullmatch(identity):
        return f"sample-{identity}"
    digest = sha256(identity.encode("utf-8", "backslashreplace")).hexdigest()[:_DIGEST]
    return f"sample-{_slug(identity)}~{digest}"  # no plain id has a ~


def section_anchors(titles: Iterable[str]) -> list[str]:
    """`errors-by-name`; the second of that name gets a number, and none is that of a unit or of our own."""
    anchors: list[str] = []
    for title in titles:
        slug = _slug(title) or "section"
        slug = f"section-{slug}" if slug.startswith("sample") or slug in _OWN else slug
        number, anchor = 1, slug
        while anchor in anchors:
            number += 1
            anchor = f"{slug}-{number}"
        anchors.append(anchor)
    return anchors


def _slug(text: str) -> str:
    return _OTHER.sub("-", text[:_SLUG].lower()).strip("-")


class UnitSelection(NamedTuple):
    """Units in the order in which they are looked at, beside how many there are. `lay_out_units` adds the units."""

    units: tuple[UnitSummary, ...] = ()  # those in the page
    total: int = 0
    wrong: int = 0  # those of all in which something went wrong
    unit: str = "sample"
    # By the metric of a gate that did not pass: how many units cost it something, and those shown, the worst first.
    explains: Mapping[str, tuple[int, tuple[str, ...]]] = MappingProxyType({})
    note: str = ""  # what could not be shown, and why
    # Where units are that are not in the page: by the metric of a gate each with its id, and all of them.
    unit_links: Mapping[tuple[str, str], str] = MappingProxyType({})
    gate_links: Mapping[str, str] = MappingProxyType({})
    markup: Markup | None = None  # the units, to be opened one by one


MakePage = Callable[[], UnitPage]

GATE_FACET = "gate"  # the facet of units that explain a gate
FIRST_UNITS = 3  # units that are named beside a gate

_SIGNS = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "NO_GATES": "–", "SYSTEM_ERROR": "!"}
_LOOKS = {"PASS": "pass", "FAIL": "fail", "SYSTEM_ERROR": "fail", "INCONCLUSIVE": "open", "NO_GATES": "open"}


def verdict_mark(word: str, label: str | None = None) -> Markup:
    """A verdict with its sign: colour alone says nothing. Of another command it has none of the two."""
    sign = element("span", _SIGNS[word], aria_hidden="true") if word in _SIGNS else None
    return element("span", sign, html_sentence(label or word), class_=f"verdict {_LOOKS.get(word, 'plain')}")


def gate_table(page: Page, selection: UnitSelection) -> Markup | None:
    """The gates of a page, each number once, beside its scale; None where a page has none to show."""
    if page.gates is None:
        return None
    if not page.gates:
        return element("p", "No gates set; scores only.", class_="none")
    columns = gate_columns(page.gates)
    own, shared = gate_notes(page.gates)
    titles = [title or "verdict" for title in columns]
    explained = any(gate.metric in selection.explains for gate in page.gates)
    rows = []
    for gate in page.gates:
        cells = [_cell(title, show(gate), gate) for title, show in columns.items()]
        cells.append(element("td", *draw_gate_scales(gate), class_="scale"))
        cells += [element("td", _explaining_units(gate, selection), class_="why")] if explained else []
        rows.append(element("tr", *cells))
        if gate.metric in own:
            rows.append(
                element("tr", element("td", html_sentence(own[gate.metric]), colspan=len(cells)), class_="reason")
            )
    table = html_table(
        "Gates",
        column_heads(
            [*titles, "scale", *(["look at"] if explained else [])],
            [*(t in _NUMBERS for t in titles), *[False] * (1 + explained)],
        ),
        rows,
        class_="gates cards",
    )
    notes = [f"{', '.join(metrics)}: {reason}" for reason, metrics in shared.items()]
    return fragment(table, html_notes([GATE_LEGEND, *notes, page.gates_note]))


_NUMBERS = ("value", "interval", "counts", "gate")


def _cell(title: str, text: str, gate: GateLine) -> Markup:
    if not title:
        return element("td", verdict_mark(gate.verdict, text))
    if title == "metric":
        return element("th", element("code", html_name(text), dir="auto"), scope="row")
    return element("td", html_sentence(text), class_="num" if title in _NUMBERS else None)


def _explaining_units(gate: GateLine, selection: UnitSelection) -> Content:
    """Links to the units that cost it most, and to all that are shown."""
    if gate.verdict == Verdict.PASS or gate.metric not in selection.explains:
        return None
    count, ids = selection.explains[gate.metric]
    if not ids:
        return None
    links: list[Content] = []
    for identity in ids[:FIRST_UNITS]:
        href = selection.unit_links.get((gate.metric, identity)) or f"#{unit_anchor(identity)}"
        links += [element("a", element("bdi", html_name(identity)), href=href), " "]
    if gate.metric in selection.gate_links:
        links.append(element("a", f"all {count}", href=selection.gate_links[gate.metric]))
    elif len(ids) > FIRST_UNITS or count > len(ids):
        of = f"all {len(ids)}" if count == len(ids) else f"{len(ids)} of {count} shown"
        links.append(element("a", of, href=f"#{SAMPLES}", data_facet=GATE_FACET, data_value=html_name(gate.metric)))
    return links


NOTHING_WRONG = "nothing went wrong"
FIRST_SHOWN = 10  # units of a list before those that have to be asked for
SIZE_LIMIT = 600_000  # characters of markup for all units of a page
_MAX_MISSES = 3  # units that were rendered and found no room, before no smaller one is looked for
_LEAST_ROOM = 0.01  # of the limit: with less left, the page is full, and no further unit is made for it


def unit_sections(unit: UnitPage, limits: DisplayLimits = PAGE_LIMITS, level: int = 3) -> Markup:
    """All that is known of a unit: its sections, each under its title, a heading of this level."""
    return fragment(_sections(unit, limits, level))


def _sections(unit: UnitPage, limits: DisplayLimits = PAGE_LIMITS, level: int = 3) -> Iterator[Markup]:
    for section in unit.sections:
        blocks = [
            html_marked_text(each, f"{section.title} of {unit.id}", limits)
            if isinstance(each, MarkedText)
            else html_block(each, f"{section.title} of {unit.id}", rows=limits.rows)
            for each in section.blocks
        ]
        yield element("section", element(f"h{level}", html_sentence(section.title)), *blocks)


def lay_out_units(
    candidates: Sequence[tuple[UnitSummary, MakePage]], selection: UnitSelection, limit: int = SIZE_LIMIT
) -> UnitSelection:
    """The selection with units that can be opened one by one, until the page would be too large.

    Pages of units are only made as far as there is room for them.
    """
    reasons: dict[str, list[str]] = {}
    for metric, (_, identities) in selection.explains.items():
        for identity in identities:
            reasons.setdefault(identity, []).append(metric)
    names = html_names(summary.id for summary, _ in candidates)
    first = {identity for _, identities in selection.explains.values() for identity in identities[:FIRST_UNITS]}
    items: dict[int, Markup] = {}
    left, misses = limit, 0
    # Those that a gate names find room before all others.
    for place in sorted(range(len(candidates)), key=lambda place: candidates[place][0].id not in first):
        summary, make_page = candidates[place]
        if misses == _MAX_MISSES or left < limit * _LEAST_ROOM:
            break
        page = make_page()
        if items and _least_length(page) > left:
            continue
        item = _item(summary, page, names[summary.id], reasons.get(summary.id, ()), left if items else None)
        if item is None or (items and len(item) > left):
            misses += 1
            continue
        left -= len(item)
        items[place] = item
    places = sorted(items)
    ids = {candidates[place][0].id for place in places}
    rest = [items[place] for place in places[FIRST_SHOWN:]]
    more = element("details", element("summary", f"Show {len(rest)} more"), *rest, class_="detail") if rest else None
    return selection._replace(
        units=tuple(candidates[place][0] for place in places),
        markup=element("div", *(items[place] for place in places[:FIRST_SHOWN]), more, class_="units"),
        explains={
            metric: (count, tuple(identity for identity in identities if identity in ids))
            for metric, (count, identities) in selection.explains.items()
        },
    )


def shown_count_text(selection: UnitSelection) -> str:
    """How many of how many are shown."""
    right = sum(not summary.weight for summary in selection.units)
    if not selection.wrong:  # the suite does not say what went wrong in a unit
        return f"{count_text(right, selection.unit)} of {selection.total}, those that cost a gate."
    rest = f", and {right} without" if right else ""
    counts = f"{len(selection.units) - right} of {selection.wrong} {selection.unit}s with errors"
    return f"{counts}, most errors first{rest}; {selection.total} in all."


def facets_of(selection: UnitSelection) -> Facets:
    """By what the units can be filtered, and with which values."""
    values_by_facet: dict[str, set[str]] = {}
    for summary in selection.units:
        for facet, values in summary.facets.items():
            values_by_facet.setdefault(facet, set()).update(values)
    addresses = {summary.id: f"#{unit_anchor(summary.id)}" for summary in selection.units}
    return {
        "id": addresses,
        selection.unit: addresses,
        **{facet: dict.fromkeys(values, f"#{SAMPLES}") for facet, values in values_by_facet.items()},
    }


def _item(
    summary: UnitSummary, unit: UnitPage, name: str, gates: Sequence[str], room: int | None = None
) -> Markup | None:
    """A unit to be opened; None as soon as it is seen that there is no room for it."""
    word = summary.word or (f"it costs {', '.join(gates)}" if gates else NOTHING_WRONG)
    sections: list[Markup] = []
    for section in _sections(without_repetition(unit, word)):
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
            element("bdi", name, class_="id"),
            score_text(summary),
            element("span", html_sentence(word), class_="word", dir="auto"),
            element("span", html_sentence(summary.snippet), class_="snippet", dir="auto") if summary.snippet else None,
        ),
        element(
            "article",
            element("a", "link to this", href=f"#{anchor}", class_="here"),
            sections,
            id=anchor,
            aria_label=name,
        ),
        class_="unit" if summary.weight else "unit right",
        data_facets=json.dumps(facets, ensure_ascii=True, separators=(",", ":")),
    )


_TAG, _CELL = len('<bdi class="tag x"><b>x</b></bdi>'), len("<td></td>")


def _least_length(unit: UnitPage) -> int:
    """Characters of markup that a unit takes at least, counted without making them."""
    least = 0
    for block in chain.from_iterable(section.blocks for section in unit.sections):
        match block:
            case MarkedText(text=text, marks=marks) if len(text) <= PAGE_LIMITS.characters:
                least += len(text) + _TAG * len(marks[: PAGE_LIMITS.marks])
            case Table(columns=columns, rows=rows):
                least += _CELL * len(columns) * len(rows[: min(block.most or PAGE_LIMITS.rows, PAGE_LIMITS.rows)])
    return least


def score_text(summary: UnitSummary) -> Markup | None:
    """`0.6667`, with what it is of and its counts for those who point at it."""
    if summary.score is None:
        return None
    return element("span", str(summary.score), class_="score", title=f"{summary.metric}: {summary.score.counts}")


def without_repetition(unit: UnitPage, words: str) -> UnitPage:
    """Without a first section that only says again what stands above it."""
    first = unit.sections[0].blocks if unit.sections else ()
    match first:
        case (Paragraph(text=text),) if text.rstrip(".").lower() == words.lower():
            return unit._replace(sections=unit.sections[1:])
    return unit


def _facets(summary: UnitSummary, gates: Iterable[str]) -> dict[str, tuple[str, ...]]:
    values_by_facet = {GATE_FACET: tuple(gates), **summary.facets}
    return {
        html_name(facet): tuple(dict.fromkeys(map(html_name, values)))
        for facet, values in values_by_facet.items()
        if values
    }


def filter_placeholder(selection: UnitSelection) -> Content:
    """The place where the page's script puts the filters; without one there is nothing to see."""
    if not selection.units:
        return None
    facets = list(dict.fromkeys(chain.from_iterable(summary.facets for summary in selection.units)))
    names = json.dumps([GATE_FACET, *map(html_name, facets)])
    return element(
        "details",
        element("summary", "Filters", dir="auto"),
        id="filters",
        class_="filters",
        data_facets=names,
        hidden=True,
    )


ReadLine = Callable[[int, int], bytes]  # (offset, length) of the records → their bytes


def worst_units(
    suite: Suite,
    plan: Plan,
    evaluation: Evaluation,
    worst: WorstUnits,
    read: ReadLine,
    lookup: InputLookup,
    limit: int = SHOWN,
) -> UnitSelection:
    """The units to show, from those that weigh most, the lines of their records and what they were made from."""
    costs = gate_costs(suite, plan, evaluation.gates)
    by_gate = {metric: worst.by_gate.get(metric, HeaviestUnits(0)) for metric in costs}
    a_gate = min(SHOWN_A_GATE, limit)
    first = {each.place: each for of_gate in by_gate.values() for each in of_gate.to_list()[:a_gate]}
    others = [each for each in worst.overall.to_list() if each.place not in first]
    chosen = {**first, **{each.place: each for each in others[: max(limit - len(first), 0)]}}
    records = {place: orjson.loads(read(each.offset, each.length)) for place, each in chosen.items()}
    summarize, ids = unit_summaries(suite, plan), dict[int, str]()
    candidates: list[tuple[UnitSummary, int, MakePage]] = []
    for place, record in records.items():
        inputs = lookup.for_unit(record)
        summary = summarize(record, inputs)
        ids[place] = summary.id
        candidates.append((summary, place, partial(suite.unit_page, record, inputs)))
    candidates.sort(key=lambda entry: (-entry[0].weight, entry[1]))
    shown_ids = {metric: _shown_ids(costs[metric], records.items(), ids) for metric in costs}
    return lay_out_units(
        [(summary, make_page) for summary, _, make_page in candidates],
        UnitSelection(
            total=worst.total,
            wrong=worst.overall.count,
            unit=suite.unit,
            explains={metric: (by_gate[metric].count, shown_ids[metric]) for metric in costs if by_gate[metric].count},
        ),
    )


def _shown_ids(cost: GateCost, records: Iterable[tuple[int, CountedRecord]], ids: Mapping[int, str]) -> tuple[str, ...]:
    """The ids of those of the shown units that cost a gate something, the worst first."""
    costs = [(cost(record), place) for place, record in records]
    return tuple(ids[place] for amount, place in sorted(costs, key=lambda c: (-c[0], c[1])) if amount > 0)
