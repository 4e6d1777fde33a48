"""Texts that no file can hold, and what becomes of them."""

from __future__ import annotations

import os

from hypothesis import given
from hypothesis import strategies as st

from goldgate.files.writing import escape_name, escape_surrogates, is_utf8, replace_surrogates

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


def test_two_halves_of_a_pair_are_joined() -> None:
    assert replace_surrogates("\ud83d\ude00!") == "😀!"
