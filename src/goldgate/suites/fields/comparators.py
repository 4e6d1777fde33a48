"""When two values are alike: the comparators that a path can have.

Equal normalized texts are alike under all comparators but `exact`; readings as a number or a date only add.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from copy import copy
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, NamedTuple, Self

from goldgate.core.value_text import Blanks, normalizer
from goldgate.suites.fields.spellings import (
    DateReading,
    LongNumber,
    NumberKey,
    decimal_text,
    number_key,
    number_of,
    read_date,
    read_number,
    units_differ,
)
from goldgate.suites.fields.suite import PathSettings

Key = Hashable  # equal keys are alike
Function = Callable[[Any, Any], object]
_LONGEST_MEMO = 200  # characters of a text whose key is kept
_MAX_WORDS = 10_000_000  # characters of texts whose words are kept
_MAX_KEPT = 65_536
_DEFAULT_THRESHOLD = Decimal("0.85")
_DEFAULT_SHARE = Decimal("0.5")
_WORD = re.compile(r"\w+")
_SPLIT_DIGITS = re.compile(r"[0-9] (?![0-9]{3}(?![0-9]))[0-9]")  # 1 240 is grouped, and 11 2 is two numbers


def leaf_text(value: Any) -> str:
    """A leaf as text: a boolean as JSON writes it, a number as its canonical decimal."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    number = number_of(value)
    return str(getattr(value, "text", value)) if number is None else decimal_text(number)


class Comparator:
    """Values whose keys are equal are alike. `text`, `boolean` and `enum` say no more than that."""

    equivalence = True  # but for loose keys; False: values with different keys may be alike too
    has_loose_keys = False
    blanks: Blanks = "remove"

    def __init__(self, name: str) -> None:
        self.name = name
        self.memo: dict[str | float, Key] = {}

    def key(self, value: Any) -> Key:
        """Equal for values that are alike. Booleans and numbers have the key of their text."""
        if type(value) is not str:
            return self._key_of_other(value)
        key = self.memo.get(value)
        if key is None:
            key = self._key_of_text(value)
            if len(value) <= _LONGEST_MEMO:
                self._keep(value, key)
        return key

    def _keep(self, value: str | float, key: Key) -> None:
        if len(self.memo) >= _MAX_KEPT:
            self.memo.clear()
        self.memo[value] = key

    @cached_property
    def identity(self) -> str:
        """A text that is equal for comparators of one kind with the same settings."""
        return repr((type(self).__name__, {**vars(self), "memo": None, "_words": None, "_kept": None}))

    def alike(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        """Whether a predicted value is alike a gold one; both come with their keys."""
        return gold_key == predicted_key or (
            (self.is_loose(gold_key) or self.is_loose(predicted_key))
            and self._is_near(gold, gold_key, predicted, predicted_key)
        )

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        """Whether values with different keys are alike."""
        return False

    def is_loose(self, key: Key) -> bool:
        """Whether a value with this key may be alike one with another key."""
        return not self.equivalence

    def block(self, key: Key) -> Key:
        """Equal for values that may be alike; None for all where keys do not tell."""
        return key if self.equivalence else None

    def normalize(self, text: str) -> str:
        """The comparable form of a text."""
        return normalizer(self.blanks)(text)

    def with_blanks(self, blanks: Blanks) -> Self:
        """Another comparator like this one, with blanks kept or removed."""
        other = copy(self)
        other.blanks, other.memo = blanks, {}
        return other

    def _key_of_text(self, text: str) -> Key:
        return self.normalize(text)

    def _key_of_other(self, value: Any) -> Key:
        return leaf_text(value)


class ExactComparator(Comparator):
    """Values are alike if they have the same characters."""

    def _key_of_text(self, text: str) -> Key:
        return text


class Amount(NamedTuple):
    """The key of a number with a unit, which is alike the number alone and not one with another unit."""

    number: NumberKey
    unit: str


class NumberComparator(Comparator):
    """Equal as decimals, or within `abs` or `rel` of gold, in units that agree. A text without a number is a text."""

    has_loose_keys = True

    def __init__(self, name: str, absolute: Decimal | None, relative: Decimal | None, decimal: str | None) -> None:
        super().__init__(name)
        self.absolute, self.relative, self.decimal = absolute, relative, decimal
        self.equivalence = not absolute and not relative

    def _is_near(self, gold: Any, gold_key: Any, predicted: Any, predicted_key: Any) -> bool:
        if isinstance(gold_key, str) or isinstance(predicted_key, str):
            return False
        one, other = (key if isinstance(key, Amount) else Amount(key, "") for key in (gold_key, predicted_key))
        if units_differ(one.unit, other.unit):
            return False
        if self.equivalence:
            return one.number == other.number
        low, high = self.bounds(one)
        return bool(low <= self.number(other) <= high)

    def is_loose(self, key: Key) -> bool:
        return not self.equivalence or type(key) is Amount

    def block(self, key: Key) -> Key:
        if isinstance(key, str):
            return key
        return key.number if type(key) is Amount and self.equivalence else super().block(key)

    def number(self, key: Any) -> Any:
        """The number of a key that is not a text, for sorting."""
        number = key.number if isinstance(key, Amount) else key
        return Decimal(number.text) if isinstance(number, LongNumber) else number

    def key(self, value: Any) -> Key:
        kind = type(value)
        if kind is int:
            return number_key(value)
        if kind is not float and kind is not str:
            return self._key_of_other(value)
        key = self.memo.get(value)
        if key is None:
            key = self._key_of_text(value) if kind is str else self._key_of_other(value)
            if type(key) is not Amount:  # a tree with a loose key has to know it
                self._keep(value, key)
        return key

    def bounds(self, gold_key: Any) -> tuple[Any, Any]:
        """The least and the largest number that is alike a gold one."""
        gold = Decimal(self.number(gold_key))
        room = max(self.absolute or Decimal(0), (self.relative or Decimal(0)) * abs(gold))
        return gold - room, gold + room

    def _key_of_text(self, text: str) -> Key:
        is_split = self.blanks == "keep" and _SPLIT_DIGITS.search(self.normalize(text)) is not None
        reading = None if is_split else read_number(text, self.decimal)
        if reading is None:
            return self.normalize(text)
        key = number_key(reading.number)
        return Amount(key, reading.unit) if reading.unit else key

    def _key_of_other(self, value: Any) -> Key:
        number = number_of(value)
        return leaf_text(value) if number is None else number_key(number)


class DateComparator(Comparator):
    """Dates are alike if they are the same day, month or year; date-times the same moment, against a date the day."""

    equivalence = False
    has_loose_keys = True

    def __init__(self, name: str, formats: tuple[str, ...]) -> None:
        super().__init__(name)
        self.formats = formats

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        if not isinstance(gold_key, DateReading) or not isinstance(predicted_key, DateReading):
            return False
        is_one_time = (gold_key.time is None) != (predicted_key.time is None)
        return is_one_time and gold_key.day is not None and gold_key.day == predicted_key.day

    def is_loose(self, key: Key) -> bool:
        return isinstance(key, DateReading) and key.time is not None

    def _key_of_text(self, text: str) -> Key:
        return read_date(text, self.formats) or self.normalize(text)

    def _key_of_other(self, value: Any) -> Key:
        text = leaf_text(value)
        return (read_date(text, self.formats) or text) if type(value) is int else text


class FuzzyComparator(Comparator):
    """Similar enough after normalization: 1 - edit distance / length of the longer text."""

    equivalence = False
    has_loose_keys = True

    def __init__(self, name: str, threshold: Decimal | None = None) -> None:
        super().__init__(name)
        self.threshold = _DEFAULT_THRESHOLD if threshold is None else threshold

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        one, other = str(gold_key), str(predicted_key)
        longer = max(len(one), len(other))
        most = int((1 - self.threshold) * longer)
        return abs(len(one) - len(other)) <= most and edit_distance(one, other, most) <= most


class ContainsComparator(Comparator):
    """One text contains the other as whole words, and the shorter has at least a share of the longer."""

    equivalence = False
    has_loose_keys = True

    def __init__(self, name: str, share: Decimal | None = None) -> None:
        super().__init__(name)
        self.share = _DEFAULT_SHARE if share is None else share
        self._words: dict[str, tuple[int, str]] = {}
        self._kept = 0  # characters of these texts

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        (least, shorter), (most, longer) = sorted((self._words_of(gold), self._words_of(predicted)))
        return 0 < least >= self.share * most and shorter in longer

    def _words_of(self, value: Any) -> tuple[int, str]:
        """How many characters the words of a value have, and these words, case folded, each between two NULs."""
        text = leaf_text(value)
        words = self._words.get(text)
        if words is None:
            each = _WORD.findall(text.casefold())
            words = self._words[text] = sum(map(len, each)), f"\0{chr(0).join(each)}\0"
            self._kept += len(text)
            if self._kept > _MAX_WORDS:
                self._words, self._kept = {}, 0
        return words


class FunctionComparator(Comparator):
    """A function of the caller decides: it gets the gold value and the predicted one."""

    equivalence = False
    has_loose_keys = True

    def __init__(self, name: str, function: Function) -> None:
        super().__init__(name)
        self.function = function

    @cached_property
    def identity(self) -> str:
        """Different for any two functions, also where they are written alike."""
        return str(id(self))

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        return bool(self.function(gold, predicted))


def make_comparator(name: str, settings: PathSettings) -> Comparator:
    """The comparator of a path; of one that is ignored, its name says so."""
    match name:
        case "exact":
            return ExactComparator(name)
        case "number":
            return NumberComparator(name, settings.abs, settings.rel, settings.decimal)
        case "date":
            return DateComparator(name, settings.formats)
        case "fuzzy":
            return FuzzyComparator(name, settings.threshold)
        case "contains":
            return ContainsComparator(name, settings.share)
    return Comparator(name)


TEXT: Final = Comparator("text")


def edit_distance(one: str, other: str, most: int) -> int:
    """Insertions, deletions and replacements between two texts; any number above `most` if there are more.

    Myers' algorithm with the texts' length as the width of a word: one pass over the longer text.
    """
    if len(one) > len(other):
        one, other = other, one
    if not one:
        return len(other)
    masks: dict[str, int] = {}
    for position, character in enumerate(one):
        masks[character] = masks.get(character, 0) | 1 << position
    full, last = (1 << len(one)) - 1, 1 << len(one) - 1
    positive, negative, distance = full, 0, len(one)
    for read, character in enumerate(other, 1):
        equal = masks.get(character, 0)
        diagonal = (((equal & positive) + positive) ^ positive) | equal | negative
        up, down = negative | (full & ~(diagonal | positive)), positive & diagonal
        if up & last:
            distance += 1
        elif down & last:
            distance -= 1
        if distance - (len(other) - read) > most:
            return distance
        up = (up << 1 | 1) & full
        down = down << 1 & full
        positive, negative = down | (full & ~(diagonal | up)), up & diagonal
    return distance
