"""Piled marks: the same normal forms, without the sorting that takes quadratic time."""

from __future__ import annotations

import random
from typing import Literal
from unicodedata import combining, normalize

from goldgate.core.value_text import sort_marks
from tests.cases import cases

MARKS = "\u0301\u0316\u0344\u0323\u0300\u0327\u05b0\u0345"


@cases("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_normal_forms_are_those_of_the_text(form: Literal["NFC", "NFD", "NFKC", "NFKD"]) -> None:
    rng = random.Random(7)
    pile = "".join(rng.choice(MARKS) for _ in range(3_000))
    text = f"Ａe{pile}b{pile[:40]} c\u0301"
    assert normalize(form, sort_marks(text)) == normalize(form, text)


def test_no_pile_is_left_to_be_sorted() -> None:
    classes = [combining(mark) for mark in sort_marks("a" + "\u0301\u0316" * 2_000)[1:]]
    assert classes == sorted(classes)


def test_short_text_is_left_as_it_is() -> None:
    text = "a" + "\u0301\u0316" * 50
    assert sort_marks(text) is text


def test_a_pile_in_a_text_that_is_not_long_is_sorted_too() -> None:
    classes = [combining(mark) for mark in sort_marks("a" + "\u0301\u0316" * 600)[1:]]
    assert classes == sorted(classes)
