"""Normalization and containment equal their plain definitions, for any Unicode."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core import value_text as module
from goldgate.core.value_text import (
    Haystack,
    normalize,
    normalize_all,
    normalize_by_character,
    normalize_with_blanks,
    starts_segment,
)
from tests.examples import examples

FROM = "。、“”„‟〝〞「」『』‘’‚‛《》〈〉【】〔〕〖〗—–―‐‒−·•・〜"
TO = '.,""""""""""\'\'\'\'<><>[][][]------...~'
TABLE = str.maketrans(FROM, TO, "\u200b\u200c\u200d\u2060\ufeff\u00ad")


def plainly(text: str) -> str:
    """The definition, word for word."""
    return "".join(unicodedata.normalize("NFKC", text).translate(TABLE).split()).casefold()


# Where normalization is hard: marks that join, Hangul parts, half-width forms, what NFKC spreads out.
HARD = (
    "abAB甲乙公司 \n\t\u3000"
    "e\u0301\u0308\u0327\u0345\u093c\u3099\u309a"
    "\u1100\u1112\u1161\u1175\u11a8\u11ab한가"
    "ｶﾞﾊﾟｱー゛゜"
    "ＡＢ１２（），：！？"
    "ßẞİıſΣςσﬁ①㈱㎡…‥″‴¨´¸¯\u2017\u203e\u037e\u0387"
    "éÉệñØłőșάΣЁёїشپ٣\u064e\u0651\u0654שׁहिन्दी\u093cไทย\u0e38\u0e48\u0e33ㄱㅏㅋ々ヶ゙ゞ㍿€→①"
    "😀❤\ufe0f👍🏽🇫🇷\U00011099\U000110ba\U000110a5\U0001d15e\U00016d67\U00016d63\ud800"
    + FROM
    + "\u200b\u200c\u200d\u2060\ufeff\u00ad\u00a0\u2003\u2028\u0085\x1c"
)
hard_text = st.text(alphabet=HARD, max_size=12)
any_text = st.one_of(hard_text, st.text(max_size=12))
MANY = examples(800)


@MANY
@given(any_text)
def test_normal_form_equals_the_definition(text: str) -> None:
    assert normalize(text) == plainly(text)


def with_blanks_plainly(text: str) -> str:
    """The definition: each run of whitespace is looked at with the characters on both sides of it."""
    runs = re.split(r"(\s+)", unicodedata.normalize("NFKC", text).translate(TABLE).strip())
    for place in range(1, len(runs), 2):
        beside = runs[place - 1][-1], runs[place + 1][0]
        runs[place] = "" if any(map(needs_no_blank, beside)) else " "
    return "".join(runs).casefold()


def needs_no_blank(character: str) -> bool:
    kana = r"\u3041-\u3096\u309d-\u309f\u30a1-\u30ff\u3105-\u312f"
    scripts = rf"[\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U000323af{kana}]"
    is_assigned = unicodedata.category(character) != "Cn"
    return unicodedata.category(character)[0] in "PS" or (is_assigned and re.match(scripts, character) is not None)


@MANY
@given(st.one_of(hard_text, st.text(alphabet="aB1% (\n\u3000甲アㄅ한é", max_size=12)))
def test_normal_form_with_blanks_equals_the_definition(text: str) -> None:
    form = normalize_with_blanks(text)
    assert form == with_blanks_plainly(text)
    assert form.replace(" ", "") == normalize(text)
    assert normalize_with_blanks(form).replace(" ", "") == normalize(form)


@MANY
@given(
    st.lists(st.one_of(any_text, st.sampled_from(["甲公司", "Acme Corp", "12%", "", " ", "\0", "a\0B"])), max_size=6)
)
def test_several_texts_at_once_have_the_same_normal_forms(texts: list[str]) -> None:
    assert normalize_all(texts) == [plainly(text) for text in texts]


@MANY
@given(st.lists(any_text, min_size=1, max_size=12), st.sampled_from(["甲", "a", "公司。", " “甲” "]))
def test_normal_form_of_a_long_text_equals_the_definition(parts: list[str], filling: str) -> None:
    text = (filling * 20).join(parts) + filling * 30
    assert len(text) >= 30
    assert normalize(text) == plainly(text)


@MANY
@given(st.lists(st.one_of(any_text, st.sampled_from(["\ufdfa", "e\u0301 a", "\u200b"])), max_size=6).map("".join))
def test_normal_form_piece_by_piece_equals_the_definition(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", 2)
        assert normalize_by_character(text) == plainly(text)
        assert normalize_with_blanks(text) == with_blanks_plainly(text)


@MANY
@given(any_text, any_text)
def test_containment_equals_the_definition(text: str, value: str) -> None:
    assert Haystack(text).contains(value) is (plainly(value) in plainly(text))


@MANY
@given(hard_text, hard_text, hard_text)
def test_containment_of_a_part_equals_the_definition(before: str, value: str, after: str) -> None:
    # The value stands there letter for letter, which is where the fast way decides.
    text = before + value + after
    assert Haystack(text).contains(value) is (plainly(value) in plainly(text))


# --- every character that there is

EVERY = [chr(code) for code in (*range(0x40000), *range(0xE0000, 0xE1000))]  # Unicode has none on other planes
ASSIGNED = [each for each in EVERY if unicodedata.category(each) not in ("Cn", "Co")]
# What is joined to most: letters and signs of every kind of joining, and marks that another could go before.
BEFORE = (
    "",
    "a",
    "e\u0301",
    "e\u0327",
    "\u1100",
    "가",
    "각",
    "か",
    "ｶ",
    "ا",
    "क",
    "\u0cc6",
    "\u1b05",
    "\U00011099",
    "<",
    "≠",
)


def require_joined_to_none(characters: list[str]) -> None:
    composed = {each: unicodedata.normalize("NFKC", each) for each in (*characters, *BEFORE)}
    for before in BEFORE:
        together = unicodedata.normalize("NFKC", "".join([f"\0{before}{each}" for each in characters]))
        assert together == "".join([f"\0{composed[before]}{composed[each]}" for each in characters])


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_no_character_that_stands_alone_is_joined_to_any_before_it(step: int) -> None:
    alone = [each for each in ASSIGNED[::step] if starts_segment(each)]
    assert len(alone) > 100_000 / step
    require_joined_to_none(alone)


def test_characters_that_are_not_looked_at_are_joined_to_none_and_left_as_they_are() -> None:
    usual = re.sub(module._ODD_CHARACTERS, "", "".join(EVERY))
    assert len(usual) > 40_000
    require_joined_to_none([*usual])
    assert unicodedata.normalize("NFKC", usual).translate(TABLE) == usual


def test_text_that_is_unchanged() -> None:
    unchanged = "".join(filter(module._UNCHANGED.fullmatch, EVERY))
    assert len(unchanged) > 30_000
    require_joined_to_none([*unchanged])
    assert plainly(unchanged) == unchanged


def test_what_a_character_becomes_is_not_changed_again() -> None:
    formed = "".join(map(module._normalized_character, EVERY))
    assert "".join(map(module._normalized_character, formed)) == formed


def test_normal_forms_of_every_character() -> None:
    for each in module._ODD_CHARACTERS.findall("".join(ASSIGNED)):
        assert normalize_by_character(each) == plainly(each)
    many = "".join(each for each in ASSIGNED if starts_segment(each))  # too many for a pass over the text for each
    assert normalize_by_character(many) == plainly(many)
