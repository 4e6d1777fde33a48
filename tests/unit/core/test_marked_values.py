"""Where values stand in a text, under the normalization of scoring."""

from __future__ import annotations

from unicodedata import combining, decomposition
from unicodedata import normalize as unicode_normalize

from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.value_text import (
    Blanks,
    NormalizedText,
    may_combine,
    normalize,
    normalizer,
)
from tests.cases import cases

# Letters with their marks, Korean in pieces, Japanese sound marks, ligatures, blanks, right-to-left, astral.
ODD = st.text(st.sampled_from("aA \u0301\u0327e\u1100\u1161\u11a8가\uff8a\uff9e\uff9fﬁ㎏½ß”—\u200b\u3000שׁ\u05c1ن😀𝔸"))


@given(st.one_of(ODD, st.text()), st.sampled_from(["remove", "keep"]))
def test_pieces_are_normalized_as_the_whole_is(text: str, blanks: Blanks) -> None:
    placed = NormalizedText(text, blanks)
    assert placed.normalized == normalizer(blanks)(text)
    for at in range(len(placed.normalized)):
        start, end = placed.span(at, at + 1)
        assert 0 <= start < end <= len(text)
        assert placed.normalized[at] in " " + normalize(text[start:end])


def test_no_character_that_unicode_joins_is_taken_for_one_that_stands_alone() -> None:
    codes = (*range(0x40000), *range(0xE0000, 0xE1000))  # Unicode has no characters on other planes
    seconds = {chr(int(parts[1], 16)) for parts in map(_parts, codes) if len(parts) == 2}
    seconds |= {chr(code) for code in (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3))}  # Korean, by arithmetic
    for code in codes:
        forms = [unicode_normalize(form, chr(code)) for form in ("NFKC", "NFKD")]
        if any(combining(form[0]) or form[0] in seconds for form in forms):
            assert may_combine(chr(code)), f"U+{code:04X}"


def _parts(code: int) -> list[str]:
    return [] if decomposition(chr(code)).startswith("<") else decomposition(chr(code)).split()


def places(text: str, *values: str, most: int = 100) -> dict[str, list[str]]:
    """What stands at the places of each value, as it is written."""
    found = NormalizedText(text).places([normalize(value) for value in values], most)
    return {value: [text[start:end] for start, end in found.get(normalize(value), [])] for value in values}


@cases(
    ("text", "value", "written"),
    [
        ("Acme sued ACME, and acme paid.", "Acme", ["Acme", "ACME", "acme"]),
        ("合计１２％，约 1 2%", "12%", ["１２％", "1 2%"]),
        ("重达５㎏。", "5kg", ["５㎏"]),
        ("Müller und Mu\u0308ller", "Müller", ["Müller", "Mu\u0308ller"]),
        ("«שלום עולם»", "שלוםעולם", ["שלום עולם"]),
        ("😀😀 ok 😀", "😀", ["😀", "😀", "😀"]),
        ("aaaa", "aa", ["aa", "aa", "aa"]),
        ("Straße STRASSE", "strasse", ["Straße", "STRASSE"]),
        ("nothing here", "Acme", []),
    ],
)
def test_every_mention_is_found_as_it_is_written(text: str, value: str, written: list[str]) -> None:
    assert places(text, value) == {value: written}
