"""Numbers, quantities, dates and periods in Chinese and English text: 1,200万元, 12 million, 二〇二三年三月, Q3."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from math import prod
from typing import NamedTuple

# With the characters of cheques, 壹仟贰佰, and the traditional ones.
_MARKS = ("零〇○", "一壹", "二两贰", "三叁", "四肆", "五伍", "六陆", "七柒", "八捌", "九玖")
DIGITS = {mark: value for value, marks in enumerate(_MARKS) for mark in marks}
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1_000, "仟": 1_000}
LARGE = {"万": 10_000, "萬": 10_000, "亿": 100_000_000, "億": 100_000_000}
POINT = "点"
NUMERALS = "".join((*DIGITS, *_SMALL, *LARGE))
SCALES = {**_SMALL, **LARGE}


def chinese_number(text: str) -> Fraction | None:
    """The value of a numeral; None where the characters are none, such as 万 alone."""
    whole, point, decimals = text.partition(POINT)
    value = _spelled(whole) if all(mark in DIGITS for mark in whole) else _composed(whole)
    if value is None or not point:
        return None if value is None else Fraction(value)
    if not decimals or any(mark not in DIGITS for mark in decimals):
        return None
    return value + Fraction(_spelled(decimals) or 0, 10 ** len(decimals))


def _spelled(text: str) -> int | None:
    """Digit by digit, as years are written."""
    return int("".join(str(DIGITS[mark]) for mark in text)) if text else None


def _composed(text: str) -> int | None:
    """A number with place words: 万 multiplies what is before it and after 亿, and 亿 all that is before it."""
    whole = part = section = digit = 0
    has_digit = False
    for mark in text:
        if mark in DIGITS:
            digit, has_digit = DIGITS[mark], True
        elif mark in _SMALL:
            section += (digit if digit else 1) * _SMALL[mark]
            digit, has_digit = 0, has_digit or mark in "十拾"
        elif not has_digit:
            return None
        elif mark in "万萬":
            part, section, digit = part + (section + digit) * LARGE[mark], 0, 0
        else:
            whole, part, section, digit = (whole + part + section + digit) * LARGE[mark], 0, 0, 0
    return whole + part + section + digit if has_digit else None


PERCENT, POINTS = "%", "percentage points"
PROPER = frozenset({PERCENT, POINTS})  # a number without a unit is none of these

CURRENCIES = {
    "cny": ("元人民币", "人民币元", "人民币", "元", "圆", "块钱", "yuan", "rmb", "cny", "¥"),
    "usd": ("美元", "美金", "us dollars", "us dollar", "dollars", "dollar", "usd", "us$", "$"),
    "hkd": ("港元", "港币", "hkd", "hk$"),
    "twd": ("新台币", "台币", "twd", "nt$"),
    "sgd": ("新加坡元", "新元", "sgd", "s$"),
    "aud": ("澳元", "aud", "a$", "au$"),
    "cad": ("加元", "加币", "cad", "c$", "ca$"),
    "eur": ("欧元", "euros", "euro", "eur", "€"),
    "jpy": ("日元", "日圆", "yen", "jpy"),
    "krw": ("韩元", "韩圆", "won", "krw"),
    "gbp": ("英镑", "pounds", "pound", "gbp", "£"),
    "chf": ("瑞士法郎", "瑞郎", "chf"),
    "rub": ("卢布", "roubles", "rubles", "rub"),
    "inr": ("印度卢比", "卢比", "rupees", "inr"),
}
# Words that are part of several currencies: what else is said decides, as in 港币500万元.
VAGUE = frozenset({"元", "圆", "块钱", "dollars", "dollar", "$", "¥"})

# Words for units, by the unit that they stand for. What is not here stays part of the text around the number.
_UNITS = {
    PERCENT: ("%", "percent", "per cent", "pct"),
    POINTS: ("个百分点", "百分点", "percentage points", "percentage point"),
    **CURRENCIES,
    "shares": ("股", "shares", "share"),
    "people": ("人", "名", "位", "people", "persons", "person"),
    "years of age": ("周岁", "岁", "years old", "year old"),
    "times": ("倍", "times"),
    "years": ("年", "years", "year"),
    "quarters": ("个季度", "quarters"),
    "months": ("个月", "months", "month"),
    "weeks": ("个星期", "周", "weeks", "week"),
    "days": ("个工作日", "天", "days", "day"),
    "hours": ("个小时", "小时", "hours", "hour"),
    "minutes": ("分钟", "minutes", "minute"),
    "seconds": ("秒钟", "秒", "seconds", "second"),
    "km": ("千米", "公里", "kilometers", "kilometres", "kilometer", "kilometre", "km"),
    "metres": ("米", "meters", "metres", "meter", "metre"),
    "miles": ("英里", "miles", "mile"),
    "tonnes": ("吨", "tonnes", "tonne", "tons", "ton"),
    "kg": ("千克", "公斤", "kilograms", "kilogram", "kg"),
    "grams": ("克", "grams", "gram"),
    "square metres": ("平方米", "square meters", "square metres"),
    "mu": ("亩",),
}
UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}

# Units that are a part of another one: the unit, and how much of it.
PARTS = {
    "‰": (PERCENT, Fraction(1, 10)),
    "个基点": (POINTS, Fraction(1, 100)),
    "基点": (POINTS, Fraction(1, 100)),
    "basis points": (POINTS, Fraction(1, 100)),
    "bps": (POINTS, Fraction(1, 100)),
    "bp": (POINTS, Fraction(1, 100)),
}
# What stands before the number of a share, and how many percent one of it is.
SHARES = {"百分之": Fraction(1), "千分之": Fraction(1, 10), "万分之": Fraction(1, 100)}


MAX_DIGITS = 60  # a longer number is not a quantity, and takes long to multiply

_SCALES = {
    **SCALES,
    "trillion": 10**12,
    "billion": 10**9,
    "million": 10**6,
    "thousand": 10**3,
    "tn": 10**12,
    "bn": 10**9,
    "bln": 10**9,
    "mn": 10**6,
    "mln": 10**6,
}
_SHORT_SCALES = {"k": 10**3, "m": 10**6, "b": 10**9}  # only after a currency: $5m, but not 5m, which is a length
_SCALE_MARKS = "".join(SCALES)
_RANGE = re.compile(r"\s*(?:[-~–—至到]|to\b)\s*")


def _word_pattern(words: Iterable[str]) -> str:
    """One of these words, the longest first; one in Latin letters ends where its letters do."""
    ordered = sorted(words, key=lambda word: (-len(word), word))
    return "|".join(
        re.escape(word) + (r"(?![a-z])" if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )


_CURRENCY_BEFORE = [word for words in CURRENCIES.values() for word in words if word != "元"]
_ARABIC = r"\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\d.])\.\d+"
_CHINESE = rf"[{NUMERALS}]+(?:{POINT}[{NUMERALS}]+)?"
_LATIN_SCALE = _word_pattern(word for word in _SCALES if word[0].isascii())

QUANTITY = re.compile(
    rf"(?:(?P<before>{_word_pattern(_CURRENCY_BEFORE)})\s*)?(?P<sign>(?:[-+]|负|minus\s)\s*)?(?:(?P<share>{_word_pattern(SHARES)})\s*)?"
    rf"(?:(?P<number>{_ARABIC})"
    rf"(?:\s*(?P<scale>[{_SCALE_MARKS}]{{1,3}})(?P<more>\d+(?:\.\d+)?[{_SCALE_MARKS}]{{1,3}})?|\s*(?P<latin>{_LATIN_SCALE})"
    r"|(?(before)(?P<short>[kmb])(?![a-z])|(?!)))?"
    rf"|(?P<chinese>{_CHINESE}))"
    rf"\s*(?P<unit>{_word_pattern([*UNIT_OF, *PARTS])})?"
)


class Quantity(NamedTuple):
    """A number, and its unit if it has one that is known."""

    number: Fraction
    unit: str | None

    def agrees(self, other: Quantity) -> bool:
        """Whether numbers and units are equal; a number without a unit agrees with any unit but percent."""
        if self.number != other.number:
            return False
        units = {self.unit, other.unit}
        return len(units) == 1 or (None in units and not units & PROPER)


def quantity_of(match: re.Match[str]) -> Quantity | None:
    """The quantity that a match states; None where it is none after all."""
    number = _chinese(match) if match["chinese"] else _arabic(match)
    if number is None:
        return None
    if (match["sign"] or "")[:1] in ("-", "负", "m"):
        number = -number
    if match["share"]:
        return Quantity(number * SHARES[match["share"]], PERCENT)
    if match["unit"] in PARTS:
        unit, part = PARTS[match["unit"]]
        return Quantity(number * part, unit)
    return Quantity(number, _unit(match["unit"], match["before"]))


def is_range_mark(text: str) -> bool:
    """Whether this is what stands between the two ends of a range."""
    return _RANGE.fullmatch(text) is not None


def range_start(first: Quantity, match: re.Match[str], second: Quantity) -> Quantity:
    """The first end of a range, with what only the second says: 5-6% begins at 5%, 10-20万元 at 100,000 yuan."""
    if first.unit is not None and first.unit not in CURRENCIES:
        return first
    bare = Fraction(match["number"].replace(",", "")) if match["number"] else None
    scaled = bare and first.number < bare and (match["scale"] or match["latin"]) and not match["more"]
    number = first.number * abs(second.number) / bare if bare and scaled else first.number
    return Quantity(number, first.unit or second.unit)


def _unit(after: str | None, before: str | None) -> str | None:
    """What the number is of, where it may be said twice: 港币500万元 are Hong Kong dollars."""
    words = [word for word in (after, before) if word]
    return UNIT_OF.get(next((word for word in words if word not in VAGUE), words[0] if words else ""))


def _arabic(match: re.Match[str]) -> Fraction | None:
    if len(match["number"]) > MAX_DIGITS or len(match["more"] or "") > MAX_DIGITS:
        return None
    number = Fraction(match["number"].replace(",", ""))
    if match["short"]:
        return number * _SHORT_SCALES[match["short"]]
    if match["latin"]:
        return number * _SCALES[match["latin"]]
    if match["scale"]:
        number *= _product(match["scale"])
        if match["more"]:
            digits = match["more"].rstrip(_SCALE_MARKS)
            number += Fraction(digits) * _product(match["more"][len(digits) :])
    return number


def _chinese(match: re.Match[str]) -> Fraction | None:
    """Characters for numbers are part of many names: they are a number with a unit, as a share, or up to 万 or 亿."""
    text = match["chinese"]
    if len(text) > MAX_DIGITS or (match["unit"] is None and not match["share"] and text[-1] not in LARGE):
        return None
    return chinese_number(text)


def _product(marks: str) -> int:
    """千万 is 10,000,000."""
    return prod(SCALES[mark] for mark in marks)


class Date(NamedTuple):
    """What was stated of a date; None is what was left open."""

    year: int | None
    month: int | None
    day: int | None

    def agrees(self, other: Date) -> bool:
        """Whether some part is stated by both, and no part differently: 3月12日 agrees with 2023-03-12."""
        stated = [(a, b) for a, b in zip(self, other, strict=True) if a is not None and b is not None]
        return bool(stated) and all(a == b for a, b in stated)


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_SPELLED = "".join(DIGITS)
_YEAR = rf"(?P<year>\d{{4}}|\d\d(?=\s*年\s*\d{{1,2}}\s*月)|[{_SPELLED}]{{4}})\s*年"
_MONTH_DAY = (
    rf"(?P<month>\d{{1,2}}|[{_SPELLED}十]{{1,3}})\s*月份?(?:\s*(?P<day>\d{{1,2}}|[{_SPELLED}十]{{1,3}})\s*[日号])?"
)
_YEAR_ALONE = r"(?![\d./-]|,\d|\s*[千万亿元股人%])"  # not the beginning of a larger number, or of an amount
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"

# Tried in this order at each place of a text in small letters.
DATES = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\d){_YEAR}(?:\s*{_MONTH_DAY})?",
        rf"(?<![\d{_SPELLED}十]){_MONTH_DAY}",
        rf"(?<![\d{_SPELLED}十])(?P<day>\d{{1,2}}|[{_SPELLED}十]{{1,3}})\s*日",
        r"(?<![\d./-])(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?![./-]?\d)",
        rf"(?<![\d.,])(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d){_YEAR_ALONE}",
        rf"(?<![\d./-])(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2]){_YEAR_ALONE}",
        rf"\b{_MONTH}\s*{_DAY}(?:\s*,?\s+(?P<year>\d{{4}}))?(?!\d)",
        rf"(?<!\d){_DAY}\s*(?:of\s+)?\b{_MONTH}(?:\s*,?\s*(?P<year>\d{{4}}))?(?!\d)",
        rf"\b{_MONTH}\s*,?\s*(?P<year>\d{{4}})(?!\d)",
    )
)


def date_of(match: re.Match[str]) -> Date | None:
    """The date that a match states; None where there is no such month or day."""
    parts = match.groupdict()
    year, month, day = (_whole_number(parts.get(part) or "") for part in ("year", "month", "day"))
    if name := parts.get("name"):
        month = 1 + _MONTHS.index(name[:3])
    if year is not None and year < 100:
        year += 2000 if year < 70 else 1900
    if not (month is None or 1 <= month <= 12) or not (day is None or 1 <= day <= 31):
        return None
    return Date(year, month, day)


def _whole_number(text: str) -> int | None:
    """A number in digits or Chinese characters; None where it is neither, or too long."""
    if len(text) > MAX_DIGITS:
        return None
    value = int(text) if text.isdecimal() else chinese_number(text)
    return None if value is None else int(value)


_NAMED_PERIODS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "上": 1, "下": 2}
_LATIN = "first|second|third|fourth"

PERIOD = re.compile(
    r"第?(?P<quarter>[一二三四1-4])季度?(?!节)|(?<![a-z])q(?P<q>[1-4])(?!\d)"
    rf"|\b(?P<named>{_LATIN})\s+quarter\b|(?P<half>[上下])半年|\b(?P<latin_half>first|second)\s+half\b|(?<![a-z])h(?P<h>[12])(?!\d)"
    rf"|第(?P<place>\d+|[{NUMERALS}]+)"
)


def period_of(match: re.Match[str]) -> Quantity | None:
    """The quarter, the half of a year or the place in a row that a match states."""
    parts = match.groupdict()
    for unit, names in (
        ("quarter of a year", ("quarter", "q", "named")),
        ("half of a year", ("half", "latin_half", "h")),
        ("place in a row", ("place",)),
    ):
        text = next((parts[name] for name in names if parts[name]), None)
        if text is not None:
            number = _NAMED_PERIODS.get(text) or _whole_number(text)
            return None if number is None else Quantity(Fraction(number), unit)
    return None
