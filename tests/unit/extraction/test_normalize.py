"""Normalization: NFKC, CJK punctuation, whitespace, case — and the exact test for containment."""

from __future__ import annotations

import unicodedata

import pytest

from goldgate.core.value_text import Haystack, normalize
from tests.cases import cases

FOLDED = {
    **dict.fromkeys("。·•・", "."),
    "、": ",",
    **dict.fromkeys("“”„‟〝〞「」『』", '"'),
    **dict.fromkeys("‘’‚‛", "'"),
    **dict.fromkeys("《〈", "<"),
    **dict.fromkeys("》〉", ">"),
    **dict.fromkeys("【〔〖", "["),
    **dict.fromkeys("】〕〗", "]"),
    **dict.fromkeys("—–―‐‒−", "-"),
    "〜": "~",
}


def test_cjk_punctuation_is_folded_to_ascii() -> None:
    for character, ascii_form in FOLDED.items():
        assert normalize(character) == ascii_form
        assert normalize(f"甲{character}乙") == f"甲{ascii_form}乙"
        assert normalize("甲" * 100 + character) == "甲" * 100 + ascii_form


def test_every_unicode_whitespace_is_removed() -> None:
    for blank in (character for character in map(chr, range(0x3001)) if character.isspace()):
        assert normalize(f"{blank}甲{blank}乙{blank}") == "甲乙", f"U+{ord(blank):04X}"
        assert normalize(f"甲{blank}乙" * 50) == "甲乙" * 50, f"U+{ord(blank):04X}"


@pytest.mark.parametrize("invisible", "\u200b\u200c\u200d\u2060\ufeff\u00ad", ids=lambda c: f"U+{ord(c):04X}")
def test_zero_width_characters_are_removed(invisible: str) -> None:
    assert normalize(f"甲{invisible}乙") == "甲乙"


@cases(
    ("text", "form"),
    [
        pytest.param("ABC", "abc", id="ascii-case"),
        pytest.param("Straße", "strasse", id="sharp-s"),
        pytest.param("STRASSE", "strasse", id="sharp-s-in-capitals"),
        pytest.param("ΣΑΣ", "σασ", id="final-sigma"),
        pytest.param("İ", "i\u0307", id="dotted-capital-i"),
        pytest.param("ＡＢＣ１２３", "abc123", id="full-width-letters"),
        pytest.param("（甲），：；！？％", "(甲),:;!?%", id="full-width-punctuation"),
        pytest.param("ｶﾞ", "ガ", id="half-width-katakana-is-joined"),
        pytest.param("e\u0301", "é", id="combining-accent"),
        pytest.param("\u1112\u1161\u11ab", "한", id="hangul-jamo"),
        pytest.param("①②㈱", "12(株)", id="compatibility-forms"),
        pytest.param("ﬁ", "fi", id="ligature"),
        pytest.param("㎡", "m2", id="unit"),
        pytest.param("1 000", "1000", id="blank-between-digits"),
        pytest.param("\u3000甲\u3000", "甲", id="ideographic-space"),
        pytest.param("…", "...", id="ellipsis"),
        pytest.param("", "", id="empty"),
        pytest.param(" \t\n", "", id="blank"),
        pytest.param("¨", "\u0308", id="space-that-nfkc-makes-is-removed"),
        pytest.param("甲公司", "甲公司", id="plain-chinese"),
        pytest.param("龍", "龍", id="unified-ideograph-stays"),
        pytest.param("\uf900", "豈", id="compatibility-ideograph"),
    ],
)
def test_normal_form(text: str, form: str) -> None:
    assert normalize(text) == form
    assert normalize(text) == form  # remembered
    assert normalize(text) == form
    padding = "甲" * 100  # a long text takes another way
    assert normalize(padding + text + padding) == normalize(padding + "\u3000" + text + padding)


def test_normal_form_is_stable() -> None:
    for text in ("Straße “甲” ｶﾞ①", "e\u0301 — İ", "【ＡＢＣ】。"):
        assert normalize(normalize(text)) == normalize(text)


@cases(
    ("text", "value", "found"),
    [
        pytest.param("甲公司质押", "公司", True, id="letter-for-letter"),
        pytest.param("甲 公\n司", "公司", True, id="blanks-in-the-text"),
        pytest.param("甲公司", "公 司", True, id="blanks-in-the-value"),
        pytest.param("ＡＢＣ集团", "abc", True, id="full-width-text"),
        pytest.param("甲公司", "乙", False, id="not-there"),
        pytest.param("《甲》", "<甲>", True, id="folded-punctuation"),
        pytest.param("甲", "", True, id="empty-value"),
        pytest.param("", "甲", False, id="empty-text"),
        # The text's é is one character: e is in it letter for letter, but not once it is joined.
        pytest.param("cafe\u0301", "cafe", False, id="next-character-joins"),
        pytest.param("cafe\u0301", "café", True, id="joined-value"),
        pytest.param("ｶﾞ", "ｶ", False, id="half-width-voicing-mark"),
        pytest.param("한", "\u1112\u1161", False, id="part-of-a-syllable"),
        pytest.param("\u1112\u1161\u11ab", "\u1112\u1161", False, id="part-of-jamo"),
        pytest.param("e\u0301", "\u0301", False, id="mark-alone"),
        pytest.param("STRASSE", "ß", True, id="casefold"),
    ],
)
def test_containment_is_that_of_normal_forms(text: str, value: str, found: bool) -> None:
    assert (normalize(value) in normalize(text)) is found
    assert Haystack(text).contains(value) is found


def test_table_of_this_test_is_what_nfkc_leaves_alone() -> None:
    assert all(unicodedata.normalize("NFKC", character) == character for character in FOLDED)
