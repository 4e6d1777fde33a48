"""Numbers and dates by what they are worth."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.suites.extraction.events.relaxed_rule import relaxed_rule
from goldgate.suites.extraction.papers.chinese_number import chinese_number
from goldgate.suites.extraction.papers.dates import Date
from goldgate.suites.extraction.papers.quantities import Quantity
from goldgate.suites.extraction.papers.value_rule import agree, fits, read_text
from goldgate.suites.extraction.settings import RelaxedSettings

from .made import event, judge, triple

RULE = relaxed_rule(RelaxedSettings())


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("5%", "5 %"),
        ("5%", "百分之五"),
        ("5%", "５．０％"),
        ("0.5%", "5‰"),
        ("1,200万元", "12 million"),
        ("1,200万元", "人民币12,000,000元"),
        ("1,200万元", "一千二百万元"),
        ("1亿2000万元", "1.2亿元"),
        ("$1.2m", "1.2 million US dollars"),
        ("3,000股", "3000 shares"),
        ("约5%", "5%"),
        ("2023年3月12日", "2023-03-12"),
        ("2023年3月12日", "二〇二三年三月十二日"),
        ("2023/3/12", "March 12, 2023"),
        ("12th of March 2023", "Mar. 12, 2023"),
        ("3月12日", "2023-03-12"),  # what both state is the same
        ("2023", "2023年"),
        ("Acme", "Acme Inc."),  # no numbers: the relaxed rule
        ("5% of Acme", "5 percent of Acme Inc"),
    ],
)
def test_the_same(one: str, two: str) -> None:
    assert fits(read_text(one), read_text(two), RULE)
    assert fits(read_text(two), read_text(one), RULE)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("5%", "6%"),
        ("5%", "15%"),  # although one contains the other
        ("5%", "5个百分点"),
        ("5", "5%"),
        ("1,200万元", "1,200万股"),
        ("1,200万元", "1,200万美元"),
        ("12 million", "12 billion"),
        ("-5%", "5%"),
        ("2023年3月12日", "2023年3月13日"),
        ("2023-03-12", "2022-03-12"),
        ("2023年3月", "2023年4月1日"),
        ("5%-6%", "5%"),
        ("5% of Acme", "5% of Zorro"),
        ("Acme", "Zorro"),
        ("3年", "3个月"),
    ],
)
def test_not_the_same(one: str, two: str) -> None:
    assert not fits(read_text(one), read_text(two), RULE)
    assert not fits(read_text(two), read_text(one), RULE)


@pytest.mark.parametrize(
    ("text", "values", "rest"),
    [
        ("三一重工", (), "三一重工"),  # characters for numbers in a name
        ("百度", (), "百度"),
        ("十二人", (Quantity(Fraction(12), "people"),), ""),
        ("下降3.5%", (Quantity(Fraction(7, 2), "%"),), "下降"),
        ("5m", (Quantity(Fraction(5), None),), "m"),
        (
            "2023年13月",
            (Quantity(Fraction(2023), None), Quantity(Fraction(13), None)),
            "年月",
        ),  # there is no such month
        ("2023年5月", (Date(2023, 5, None),), ""),
        ("5.2元/股", (Quantity(Fraction(26, 5), "cny"),), "股"),
        ("9" * 70, (), "9" * 70),
    ],
)
def test_what_is_read(text: str, values: tuple[object, ...], rest: str) -> None:
    found = read_text(text)
    assert (found.values, found.rest) == (values, rest)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", 10),
        ("二十", 20),
        ("一百零五", 105),
        ("三亿五千万", 350_000_000),
        ("一万亿", 10**12),
        ("二〇二三", 2023),
        ("三点五", Fraction(7, 2)),
        ("百万", None),
        ("三点", None),
        ("", None),
    ],
)
def test_chinese_number(text: str, value: int | None) -> None:
    assert chinese_number(text) == value


def test_worked_by_hand() -> None:
    gold = [event("Deal", ("Price", "1,200万元"), ("Share", "5%"), ("Date", "2023年3月12日"), ("Buyer", "Acme"))]
    said = [event("Deal", ("Price", "12 million"), ("Share", "6%"), ("Date", "2023-03-12"), ("Buyer", "Acme Inc"))]
    found = judge("values", gold, said)
    assert triple(found, "strict")[0] == 0
    assert triple(found, "values") == (3, 4, 4)  # all but the share
    assert triple(found, "relaxed")[0] == 2  # the date by its characters, and the buyer; the share has % only


def test_matching_is_one_to_one_and_the_largest() -> None:
    gold = [event("T", ("A", "5%"), ("A", "5% of Acme"))]
    # Both fit "5%" alone, which therefore goes to the one that fits nothing else.
    said = [event("T", ("A", "5% of Acme Inc"), ("A", "百分之五 of Zorro"))]
    assert triple(judge("values", gold, said), "values") == (2, 2, 2)


@given(st.text(alphabet="0123456789,.%-+$¥ 年月日号万亿千百十一二三〇点元股百分之mk/marchmay", max_size=40))
def test_any_text_can_be_read_and_is_the_same_as_itself(text: str) -> None:
    found = read_text(text)
    assert fits(found, found, RULE)
    assert all(agree(value, value) for value in found.values)
