"""Texts that no file can hold, and what becomes of them."""

from __future__ import annotations

import os
import re

from hypothesis import given
from hypothesis import strategies as st

from goldgate.files.writing import escape_name, escape_surrogates, is_utf8, map_texts, replace_surrogates
from tests.cases import cases

HALVES = st.characters(categories=["Cs"])
TEXTS = st.text(st.characters() | HALVES | st.sampled_from("\\udc80"))


@given(TEXTS)
def test_every_rule_gives_text_that_can_be_stored(text: str) -> None:
    for rule in (escape_surrogates, escape_name, replace_surrogates):
        assert is_utf8(rule(text))
    if is_utf8(text):
        assert escape_surrogates(text) == replace_surrogates(text) == text


@given(st.binary(max_size=8), st.binary(max_size=8))
def test_two_names_never_become_one(one: bytes, other: bytes) -> None:
    names = os.fsdecode(one), os.fsdecode(other)
    assert (escape_name(names[0]) == escape_name(names[1])) == (names[0] == names[1])


@given(TEXTS)
def test_half_of_a_pair_is_one_character_that_means_nothing(text: str) -> None:
    apart = re.sub("([\ud800-\udbff])(?=[\udc00-\udfff])", r"\1-", text)  # no two halves stand together
    assert replace_surrogates(apart) == re.sub("[\ud800-\udfff]", "\ufffd", apart)


def test_two_halves_of_a_pair_are_joined() -> None:
    assert replace_surrogates("\ud83d\ude00!") == "😀!"


@cases(("given", "kept"), [("a\udc80", "a\\udc80"), ("\\", "\\"), ("é", "é")])
def test_all_texts_in_a_value(given: str, kept: str) -> None:
    assert map_texts({given: [given, (1, given), None]}) == {kept: [kept, [1, kept], None]}
