"""The numbers and dates that a text is, or has in it: one parser for comparing values and for searching a source text.

Comparing takes a text that has one reading; what could be read in two ways is never guessed. Searching takes any
reading, so that a value that is alike one in the text is never missing there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final, NamedTuple

from goldgate.core.value_text import CharacterMemo, NumberText, normalize

Number = Decimal | int
_LARGEST_EXPONENT = 400  # beyond, a number is written with an exponent
_MAX_DIGITS = 10_000  # beyond, a number is compared as text
_LONGEST_PLAIN = 17  # characters of a number that is its own key
_LARGEST_PLAIN = 10**16


def number_of(value: Any) -> Number | None:
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


def decimal_text(number: Number) -> str:
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


NumberKey = Decimal | int | LongNumber


def number_key(number: Number) -> NumberKey:
    """A key that is equal for equal numbers: 5, 5.0 and 5.00."""
    if type(number) is int and -_LARGEST_PLAIN < number < _LARGEST_PLAIN:
        return number
    text = decimal_text(number)
    return number if len(text) <= _LONGEST_PLAIN else LongNumber(text)


def magnitude(number: Number) -> Number:
    """A number without its sign, however large it is: abs() of a decimal rounds, and may overflow."""
    return abs(number) if type(number) is int else Decimal(number).copy_abs()


# What may stand beside a number: a code, and how else it is spelled. A spelling of several codes may be any of them.
_CURRENCY_TABLE = """
usd $ us$ dollar dollars; cad $ c$ ca$ dollar dollars; aud $ a$ au$ dollar dollars; nzd $ nz$ dollar dollars; mxn $ mx$
hkd $ hk$ 元; sgd $ s$; twd $ nt$ 元; brl r$; eur € euro euros; gbp £ pound pounds; egp £; jpy ¥ 円 yen
cny ¥ 元 yuan rmb; inr ₹ rs rs. rupee rupees; pkr rs rs. rupee rupees; chf fr. sfr. franc francs; sek kr kr.; nok kr kr.
dkk kr kr.; isk kr kr.; krw ₩ won; pln zł; czk kč; huf ft; rub ₽; uah ₴; try ₺; ils ₪; vnd ₫; thb ฿; php ₱; zar"""
_UNIT_TABLE = """% percent pct pct.; ‰; kg; g gram grams; mg; µg ug mcg; ng; lb lbs pound pounds; oz; km
t ton tons tonne tonnes; m meter meters metre metres; cm; mm; µm um; nm; mi mile miles; ft foot feet; inch; m2; m3
l liter liters litre litres; ml; dl; cl; s sec secs second seconds; ms; min mins minute minutes; h hr hrs hour hours
day days; week weeks; month months; yr yrs year years; °; °c; °f; k; v; a; w; kw; mw; wh; kwh; mwh; j; kj; cal; kcal
pa; hpa; kpa; bar; mmhg; hz; khz; mhz; ghz; b; kb; mb; gb; tb; mol; mmol; iu; mg/dl; mmol/l; g/l; mg/kg; km/h; m/s"""
_SCALE_TABLE = """2 hundred 百; 3 thousand thousands k 千; 4 万 萬; 5 lakh lakhs; 6 million millions m mm mn mio mio.
7 crore crores; 8 亿 億; 9 billion billions b bn bln mrd mrd.; 12 trillion trillions t tn trn 兆"""


def _read_table(table: str) -> dict[str, frozenset[str]]:
    codes: dict[str, set[str]] = {}
    for code, *others in (entry.split() for entry in re.split("[;\n]", table.strip())):
        for spelling in (code, *others):
            codes.setdefault(normalize(spelling), set()).add(code)
    return {spelling: frozenset(of_spelling) for spelling, of_spelling in codes.items()}


_CURRENCIES: Final = _read_table(_CURRENCY_TABLE)
_UNITS: Final = _read_table(f"{_CURRENCY_TABLE};{_UNIT_TABLE}")
_SCALES: Final = {word: int(*tens) for word, tens in _read_table(_SCALE_TABLE).items() if not word.isdecimal()}
_PREFIX = "|".join(map(re.escape, sorted(_CURRENCIES, key=len, reverse=True)))
_NUMBER = re.compile(
    rf"(?P<before>[-+(]{{0,2}})(?P<name>{_PREFIX})?(?P<between>[-+(]{{0,2}})"
    r"(?P<digits>[0-9](?:[0-9.,']*[0-9])?|[.,][0-9]+)(?![0-9.,'])(?P<inner>\)?)(?P<unit>[^()]{0,20})(?P<outer>\)?)"
)
_TWO_WAYS = re.compile(r"[0-9]*[.,][0-9]{3}")
_WITH_EXPONENT = re.compile(r"[-+]?(?P<digits>[0-9]*(?:\.[0-9]+)?)e(?P<tens>[-+]?[0-9]{1,3})")
_LONGEST_NUMBER = 400  # characters of a text that may be a number
_OTHER_MARK = {".": ",", ",": "."}


class NumberReading(NamedTuple):
    """A number, and the codes that what stands beside it may be: of a currency, a percentage or a unit."""

    number: Number
    unit: str = ""  # codes in order, with blanks between them


def units_differ(one: str, other: str) -> bool:
    """Whether both name a unit, and no code that the one may be is one of the other: `$` may be `USD`."""
    return bool(one and other and one != other) and {*one.split()}.isdisjoint(other.split())


def read_number(text: str, decimal: str | None = None) -> NumberReading | None:
    """The number that a text is, where there is one reading: `1,240.00`, `$ 12`, `(45.00)`, `12 %`, `1.5 million`."""
    readings = number_readings(text, decimal)
    return readings[0] if len(readings) == 1 else None


def number_readings(text: str, decimal: str | None = None) -> list[NumberReading]:
    """Every number that a text is after normalization.

    One mark before exactly three digits may be a decimal mark or not, unless `decimal` says it; `5 m` may be metres or
    millions. A text with two signs, or with two currencies, is not a number.
    """
    text = normalize(text)
    match = _NUMBER.fullmatch(text) if len(text) <= _LONGEST_NUMBER else None
    if match is None:
        return []
    signs = match["before"] + match["between"]
    if len(signs) > 1 or signs.count("(") != len(match["inner"] + match["outer"]):
        return []
    sign = "-" if signs in ("-", "(") else ""
    units = _unit_readings(match["unit"], _CURRENCIES.get(match["name"] or "", frozenset()))
    numbers = _plain_digits(match["digits"], decimal)
    readings = [NumberReading(_exact(sign + digits, tens), unit) for digits in numbers for tens, unit in units]
    return [*dict.fromkeys(readings)]  # 0.000 is 0


@lru_cache(maxsize=4_096)
def _unit_readings(text: str, currency: frozenset[str]) -> list[tuple[int, str]]:
    """What follows a number: by which power of ten it is multiplied, and its unit."""
    readings = []
    for word, tens in (("", 0), *_SCALES.items()):
        rest = text.removeprefix(word)
        unit = _UNITS.get(rest) if rest else currency
        is_letter = 0 < len(word) <= 2 and word.isascii()
        if not text.startswith(word) or unit is None or (is_letter and rest and rest not in _CURRENCIES):
            continue  # kg are no thousand grams
        if rest and currency:
            unit &= currency
        if unit or not (rest and currency):
            readings.append((tens, " ".join(sorted(unit))))
    return readings


def _exact(digits: str, tens: int) -> Number:
    """A number from digits with at most a point: multiplying decimals would round."""
    return int(digits) * 10**tens if "." not in digits and tens >= 0 else Decimal(f"{digits}e{tens}")


def _plain_digits(digits: str, decimal: str | None = None) -> list[str]:
    """Digits with at most one point, from digits with marks, in every reading: `1,240` is 1240 and 1.240."""
    if digits.isdigit():
        return [digits]
    if decimal is None and _TWO_WAYS.fullmatch(digits):
        return [digits.replace(",", "."), digits.replace(",", "").replace(".", "")]
    readings = []
    for mark in decimal or ".,":
        head, _, tail = digits.partition(mark)
        groups = head.split("'" if "'" in digits else _OTHER_MARK[mark])  # 1'240.50
        is_even = len(groups) == 1 or (1 <= len(groups[0]) <= 3 and all(len(group) == 3 for group in groups[1:]))
        plain = "".join(groups)
        if is_even and (plain + tail).isdigit():
            readings.append(plain + (f".{tail}" if tail else ""))
    return [*dict.fromkeys(readings)]


def value_keys(value: Any, formats: tuple[str, ...] = ()) -> frozenset[object]:
    """What a value is looked for by in a text: the numbers that it may be, without their signs, and the dates."""
    number = number_of(value)
    numbers, dates = [] if number is None else [number], frozenset[DateReading]()
    if isinstance(value, str) and len(text := normalize(value)) <= _LONGEST_NUMBER and _DIGIT.search(text):
        numbers = [reading.number for reading in number_readings(text)]
        if (match := _WITH_EXPONENT.fullmatch(text)) and match["digits"]:
            numbers.append(_exact(match["digits"], int(match["tens"])))
        dates = date_readings(value, formats) if formats or not numbers else dates
    return frozenset([*map(_size_key, numbers), *(part for reading in dates for part in reading if part)])


def _size_key(number: Number) -> NumberKey:
    return number_key(magnitude(number))


def key_places(text: str, formats: tuple[str, ...] = ()) -> Iterator[tuple[object, tuple[int, int]]]:
    """The keys of all numbers and dates in a text, in every reading, and where each begins and ends.

    Beside the readings of `number_readings` these are numbers with exponents, those of lists without blanks, the number
    that a percentage is, and the month and the year of a day.
    """
    text = text.translate({ord(character): _FOLDED[character] for character in set(text)})
    for match in _NUMBER_IN_TEXT.finditer(text):
        digits, exponent, power, word = match.groups()
        scales = [-2] if word in _PERCENT else [tens for tens, _ in _unit_readings(word or "", frozenset())]
        tens = int(exponent or power or max(scales, default=0))
        for key in _keys_of_digits(digits, tens, "," in digits and _in_list(digits, text, match.start())):
            yield key, match.span()
    for pattern in _date_patterns(formats):
        for match in pattern.finditer(text):
            for written, time in date_readings(match[0], formats):
                yield from ((part, match.span()) for part in (*(written[:size] for size in (1, 2, 3)), time))


# Characters as they are compared, for texts in which a place has to stay where it is.
_FOLDED: Final = CharacterMemo(
    lambda each: form if len(form := normalize(each)) == 1 else " " if each.isspace() else each
)
_DIGIT = re.compile("[0-9]")
_NUMBER_IN_TEXT = re.compile(
    r"(?P<digits>[0-9]{1,3}(?: [0-9]{3}){1,6}(?![0-9])(?:[.,][0-9]+)?|[.,]?[0-9](?:[0-9.,']*[0-9])?)"
    r"(?=(?:e(?P<exponent>[-+]?[0-9]{1,3})(?![0-9])|\s?[x*×]\s?10(?:\^|\*\*)?(?P<power>[-+]?[0-9]{1,3})(?![0-9])"
    r"|[\s-]?(?P<word>[a-z]{1,14}(?![a-z])|[%百千万萬亿億兆]))?)"
)
_PERCENT = frozenset({"%", "percent", "pct"})
_LIST_START = 40  # characters before a number in which the bracket of its list is looked for
_GROUPED = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?")


def _in_list(digits: str, text: str, start: int) -> bool:
    """Whether digits with commas may be a list: `22,33` and `[22,333]` may, `1,240` is one number."""
    before = text[max(start - _LIST_START, 0) : start].rstrip("0123456789.,;+- ")[-1:]
    return not _GROUPED.fullmatch(digits) or before in ("[", "{", "(")


@lru_cache(maxsize=1_024)
def _keys_of_digits(digits: str, tens: int, is_listed: bool) -> frozenset[NumberKey]:
    numbers = [*_digits_in(digits, is_listed=is_listed)]
    return frozenset(_size_key(_exact(each, by)) for each in numbers for by in (0, tens))


def _digits_in(text: str, *, is_listed: bool) -> Iterator[str]:
    """The numbers that digits with marks or blanks can be: one, or several in a list."""
    words = text.split(" ")
    for word in {"".join(words), *words}:
        plain = _plain_digits(word) if len(word) <= _LONGEST_NUMBER else []
        yield from plain
        for piece in word.split(",") if is_listed or not plain else ():
            numbers = _plain_digits(piece) if len(piece) <= _LONGEST_NUMBER else []
            yield from numbers or (digits for digits in re.findall("[0-9]+", piece) if len(digits) <= _LONGEST_NUMBER)
        if word[0] in ".,":
            yield from _digits_in(word[1:], is_listed=is_listed)


_MONTHS = "january february march april may june july august september october november december".split()
_NUMBERS = {name[:length]: number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_NAME = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_ISO = re.compile(r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?")
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[t\s]?([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?(?:z|[+-][0-9]{2}:?[0-9]{2})?)"
)
_GAP = r"[\s.,/-]{0,4}"
_NAMED = (
    re.compile(rf"{_DAY}{_GAP}(?:of{_GAP})?(?P<name>{_NAME}){_GAP}(?P<year>[0-9]{{4}})"),
    re.compile(rf"(?P<name>{_NAME}){_GAP}(?P<year>[0-9]{{4}})(?P<day>)"),
    re.compile(rf"(?P<name>{_NAME}){_GAP}{_DAY}{_GAP}(?P<year>[0-9]{{4}})"),
)
_NUMERIC = re.compile(
    r"[0-9]{4}([-/.])[0-9]{1,2}\1[0-9]{1,2}|[0-9]{1,2}([-/.])[0-9]{1,2}\2(?:[0-9]{4}|[0-9]{2})"
    r"|[0-9]{4}年[0-9]{1,2}月(?:[0-9]{1,2}日)?"
)
_LONGEST_DATE = 60  # characters of a text that may be a date
_DIRECTIVES = {
    "%d": "[0-9]{1,2}", "%m": "[0-9]{1,2}", "%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%H": "[0-9]{1,2}",
    "%M": "[0-9]{1,2}", "%S": "[0-9]{1,2}", "%b": "[a-z]{3}", "%B": "[a-z]+", "%p": "[ap]m",
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
        try:
            return _time_reading(datetime.fromisoformat("T".join(match.groups()).upper()))
        except ValueError:
            return None
    for month_pattern in _NAMED:
        if match := month_pattern.fullmatch(text):
            month = _NUMBERS[match["name"]]
            return _reading(match["year"], str(month), match["day"] or None)
    return None


@lru_cache(maxsize=4_096)
def date_readings(text: str, formats: tuple[str, ...] = ()) -> frozenset[DateReading]:
    """Every date that a text is: `03/04/2026` is in March or in April. A format that fits decides."""
    if reading := read_date(text, formats):
        return frozenset({reading})
    text = normalize(text)
    if len(text) > _LONGEST_DATE or _NUMERIC.fullmatch(text) is None:
        return frozenset()
    first, month, *rest = re.findall("[0-9]+", text)
    if len(first) == 4:
        return frozenset(filter(None, [_reading(first, month, *(rest or [None]))]))
    year = rest[0] if len(rest[0]) == 4 else f"{19 + (rest[0] < '69')}{rest[0]}"  # as %y has it
    return frozenset(filter(None, [_reading(year, month, first), _reading(year, first, month)]))


def fitting_formats(text: str, other: str) -> list[str]:
    """The formats in which a text of digits is the date that another text is."""
    day = read_date(other)
    if day is None or day not in date_readings(text):
        return []
    return [name for name in DATE_FORMATS if name[2] in text and read_date(text, (name,)) == day]


DATE_FORMATS = [
    mark.join(order)
    for mark in "/.-"
    for order in (["%d", "%m", "%Y"], ["%m", "%d", "%Y"], ["%d", "%m", "%y"], ["%m", "%d", "%y"], ["%Y", "%m", "%d"])
]


@lru_cache
def _date_patterns(formats: tuple[str, ...]) -> list[re.Pattern[str]]:
    """What finds dates in a text, and no part of a longer number or word."""
    sources = [pattern.pattern for pattern in (_ISO, _TIME, *_NAMED, _NUMERIC)]
    for source in map(re.escape, formats):
        for directive, digits in _DIRECTIVES.items():
            source = source.replace(re.escape(directive), digits)
        sources += [] if "%" in source else [source.lower()]
    return [re.compile(rf"(?<![0-9])(?:(?=[0-9])|(?<![a-z]))(?:{source})(?![0-9])") for source in sources]


def _reading(year: str, month: str | None, day: str | None) -> DateReading | None:
    written = tuple(int(part) for part in (year, month, day) if part is not None)
    try:
        date(*(*written, 1, 1)[:3])
    except ValueError:
        return None
    return DateReading(written)


def _time_reading(moment: datetime) -> DateReading | None:
    written = (moment.year, moment.month, moment.day)
    try:
        universal = moment.astimezone(UTC) if moment.tzinfo is not None else moment
    except OverflowError:
        return None
    return DateReading(written, universal.isoformat())
