"""Gates as a table: the verdict, the value beside its bounds, and the units that explain a verdict that is not PASS."""

from __future__ import annotations

from goldgate.core.gate import Verdict
from goldgate.core.page import GateLine, Page
from goldgate.core.picture import GatePicture
from goldgate.report.html.anchors import unit_anchor
from goldgate.report.html.blocks import SAMPLES, heads, table
from goldgate.report.html.element import Content, Markup, element, fragment
from goldgate.report.html.looked import Looked
from goldgate.report.html.texts import name, words
from goldgate.report.said_once import gate_columns, gate_notes
from goldgate.report.svg import draw

GATE = "gate"  # the facet of a unit that explains one
FIRST = 3  # units that are named beside a gate

_SIGNS = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?", "NO_GATES": "–", "SYSTEM_ERROR": "!"}
_LOOKS = {"PASS": "pass", "FAIL": "fail", "SYSTEM_ERROR": "fail", "INCONCLUSIVE": "open", "NO_GATES": "open"}


def verdict(word: str, shown: str | None = None) -> Markup:
    """A verdict with its sign: colour alone says nothing. Of another command it has none of the two."""
    sign = element("span", _SIGNS[word], aria_hidden="true") if word in _SIGNS else None
    return element("span", sign, words(shown or word), class_=f"verdict {_LOOKS.get(word, 'plain')}")


def gates(page: Page, looked: Looked) -> Markup | None:
    """The gates of a page, or that there are none; None where a page has none to show."""
    if page.gates is None:
        return None
    if not page.gates:
        return element("p", "None: no gate can fail.", class_="none")
    columns = gate_columns(page.gates)
    own, shared = gate_notes(page.gates)
    titles = [title or "verdict" for title in columns]
    explained = any(gate.metric in looked.explains for gate in page.gates)
    rows = []
    for gate in page.gates:
        cells = [_cell(title, show(gate), gate) for title, show in columns.items()]
        cells += [element("td", _explained(gate, looked), class_="why")] if explained else []
        rows.append(element("tr", *cells))
        if gate.metric in own:
            rows.append(element("tr", element("td", words(own[gate.metric]), colspan=len(cells)), class_="reason"))
    shown = table(
        "Gates",
        heads([*titles, *(["look at"] if explained else [])], [*(t in _NUMBERS for t in titles), *[False] * explained]),
        rows,
        class_="gates",
    )
    notes = [f"{', '.join(metrics)}: {reason}" for reason, metrics in shared.items()]
    notes += [page.gates_note] if page.gates_note else []
    drawn = element("figure", draw(GatePicture(page.gates)), tabindex=0, role="group", aria_label="Picture: Gates")
    return fragment(shown, [element("p", words(note), class_="note") for note in notes], drawn)


_NUMBERS = ("value", "interval", "counts", "gate")


def _cell(title: str, shown: str, gate: GateLine) -> Markup:
    if not title:
        return element("td", verdict(gate.verdict, shown))
    if title == "metric":
        return element("th", element("code", name(shown), dir="auto"), scope="row")
    return element("td", words(shown), class_="num" if title in _NUMBERS else None)


def _explained(gate: GateLine, looked: Looked) -> Content:
    """Links to the units that cost it most, and to all that are shown."""
    if gate.verdict == Verdict.PASS or gate.metric not in looked.explains:
        return None
    count, shown = looked.explains[gate.metric]
    if not shown:
        return None
    links: list[Content] = []
    for identity in shown[:FIRST]:
        href = looked.unit_links.get((gate.metric, identity)) or f"#{unit_anchor(identity)}"
        links += [element("a", element("bdi", name(identity)), href=href), " "]
    if gate.metric in looked.gate_links:
        links.append(element("a", f"all {count}", href=looked.gate_links[gate.metric]))
    elif len(shown) > FIRST or count > len(shown):
        of = f"all {len(shown)}" if count == len(shown) else f"{len(shown)} of {count} shown"
        links.append(element("a", of, href=f"#{SAMPLES}", data_facet=GATE, data_value=name(gate.metric)))
    return links
