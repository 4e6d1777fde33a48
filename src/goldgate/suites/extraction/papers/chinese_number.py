"""Numbers in Chinese characters: 一千二百万 is 12,000,000, 三点五 is 3.5, 二〇二三 is 2023."""

from __future__ import annotations

from fractions import Fraction

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
    """By sums of products: 万 multiplies what stands before it and after 亿, and 亿 all that stands before it."""
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
