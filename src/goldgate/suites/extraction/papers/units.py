"""Units that numbers are of, and the words for them."""

from __future__ import annotations

from fractions import Fraction

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
