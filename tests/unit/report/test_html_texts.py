"""Marked texts: overlaps, several mentions, what cannot be seen, and texts of any length."""

from __future__ import annotations

import re
from html import unescape

from hypothesis import strategies as st

from goldgate.core.unit_page import Mark, MarkedText
from goldgate.report.html.blocks import (
    PAGE_LIMITS,
    html_marked_text,
    html_running_text,
    split_by_marks,
)

marks = st.builds(
    lambda start, length, kind: Mark(start, start + length, kind, "label"),
    st.integers(0, 30), st.integers(0, 12), st.sampled_from(["gold", "predicted", "both"]),
)  # fmt: skip


def shown(text: str, *of: Mark) -> str:
    """The inside of the element with the text."""
    found = re.search(r'(?s)<div class="text"[^>]*>(.*?)</div>', html_marked_text(MarkedText(text, of), "Text"))
    assert found is not None
    return found.group(1)


def test_overlapping_and_nested_marks_are_labelled_where_they_end() -> None:
    found = shown("abcdef", Mark(0, 4, "gold", "A"), Mark(1, 2, "both", "B"), Mark(3, 6, "predicted", "C", "boundary"))
    assert re.sub(r' class="[^"]*"', "", found) == (
        "<mark>a</mark><mark>b</mark><bdi><b>B</b>B</bdi><mark>c</mark><mark>d</mark><bdi><b>G</b>A</bdi>"
        "<mark>ef</mark><bdi><b>P</b>C<em>boundary</em></bdi>"
    )
    assert '<mark class="gold pred wrong">d</mark>' in found


def test_a_place_without_characters_has_a_label_of_its_own() -> None:
    assert "ab<bdi" in shown("abc", Mark(2, 2, "repair", "closed_brackets"))


def test_what_cannot_be_seen_is_written_out_in_a_box() -> None:
    assert html_running_text("a\u202eb\nc\td") == (
        'a<span class="unseen" title="U+202E RIGHT-TO-LEFT OVERRIDE">\\u202e</span>b\nc\td'
    )
    assert html_running_text("\\u202e") == "\\u202e"  # a text that says so itself has no box
    assert '<span class="blank" title="U+3000 IDEOGRAPHIC SPACE">\u3000</span>' in html_running_text("股\u3000份")
    assert html_running_text("مرحبا שלום 质押 e\u0301") == "مرحبا שלום 质押 e\u0301"


def test_every_kind_is_told_by_a_sign_and_not_by_colour_alone() -> None:
    page = html_marked_text(
        MarkedText("abc", (Mark(0, 1, "read", "r"), Mark(1, 2, "repair", "x"), Mark(2, 3, "odd", "y"))), "T"
    )
    legend = page[: page.index("</ul>")]
    assert re.findall(r'<mark class="\w+">(\w+)</mark> (\w+)', legend) == [
        ("R", "read"),
        ("Re", "repair"),
        ("O", "odd"),
    ]


def test_of_a_long_text_the_beginning_and_the_marked_parts_are_shown() -> None:
    text = "x" * 500_000 + "HERE" + "y" * 500_000
    found = shown(text, Mark(500_000, 500_004, "gold", "A"))
    assert "HERE" in found
    plain = unescape(re.sub(r"<[^>]*>", "", found))
    assert len(plain) < PAGE_LIMITS.characters + 1000
    assert "… 496,700 characters …" in plain  # 500,000 less 3,000 at the beginning and 300 before the mark


def test_ten_thousand_marks_on_one_another_cost_no_more_than_ten_thousand_beside_each_other() -> None:
    text = "x" * 10_000
    nested = tuple(Mark(n, 10_000 - n, "gold", "a") for n in range(5_000))
    beside = tuple(Mark(2 * n, 2 * n + 1, "gold", "a") for n in range(5_000))
    assert len(shown(text, *nested)) < 2 * len(shown(text, *beside))
    assert f"{PAGE_LIMITS.marks} of 5000 marks are shown" in html_marked_text(MarkedText(text, nested), "T")
    assert len([*split_by_marks(0, 10_000, nested)]) == 9_999
