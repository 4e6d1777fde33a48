"""When two values are alike: the comparators that a path can have, and the numbers and dates that texts are.

Equal normalized texts are alike under all comparators but `exact`; readings as a number or a date only add. What could
be read in two ways is never guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from functools import cached_property
from typing import Any, Final, NamedTuple

from goldgate.core.value_text import NumberText, normalize
from goldgate.suites.fields.suite import PathSettings

Key = Hashable  # equal keys are alike
Function = Callable[[Any, Any], object]
_LONGEST_MEMO = 200  # characters of a text whose key is kept
_MAX_KEPT = 65_536
_LARGEST_EXPONENT = 400  # beyond, a number is written with an exponent
_MAX_DIGITS = 10_000  # beyond, a number is compared as text
_LONGEST_PLAIN = 17  # characters of a number that is its own key
_LARGEST_PLAIN = 10**16
_DEFAULT_THRESHOLD = Decimal("0.85")
_DEFAULT_SHARE = Decimal("0.5")
_WORD = re.compile(r"\w+")


def number_of(value: Any) -> Decimal | int | None:
    """The exact value of a JSON number; None for anything else. Booleans are not numbers."""
    if type(value) is int:
        return value
    if type(value) is float:
        return Decimal(repr(value)) if value == value and abs(value) != float("inf") else None
    if isinstance(value, NumberText) and len(value.text) <= _MAX_DIGITS:
        try:
            return Decimal(value.text)
        except InvalidOperation:  # an exponent that no decimal has
            return None
    return None


def decimal_text(number: Decimal | int) -> str:
    """The canonical decimal: 5.0, 5.00 and 5 are all `5`."""
    if isinstance(number, int):
        if number.bit_length() < _LARGEST_EXPONENT:
            return str(number)
        number = Decimal(number)
    if not number:
        return "0"
    if abs(number.adjusted()) > _LARGEST_EXPONENT:
        digits, _, exponent = f"{number:E}".partition("E")
        return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}E{exponent}"
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


class LongNumber(NamedTuple):
    """The key of a number with many digits: hashes of texts, unlike those of numbers, cannot be made to collide."""

    text: str


def number_key(number: Decimal | int) -> Decimal | int | LongNumber:
    """A key that is equal for equal numbers: 5, 5.0 and 5.00."""
    if type(number) is int and -_LARGEST_PLAIN < number < _LARGEST_PLAIN:
        return number
    text = decimal_text(number)
    return number if len(text) <= _LONGEST_PLAIN else LongNumber(text)


def magnitude(number: Decimal | int) -> Decimal:
    """A number without its sign, however large it is: abs() of a decimal rounds, and may overflow."""
    return Decimal(number).copy_abs()


def leaf_text(value: Any) -> str:
    """A leaf as text: a boolean as JSON writes it, a number as its canonical decimal."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    number = number_of(value)
    return str(getattr(value, "text", value)) if number is None else decimal_text(number)


_SYMBOL = r"(?:[$€£¥₹]|usd|eur|gbp|jpy|chf|cny|inr|cad|aud)"
_NUMBER = re.compile(
    rf"(?P<open>\()?(?P<sign>[-+])?{_SYMBOL}?(?P<inner>-)?(?P<digits>[0-9](?:[0-9.,']*[0-9])?|[.,][0-9]+)"
    rf"(?:{_SYMBOL}|%)?(?P<close>\))?"
)
_LONGEST_NUMBER = 400  # characters of a text that may be a number


def read_number(text: str, decimal: str | None = None) -> Decimal | int | None:
    """The number that a text is after normalization, where there is one reading: `1,240.00`, `$ 12`, `(45.00)`, `12 %`.

    One mark before exactly three digits may be a decimal mark or not: without `decimal` it has no reading.
    """
    text = normalize(text)
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    digits = _plain_digits(match["digits"], decimal)
    if digits is None:
        return None
    number = Decimal(digits) if "." in digits else int(digits)
    return -number if match["open"] or match["sign"] == "-" or match["inner"] else number


def _plain_digits(digits: str, decimal: str | None) -> str | None:
    """Digits with at most one point, from digits with marks; None where they have no reading, or two."""
    marks = [character for character in digits if character in ".,"]
    is_quoted = "'" in digits  # 1'240.50
    if not marks and not is_quoted:
        return digits
    if is_quoted:
        if len(marks) > 1 or (decimal is not None and marks and marks[0] != decimal):
            return None
        decimal = marks[0] if marks else "."
    elif decimal is None:
        if len(marks) == 1 and digits[-4:-3] == marks[0]:
            return None
        is_group = len(marks) > 1 and len({*marks}) == 1  # 1,240,000
        decimal = _OTHER_MARK[marks[0]] if is_group else marks[-1]
    head, _, tail = digits.partition(decimal)
    groups = head.split("'" if is_quoted else _OTHER_MARK[decimal])
    is_even = len(groups) == 1 or (1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:]))
    if not is_even or not (tail or "0").isdigit():
        return None
    return "".join(groups) + (f".{tail}" if tail else "")


_OTHER_MARK = {".": ",", ",": "."}


_NUMBER_IN_TEXT = re.compile(r"\(?[-−]?(?:[0-9](?:[0-9.,'’]*[0-9])?|[.,][0-9]+)\)?")


def number_places(text: str) -> Iterator[tuple[Decimal | int, tuple[int, int]]]:
    """Every number in a text, in all readings that it has and without its sign, and where it begins and ends."""
    for match in _NUMBER_IN_TEXT.finditer(text):
        for mark in (None, ".", ","):
            number = read_number(match[0], mark)
            if number is not None:
                yield (number if number >= 0 else -number), match.span()


_MONTHS = "january february march april may june july august september october november december".split()
_NUMBERS = {name[:length]: number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_NAME = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_ISO = re.compile(r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?")
_TIME = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})t?(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?(?P<offset>z|[+-][0-9]{2}:?[0-9]{2})?"
)
_NAMED = (
    re.compile(rf"(?:{_DAY}\s*(?:of\s*)?)?(?P<name>{_NAME})\.?,?\s*(?P<year>[0-9]{{4}})", re.IGNORECASE),
    re.compile(rf"(?P<name>{_NAME})\.?\s*{_DAY},?\s*(?P<year>[0-9]{{4}})", re.IGNORECASE),
)
_TIME_PARTS = ("year", "month", "day", "hour", "minute", "second")
_LONGEST_DATE = 60  # characters of a text that may be a date
_DIRECTIVES = {
    "%d": "[0-9]{1,2}", "%m": "[0-9]{1,2}", "%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%H": "[0-9]{1,2}",
    "%M": "[0-9]{1,2}", "%S": "[0-9]{1,2}", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]+", "%p": "[AaPp][Mm]",
}  # fmt: skip


class DateReading(NamedTuple):
    """A year, a month or a day, or a time on a day; times with an offset are in UTC."""

    written: tuple[int, ...]  # year, month, day, as far as they are written
    time: str | None = None

    @property
    def day(self) -> tuple[int, ...] | None:
        """The written day, if there is one."""
        return self.written if len(self.written) == 3 else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DateReading):
            return NotImplemented
        return self.time == other.time if self.time is not None else tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.time) if self.time is not None else hash(self.written)


def read_date(text: str, formats: tuple[str, ...] = ()) -> DateReading | None:
    """The date that a text is after normalization; None where it is not one, or could be several."""
    written, text = text.strip(), normalize(text)
    if len(text) > _LONGEST_DATE:
        return None
    for pattern in formats:
        try:
            moment = datetime.strptime(written if " " in pattern else text, pattern)
        except ValueError:
            continue
        if moment.tzinfo is not None or any(part in pattern for part in ("%H", "%I", "%M", "%S")):
            return _time_reading(moment)
        return DateReading(
            (moment.year, moment.month, moment.day)[: 3 if "%d" in pattern else 2 if "%m" in pattern else 1]
        )
    if match := _ISO.fullmatch(text):
        return _reading(match["year"], match["month"], match["day"])
    if match := _TIME.fullmatch(text):
        return _read_time(match)
    for month_pattern in _NAMED:
        if match := month_pattern.fullmatch(text):
            month = _NUMBERS[match["name"].lower()]
            return _reading(match["year"], str(month), match["day"])
    return None


def date_places(text: str, formats: tuple[str, ...] = ()) -> Iterator[tuple[DateReading, tuple[int, int]]]:
    """Every date in a longer text, and where it begins and ends."""
    patterns = [_ISO, *_NAMED]
    for declared in formats:
        source = re.escape(declared)
        for directive, digits in _DIRECTIVES.items():
            source = source.replace(re.escape(directive), digits)
        if "%" not in source:
            patterns.append(re.compile(source))
    for pattern in patterns:
        for match in pattern.finditer(text):
            if reading := read_date(match[0], formats):
                yield reading, match.span()


def _reading(year: str, month: str | None, day: str | None) -> DateReading | None:
    written = tuple(int(part) for part in (year, month, day) if part is not None)
    try:
        date(*(*written, 1, 1)[:3])
    except ValueError:
        return None
    return DateReading(written)


def _read_time(match: re.Match[str]) -> DateReading | None:
    offset, zone = match["offset"], None
    try:
        if offset is not None:
            sign = -1 if offset[0] == "-" else 1
            minutes = 0 if offset == "z" else int(offset[1:3]) * 60 + int(offset[-2:])
            zone = timezone(sign * timedelta(minutes=minutes))
        year, month, day, hour, minute, second = (int(match[name] or 0) for name in _TIME_PARTS)
        micros = int((match["fraction"] or "0").ljust(6, "0")[:6])
        return _time_reading(datetime(year, month, day, hour, minute, second, micros, zone))
    except ValueError:
        return None


def _time_reading(moment: datetime) -> DateReading | None:
    written = (moment.year, moment.month, moment.day)
    try:
        universal = moment.astimezone(UTC) if moment.tzinfo is not None else moment
    except OverflowError:
        return None
    return DateReading(written, universal.isoformat())


class Comparator:
    """Values whose keys are equal are alike. `text`, `boolean` and `enum` say no more than that."""

    equivalence = True  # False: values with different keys may be alike too

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
        return repr((type(self).__name__, {**vars(self), "memo": None}))

    def alike(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        """Whether a predicted value is alike a gold one; both come with their keys."""
        return gold_key == predicted_key or (
            not self.equivalence and self._is_near(gold, gold_key, predicted, predicted_key)
        )

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        """Whether values with different keys are alike."""
        return False

    def is_loose(self, key: Key) -> bool:
        """Whether a value with this key may be alike one with another key."""
        return not self.equivalence

    def _key_of_text(self, text: str) -> Key:
        return normalize(text)

    def _key_of_other(self, value: Any) -> Key:
        return leaf_text(value)


class ExactComparator(Comparator):
    """Values are alike if they have the same characters."""

    def _key_of_text(self, text: str) -> Key:
        return text


class NumberComparator(Comparator):
    """Equal as decimals, or within `abs` or `rel` of gold. A text without a number is compared as text."""

    def __init__(self, name: str, absolute: Decimal | None, relative: Decimal | None, decimal: str | None) -> None:
        super().__init__(name)
        self.absolute, self.relative, self.decimal = absolute, relative, decimal
        self.equivalence = not absolute and not relative

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        if isinstance(gold_key, str) or isinstance(predicted_key, str):
            return False
        low, high = self.bounds(gold_key)
        number: Any = Decimal(predicted_key.text) if isinstance(predicted_key, LongNumber) else predicted_key
        return bool(low <= number <= high)

    def key(self, value: Any) -> Key:
        kind = type(value)
        if kind is int:
            return number_key(value)
        if kind is not float and kind is not str:
            return self._key_of_other(value)
        key = self.memo.get(value)
        if key is None:
            key = self._key_of_text(value) if kind is str else self._key_of_other(value)
            self._keep(value, key)
        return key

    def bounds(self, gold_key: Any) -> tuple[Any, Any]:
        """The least and the largest number that is alike a gold one."""
        gold = Decimal(gold_key.text if isinstance(gold_key, LongNumber) else gold_key)
        room = max(self.absolute or Decimal(0), (self.relative or Decimal(0)) * abs(gold))
        return gold - room, gold + room

    def _key_of_text(self, text: str) -> Key:
        number = read_number(text, self.decimal)
        return normalize(text) if number is None else number_key(number)

    def _key_of_other(self, value: Any) -> Key:
        number = number_of(value)
        return leaf_text(value) if number is None else number_key(number)


class DateComparator(Comparator):
    """Dates are alike if they are the same day, month or year; date-times the same moment, against a date the day."""

    equivalence = False

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
        return read_date(text, self.formats) or normalize(text)

    def _key_of_other(self, value: Any) -> Key:
        text = leaf_text(value)
        return (read_date(text, self.formats) or text) if type(value) is int else text


class FuzzyComparator(Comparator):
    """Similar enough after normalization: 1 - edit distance / length of the longer text."""

    equivalence = False

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

    def __init__(self, name: str, share: Decimal | None = None) -> None:
        super().__init__(name)
        self.share = _DEFAULT_SHARE if share is None else share

    def _is_near(self, gold: Any, gold_key: Key, predicted: Any, predicted_key: Key) -> bool:
        shorter, longer = sorted((words_of(gold), words_of(predicted)), key=lambda words: sum(map(len, words)))
        if not contains_words(longer, shorter):
            return False
        return sum(map(len, shorter)) >= self.share * sum(map(len, longer))


class FunctionComparator(Comparator):
    """A function of the caller decides: it gets the gold value and the predicted one."""

    equivalence = False

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


def words_of(value: Any) -> list[str]:
    """The words of a value, case folded."""
    return _WORD.findall(leaf_text(value).casefold())


def contains_words(longer: list[str], shorter: list[str]) -> bool:
    """Whether the words of one text stand in the other, in this order and without a gap."""
    if not shorter:
        return False
    return f"\0{chr(0).join(shorter)}\0" in f"\0{chr(0).join(longer)}\0"


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
