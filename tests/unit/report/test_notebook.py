"""What notebooks show: pages without a script, an id or a rule for anything else, whatever the data says."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import goldgate

from ..helpers import SCHEMA, answer, event, gold, scorer

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)>"


class _Elements(HTMLParser):
    def __init__(self, html: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def shown() -> dict[str, str]:
    """An evaluation and a score of hostile data, as notebooks show them."""
    record = gold(event("Sue", ("plaintiff", HOSTILE)), text=HOSTILE, identity=HOSTILE)
    response = answer(event("Sue", (HOSTILE, HOSTILE)))
    protocol = {"gates": {"strict_f1": {"min": 1}}}
    evaluation = goldgate.evaluate([record], [{"id": HOSTILE, "response": response}], SCHEMA, protocol)
    return {
        "evaluation": evaluation._repr_html_(),
        "score": scorer(SCHEMA).score(response, record)._repr_html_(),
        "no answer": scorer(SCHEMA).score(None, record)._repr_html_(),
    }


def test_data_is_text_and_nothing_needs_a_script() -> None:
    for name, html in shown().items():
        page = _Elements(html)
        assert not {"script", "img", "iframe", "link"} & {*page.names}, name
        assert not {"id", "onerror", "style", "href"} & page.attributes, name
        assert page.names.count("style") == 1, name
        assert "<script>" in page.text or name == "evaluation", name


def test_remarks_have_a_direction_of_their_own() -> None:
    page = shown()["evaluation"]
    remarks = page[page.index("What stands out") :]
    assert remarks[remarks.index("<li") :].startswith('<li dir="auto">')


def test_a_score_explains_itself() -> None:
    page = _Elements(shown()["score"]).text
    assert "strict_f1 0.0000, relaxed_f1 0.0000, type_f1 1.0000" in page
    for part in ("Errors", "Source text", "Arguments", "Answer"):
        assert part in page
    assert "There is no prediction" in _Elements(shown()["no answer"]).text


def test_the_style_is_for_the_output_alone_and_has_both_colours() -> None:
    style = re.findall(r"<style>(.*?)</style>", shown()["evaluation"], re.DOTALL)[0]
    depth, outside = 0, ""
    for character in re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL):
        depth -= character == "}"
        outside += character if depth == 0 else ""
        depth += character == "{"
    assert depth == 0
    assert all(rule.strip().startswith((".goldgate-output {", "@media screen")) for rule in outside.split("}")[:-1])
    assert ":root" not in style
    assert "html {" not in style
    dark = style[style.index("[data-jp-theme-light") :]
    assert dark.count("--paper: #") == 2  # where the notebook is dark, and where the system is
    assert style.count("--paper: #") == 4  # light, and what is printed
