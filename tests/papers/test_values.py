"""Numbers and dates by what they are worth."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from goldgate.suites.extraction.events.relaxed_matching import RelaxedRule
from goldgate.suites.extraction.papers.numbers_and_dates import Date, Quantity
from goldgate.suites.extraction.papers.value_matching import arguments_fit, read_argument, same_value
from goldgate.suites.extraction.settings import RelaxedSettings
from tests.cases import cases

from .made import event, judge, triple

RULE = RelaxedRule(RelaxedSettings())


@cases(
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
        ("5‰", "千分之五"),
        ("万分之五", "0.05%"),
        ("50个基点", "0.5个百分点"),
        ("-5%", "负5%"),
        ("净利润-5%", "－5%"),
        (".5%", "0.5%"),
        ("5%-6%", "5-6%"),  # the unit of a range stands behind it
        ("5% - 6%", "5%至6%"),
        ("10-20万元", "10万元-20万元"),
        ("5000-1万元", "5000元-1万元"),
        ("$10-20 million", "$10 million to $20 million"),
        ("1200 万元", "0.12亿元"),
        ("一百万", "1 million"),
        ("壹仟贰佰万元整", "1200万元"),
        ("港币500万元", "HK$5 million"),
        ("三个月", "3 months"),
        ("5公里", "5 km"),
        ("第三届", "第3届"),
        ("2023Q3", "2023年第三季度"),
        ("20230312", "2023年3月12日"),
        ("23年3月12日", "2023-03-12"),
        ("2023-03", "2023年3月"),
        ("covid-19", "covid 19"),
    ],
)
def test_the_same(one: str, two: str) -> None:
    assert arguments_fit(read_argument(one), read_argument(two), RULE)
    assert arguments_fit(read_argument(two), read_argument(one), RULE)


@cases(
    ("one", "two"),
    [
        ("500万股", "万股"),  # one states a number, the other none
        ("5%", "%"),
        ("2023年3月12日", "年月日"),
        ("约5%的股份", "的股份"),
        ("covid-19", "covid"),
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
        (".5%", "5%"),
        ("5%", "5‰"),
        ("5%", "负5%"),
        ("净利润-5%", "净利润5%"),
        ("50个基点", "50个百分点"),
        ("5%-6%", "5%-7%"),
        ("10-20万元", "10-20元"),
        ("港币500万元", "500万元"),
        ("A$5 million", "$5 million"),
        ("100加元", "100元"),
        ("1.2亿", "1.2万"),
        ("1亿2000万", "1亿3000万"),
        ("三个月", "四个月"),
        ("三天", "三年"),
        ("12岁", "12人"),
        ("第三季度", "第四季度"),
        ("2023年上半年", "2023年下半年"),
        ("第三届", "第四届"),
        ("20230312", "2023-04-12"),
        ("20230312股", "2023-03-12"),
        ("2023-03", "2023年4月"),
        ("2020-2023年", "2021-2023年"),
    ],
)
def test_not_the_same(one: str, two: str) -> None:
    assert not arguments_fit(read_argument(one), read_argument(two), RULE)
    assert not arguments_fit(read_argument(two), read_argument(one), RULE)


@cases(
    ("text", "values", "rest"),
    [
        ("三一重工", (), "三一重工"),  # characters for numbers in a name
        ("百度", (), "百度"),
        ("十二人", (Quantity(Fraction(12), "people"),), ""),
        ("下降3.5%", (Quantity(Fraction(7, 2), "%"),), "下降"),
        ("5m", (Quantity(Fraction(5), None),), "m"),
        (
            "2023年13月",
            (Quantity(Fraction(2023), "years"), Quantity(Fraction(13), None)),
            "月",
        ),  # there is no such month
        ("2023年5月", (Date(2023, 5, None),), ""),
        ("三元股份", (Quantity(Fraction(3), "cny"),), "股份"),
        ("第一财经", (Quantity(Fraction(1), "place in a row"),), "财经"),
        ("千万", (), "千万"),  # nobody says how many
        ("10-20万元", (Quantity(Fraction(100_000), "cny"), Quantity(Fraction(200_000), "cny")), ""),
        ("5.2元/股", (Quantity(Fraction(26, 5), "cny"),), "股"),
        ("9" * 60, (Quantity(Fraction("9" * 60), None),), ""),
        ("9" * 61, (), "9" * 61),  # longer than any quantity
        ("一" * 60 + "元", (Quantity(Fraction("1" * 60), "cny"),), ""),
        ("一" * 61 + "元", (), "一" * 61 + "元"),
    ],
)
def test_what_is_read(text: str, values: tuple[object, ...], rest: str) -> None:
    found = read_argument(text)
    assert (found.values, found.rest) == (values, rest)


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


MARKS = "0123456789,.%-+$¥ 年月日号万亿千百十一二三〇点元股百分之mk/marchmay负第季度半至~q壹仟"


@given(st.text(alphabet=MARKS, max_size=40))
def test_any_text_can_be_read_and_is_the_same_as_itself(text: str) -> None:
    found = read_argument(text)
    assert arguments_fit(found, found, RULE)
    assert all(same_value(value, value) for value in found.values)


WORDS = "5% 6% 5 5元 5美元 5个百分点 2023年 2023 2023-03-12 3月12日 3月 第三届 Q3 股份 的股份 acme a ab b".split()
WRITTEN = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join),
    min_size=1,
    max_size=8,
)


def test_numbers_are_looked_for_in_the_beginning_of_a_long_argument() -> None:
    assert read_argument("x " * 600 + "5 million").values == ()
    (five,) = read_argument("5" + " \u200b" * 100_000 + "million" + " x" * 600).values
    assert five == Quantity(Fraction(5_000_000), None)
    piled = "a" + "\u0301\u0316" * 100_000  # sorting these marks in place takes minutes
    assert read_argument(piled).values == ()
