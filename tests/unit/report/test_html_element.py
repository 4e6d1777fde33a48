"""Elements: text stays text, and nothing leads elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.report.element import Markup, element, fragment, raw
from tests.cases import cases

TEXTS = st.text(st.one_of(st.characters(), st.sampled_from("<>&\"':#=/\x00\u202e\n")), max_size=40)


class _Read(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.text += "".join(value or "" for _, value in attrs)

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS, TEXTS)
def test_no_text_becomes_markup(text: str, other: str) -> None:
    made = element("p", text, other, title=text)
    reader = _Read()
    reader.feed(made)
    reader.close()
    assert reader.tags == ["p"]
    root = ElementTree.fromstring(made)  # XML can carry it too: pictures are files of their own
    carried = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]")
    written_out = carried.sub(lambda found: ascii(found.group())[1:-1].replace("\\r", "\\x0d"), text + other)
    assert (root.text or "") == written_out


@given(TEXTS, TEXTS)
def test_no_line_is_a_command_to_a_ci_runner(text: str, other: str) -> None:
    made = fragment(text, other, fragment(other), fragment(text))
    assert "::" not in made
    assert "##" not in made


@cases("to", ["#a", "#a b:c", "/", "/x", "a/b.html", "./x", "?page=2", "/x?a=b#c"])
def test_links_within_the_page_and_its_neighbours(to: str) -> None:
    assert "href=" in element("a", "x", href=to)


@cases(
    "to",
    [
        "",
        "//x",
        "https://x",
        "javascript:x",
        " javascript:x",
        "\tjavascript:x",
        "data:x",
        "/\\x",
        "\\\\x",
        "/\tx",
        "a:b",
    ],
)
def test_no_link_leads_elsewhere(to: str) -> None:
    with pytest.raises(ValueError, match="leads elsewhere"):
        element("a", "x", href=to)


@cases("name", ["onclick", "OnLoad", "style", "srcdoc", "a b", "a>", "", "x:href"])
def test_no_handlers_and_no_styles(name: str) -> None:
    with pytest.raises(ValueError, match=r"no attribute|not the name"):
        element("p", **{name: "x"})


@cases("source", ["</script>", "<!--", "a </style"])
def test_a_script_cannot_end_itself(source: str) -> None:
    assert raw("script", "1 < 2") == "<script>1 < 2</script>"
    with pytest.raises(ValueError, match="not a script"):
        raw("script", source)


def test_only_the_builder_makes_markup() -> None:
    source = Path(__file__).parents[3] / "src" / "goldgate"
    makers = {path.name for path in source.rglob("*.py") if re.search(r"\bMarkup\(", path.read_text())}
    assert makers == {"element.py"}
    assert not Markup.__slots__
