"""Which values a source text supports: spellings of numbers and dates, distinct values, and what is no value."""

from __future__ import annotations

from datetime import date
from time import process_time
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldgate.suites.fields.scorer import document_record
from tests.cases import cases
from tests.examples import examples

from .helpers import NUMBER, TEXT, array, fraction, metrics_of, obj, score

QUICK = examples(400)
DATE = {"type": "string", "format": "date"}

# text, value, whether the text supports it
CASES: list[tuple[str, Any, bool]] = [
    ("due on 2026-10-19", "19/10/2026", True),
    ("due on 2026-10-19", "10/19/2026", True),
    ("due on 2026-10-19", "19.10.26", True),
    ("due on 2026-10-19", "19 October 2026", True),
    ("due on 2026-10-19", "20/10/2026", False),
    ("due on 2026-04-03", "03/04/2026", True),  # two readings: either will do
    ("due on 2026-03-04", "03/04/2026", True),
    ("due on 2026-03-04", "03/05/2026", False),
    ("due on 03/04/26", "2026-04-03", True),
    ("due on 03/04/26", "2026-03-04", True),
    ("due on 19-Oct-2026", "2026-10-19", True),
    ("2026年10月19日", "2026-10-19", True),
    ("due on 15 March 2026", "2026-03-05", False),  # not the end of another date
    ("dismay 2023", "2023-05", False),
    ("(May 2023)", "2023-05", True),
    ("40\nMay 2023", "2023-05", True),  # 40 is another column
    ("at 2026-10-19T22:00:00Z", "2026-10-20T00:00:00+02:00", True),
    ("costs 1.5 million", 1500000, True),
    ("costs 1.5 million", 1.5, True),
    ("costs 1500000", "1.5 million", True),
    ("costs $1.5m", 1500000, True),
    ("costs 5kEUR", "5000", True),
    ("3万元", 30000, True),
    ("take 1000 mg", "1,000", True),
    ("take 1,000", "1000 mg", True),
    ("take 1,000", 1, True),  # 1.000 is a reading too
    ("1 240 000,50 EUR", 1240000.5, True),
    ("(33.4 kg)", 33.4, True),
    ("(May 2023)", 2023, True),
    ("[22,33]", 33, True),
    ("[22,33]", 22, True),
    ("[-22,33]", 33, True),
    ("1,2,3", 2, True),
    ("(1,240)", 240, True),  # a list too: (100,200) is a point or a range
    ("(1,240)", 1240, True),
    ("22,33", 33, True),
    ("22，33", 22, True),
    ("[22, 33,44]", 44, True),
    ("[100, 200,300]", 200, True),
    ("[22,333]", 333, True),
    ("1,2,3,4", 4, True),
    ("5,10%", 0.05, True),
    ("[1e3,2e3]", 2000, True),
    ("1.2*10**5", 120000, True),
    ("1,234", 1234, True),
    ("1,234", 234, False),
    ("sold 12, 1,234 kg", 234, False),
    ("22,33", 2, False),
    ("1,240,500", 240, False),
    ("05.03.2024", 2024, True),
    ("1.5e6 cells", 1500000, True),
    ("1.5 x 10^6 cells", 1500000, True),
    ("2 x 1024", 1024, True),
    ("(45.00)", 45, True),
    ("(45.00)", -45, True),
    ("5%", 0.05, True),
    ("5%", 5, True),
    ("0.05", "5 %", False),
    ("１２ kg", 12, True),
    ("7 apples", "7 pears", False),
    ("A4", 5, False),
    ("-$-5", "5", True),
]  # fmt: skip


@cases(("text", "value", "supported"), CASES)
def test_texts_support_values_in_any_spelling(text: str, value: Any, supported: bool) -> None:
    for schema in (TEXT, NUMBER, DATE):
        facts = score({"v": value}, {"v": value}, obj(v=schema), text=f"It says {text}, and no more.")
        assert (not facts.unsupported) is supported, schema


def hallucination(answer: Any, schema: Any, text: str) -> tuple[int, int]:
    return fraction(metrics_of(score(answer, answer, schema, text=text)), "hallucination_entity_rate")


def test_copies_of_a_value_are_checked_once_at_each_path() -> None:
    schema = obj(vendor=TEXT, buyer=TEXT, tags=array(TEXT), sums=array(NUMBER))
    text = "Acme sells to Bolt for 5.00 on 5 March 2024."
    honest = {"vendor": "Acme", "buyer": "Bob", "tags": ["Bolt"], "sums": [5]}
    assert hallucination(honest, schema, text) == (1, 4)
    copies = {"tags": ["Bolt", "bolt ", "ＢＯＬＴ"] * 400, "sums": [5, 5.0, "5.00", "5e0", "5 kg", "-5", "$5"] * 400}
    assert hallucination(honest | copies, schema, text) == (1, 4)
    undeclared = {f"x{number}": "Acme" for number in range(400)}  # they share a row: 1 more
    assert hallucination(honest | undeclared, schema, text) == (1, 5)
    dates = {"tags": ["2024-03-05", "5 March 2024", "Mar 5, 2024"] * 9}
    assert hallucination(honest | dates, schema, text) == (1, 4)
    wrong = {"tags": ["made up", "Made Up"] * 9}
    assert hallucination(honest | wrong, schema, text) == (2, 4)


def test_an_unsupported_value_is_listed_once_in_the_record() -> None:
    facts = score({}, {"tags": ["made up"] * 5 + ["Acme"]}, obj(tags=array(TEXT)), text="Acme")
    assert document_record(facts)["unsupported"] == [{"path": "tags[]", "value": "made up"}]
    assert len(facts.unsupported) == 5  # each is an error of its own


def test_blank_and_invisible_texts_are_absent() -> None:
    invisible = ["\u200b", " \u200b\u00ad", "\u200e", "\u2800", "\u3164", "\ufe0f", "\u0000", "\u2028", "\U000e0041"]
    for value in (*invisible, "".join(invisible)):
        facts = score({"v": value}, {"v": value}, obj(v=TEXT), text="text")
        assert (facts.gold.leaves, facts.predicted.leaves) == ([], []), ascii(value)
    for value in ("-", "0", "。", "x\u200b", "😀", "\u0301"):
        assert len(score({"v": value}, {}, obj(v=TEXT)).gold.leaves) == 1, ascii(value)


def number_spellings(number: int, cents: int) -> list[str]:
    """Ways to write a number with two decimals, and as millions."""
    plain, grouped = f"{number}.{cents:02}", f"{number:,}.{cents:02}"
    swapped = grouped.translate(str.maketrans(",.", ".,"))
    spaced, quoted = grouped.replace(",", " "), grouped.replace(",", "'")
    numbers = [plain, grouped, swapped, spaced, quoted]
    numbers += [f"{number},{cents:02}", f"{number:,}", f"{number}"]
    millions = [f"{number / 10**6:f} million", f"${number / 10**6:f}m", f"{number / 10**3:f} thousand EUR"]
    beside = ["{}", "$ {}", "{} EUR", "€{}", "{} kg", "-{}", "({})", "USD {}", "{} %", "{} Mio. €"]
    return [pattern.format(each) for each in numbers for pattern in beside] + millions


def date_spellings(day: date) -> list[str]:
    formats = (
        "%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%d %b. %Y", "%d-%b-%Y", "%dth of %B %Y", "%Y-%m", "%B %Y", "%Y",
        "%Y-%m-%dT10:00:00", "%Y-%m-%d 10:00", "%Y-%m-%dT10:00:00Z", "%Y-%m-%dT12:00:00+02:00", "%d/%m/%Y",
    )  # fmt: skip
    return [day.strftime(pattern) for pattern in formats]


AROUND = st.sampled_from(["{}", "It is {}.", "({})", "[{}]", "a:{};b", "“{}”", "x {}, y", "{}\n1", "= {} ="])
numbers = st.tuples(st.integers(1, 10**8), st.integers(0, 99)).flatmap(
    lambda parts: st.tuples(*[st.sampled_from(number_spellings(*parts))] * 2)
)
dates = st.dates(date(1900, 1, 1), date(2100, 1, 1)).flatmap(
    lambda day: st.tuples(*[st.sampled_from(date_spellings(day))] * 2)
)


@QUICK
@given(numbers | dates, AROUND, st.sampled_from([{}, {"decimal": ","}, {"formats": ["%d/%m/%Y"]}]))
def test_what_is_a_hit_and_stands_in_the_text_is_supported(pair: tuple[str, str], around: str, section: Any) -> None:
    answer, gold = pair
    for name in ("text", "number", "date"):
        settings = {key: value for key, value in section.items() if (key == "decimal") == (name == "number")}
        schema = obj(v={**TEXT, "x-goldgate": {"compare": name, **(settings if name != "text" else {})}})
        facts = score({"v": gold}, {"v": answer}, schema, text=around.format(gold))
        assert not (facts.hits and facts.unsupported), (name, answer, gold)


def test_values_and_texts_that_nearly_have_a_number_cost_linear_time() -> None:
    begin = process_time()
    for near in ("-", "(", "$", "1'", "1,", "us", "january", "1/"):
        values = [f"{near * (380 // len(near))}{number}x" for number in range(1_000)]
        score({}, {"v": values}, obj(v=array({**TEXT, "x-goldgate": {"compare": "number"}})), text=f"{near * 50_000}x1")
    assert process_time() - begin < 8
