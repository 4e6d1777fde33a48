"""Normalization and containment equal their plain definitions, for any Unicode."""

from __future__ import annotations

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from goldgate.suites.extraction.events.normalize import Haystack, normalize, normalize_all

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
    + FROM
    + "\u200b\u200c\u200d\u2060\ufeff\u00ad\u00a0\u2003\u2028\u0085\x1c"
)
hard_text = st.text(alphabet=HARD, max_size=12)
any_text = st.one_of(hard_text, st.text(max_size=12))
MANY = settings(max_examples=800)


@MANY
@given(any_text)
def test_normal_form_equals_the_definition(text: str) -> None:
    assert normalize(text) == plainly(text)


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
@given(any_text, any_text)
def test_containment_equals_the_definition(text: str, value: str) -> None:
    assert Haystack(text).contains(value) is (plainly(value) in plainly(text))


@MANY
@given(hard_text, hard_text, hard_text)
def test_containment_of_a_part_equals_the_definition(before: str, value: str, after: str) -> None:
    # The value stands there letter for letter, which is where the fast way decides.
    text = before + value + after
    assert Haystack(text).contains(value) is (plainly(value) in plainly(text))


@MANY
@given(hard_text, st.data())
def test_containment_of_any_stretch_equals_the_definition(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    value = text[start : data.draw(st.integers(start, len(text)))]
    haystack = Haystack(text)
    assert haystack.contains(value) is (plainly(value) in plainly(text))
    assert haystack.contains(value) is (plainly(value) in plainly(text))  # asked again
