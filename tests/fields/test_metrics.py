"""Metrics and error names, worked by hand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from goldgate.core.measure import count_unit
from goldgate.core.metric import Rate
from goldgate.core.sums import RatioSums
from goldgate.stats.interval import metric_with_interval, share_interval
from goldgate.suites.fields.alignment import other_comparators
from goldgate.suites.fields.api import AnswerScorer
from goldgate.suites.fields.measures import FieldRates, ReviewLevels, fields_measures, review_totals
from goldgate.suites.fields.scorer import FieldFacts, FieldsAnswer, GoldDocument, ScoredLeaf
from tests.unit.helpers import count_units

from .helpers import NUMBER, TEXT, array, counts, fraction, metrics_of, obj, score, scorer_for, settings_of, verdicts

ITEM = obj(sku=TEXT, price=NUMBER, tags=array(TEXT))
INVOICE = obj(
    vendor=TEXT,
    buyer=TEXT,
    date={"type": "string", "format": "date"},
    total=NUMBER,
    paid={"type": "boolean"},
    terms={"enum": ["net", "now"]},
    ship=obj(city=TEXT),
    items=array(ITEM),
)


def test_leaves_are_counted_once_and_divided_once() -> None:
    one = score({"vendor": "a", "buyer": "b"}, {"vendor": "a"}, INVOICE)
    other = score({"vendor": "a"}, {"vendor": "x", "buyer": "b", "total": 3}, INVOICE)
    metrics = metrics_of(one, other)
    assert fraction(metrics, "field_precision") == (1, 4)
    assert fraction(metrics, "field_recall") == (1, 3)
    assert fraction(metrics, "field_f1") == (2, 7)


def test_numbers_of_paths_add_up_and_undeclared_keys_share_a_row() -> None:
    gold = {"vendor": "a", "items": [{"sku": "1", "price": 5}]}
    facts = score(gold, {"vendor": "b", "one": 1, "two": [2], "items": [{"sku": "1", "price": 5}]}, INVOICE)
    tally = count_units([FieldRates()], [facts])
    rows = {key[1]: FieldRates().metrics_of(tally, key) for key in tally.tables if len(key) == 2}
    assert sorted(rows) == ["(undeclared)", "items[].price", "items[].sku", "vendor"]
    for name, whole in FieldRates().metrics(tally).items():
        parts = [fraction(metrics, name) for metrics in rows.values()]
        assert fraction({name: whole}, name) == tuple(map(sum, zip(*parts, strict=True))), name


def test_documents_are_exact_only_if_they_were_read() -> None:
    facts = [
        score({"vendor": "a"}, {"vendor": "A "}, INVOICE),
        score({"vendor": None}, "I cannot tell.", INVOICE),
        score({"vendor": None}, {}, INVOICE),
        score({"vendor": "a"}, {"vendor": "a", "buyer": "b"}, INVOICE),
        score({"vendor": None}, None, INVOICE),
    ]
    assert fraction(metrics_of(*facts), "document_exact_rate") == (2, 5)


def test_items_are_right_as_a_whole() -> None:
    gold = {"items": [{"sku": "1", "price": 5, "tags": ["x"]}, {"sku": "2", "price": 6}]}
    answer = {"items": [{"sku": "2", "price": 6}, {"sku": "1", "price": 5, "tags": ["y"]}, {"sku": "9"}]}
    metrics = metrics_of(score(gold, answer, INVOICE))
    assert fraction(metrics, "item_precision") == (1, 3)
    assert fraction(metrics, "item_recall") == (1, 2)


def test_absent_accuracy_counts_scalar_paths_outside_lists() -> None:
    # vendor, buyer, date, total, paid, terms, ship.city: gold has vendor
    right = score({"vendor": "a"}, {"vendor": "b", "ship": {"city": "c"}}, INVOICE)
    assert right.absent == (5, 6)
    assert score({"vendor": "a"}, "nothing here", INVOICE).absent == (0, 6)
    below = {"vendor": "a", "buyer": {"text": "made up"}, "date": {"v": [["made up"]]}, "total": [{"x": 1}, {"y": 2}]}
    assert score({"vendor": "a"}, below, INVOICE).absent == (3, 6)  # a path is present if a leaf is at or below it
    assert score({"vendor": "a"}, {"vendor": "a"}).absent == (0, 0)  # no schema was given
    assert score({"vendor": "a"}, {"total": {"sum": 3}}, INVOICE).absent == (5, 6)  # there is something at `total`
    assert score({}, {}, INVOICE, paths={"ship": {"compare": "ignore"}}).absent == (6, 6)
    for made_up in ("Bergen", ["Bergen"], [["Bergen"]], 5, True):  # a value in place of the object that gold leaves out
        assert score({"vendor": "a"}, {"ship": made_up}, INVOICE).absent == (5, 6), made_up
    for nothing in ("", [], [" "], {}, None, {"town": "Bergen"}):
        assert score({"vendor": "a"}, {"ship": nothing}, INVOICE).absent == (6, 6), nothing
    assert score({"vendor": "a"}, '"Bergen"', INVOICE).absent == (0, 6)


def test_a_missing_answer_and_one_that_cannot_be_read_cost_recall() -> None:
    facts = [score({"vendor": "a"}, answer, INVOICE) for answer in (None, "none", '{"vendor": "a"')]
    metrics = metrics_of(*facts)
    assert fraction(metrics, "field_recall") == (1, 3)
    names = ("missing_predictions", "parse_errors", "parse_repair_success")
    assert [metrics[name].value for name in names] == [1, 2, 1]


def test_schema_compliance_is_of_the_value_as_it_was_read() -> None:
    answers: list[tuple[Any, bool]] = [
        ({"total": 5}, True), ({"total": "5"}, False), ({"total": [5]}, False), ("none", False), (None, False),
        ('{"total": 5,}', True), ("{total: 5.50}", True), ('{"total": 12345678901234567890123,}', True),
        ('{"total": "5",}', False), ("{total: five}", False), ('{"total": [5],}', False),
    ]  # fmt: skip
    for answer, valid in answers:
        assert score({"total": 5}, answer, INVOICE).compliant is valid, answer
    derived = score({"total": 5}, {"total": 5})
    assert derived.compliant is None
    names = ("schema_compliance_rate", "absent_accuracy")
    assert [metrics_of(derived)[name].reason for name in names] == ["no schema was given"] * 2
    whole = score({"total": 5}, {"total": 5}, obj(total=NUMBER))
    assert metrics_of(whole)["absent_accuracy"].reason == "gold leaves no scalar path of the schema absent"


def test_values_that_the_text_does_not_have() -> None:
    text = "Invoice of ACME Corp., 5 March 2024. Total: $1,240.00, 3 pieces."
    answer = {"vendor": "acme corp", "buyer": "Bob", "date": "2024-03-05", "total": 1240, "paid": True, "terms": "net",
              "items": [{"price": 40}, {"price": 3}]}  # fmt: skip
    facts = score(answer, answer, INVOICE, text=text)
    unsupported = {leaf.shape.name for leaf in facts.predicted.leaves if id(leaf) in facts.unsupported}
    assert unsupported == {"buyer", "items[].price"}
    metrics = metrics_of(facts, score(answer, answer, INVOICE))
    assert fraction(metrics, "hallucination_entity_rate") == (2, 6)
    assert fraction(metrics, "hallucination_rate") == (1, 1)
    assert metrics["hallucination_unchecked"].value == 1


ERRORS: list[tuple[Any, Any, str, dict[str, int], dict[str, int]]] = [
    ({"vendor": "acme"}, {"vendor": "bolt"}, "", {"wrong": 1}, {"wrong": 1}),
    ({"vendor": "acme"}, {"buyer": "acme"}, "", {"misplaced": 1}, {"misplaced": 1}),
    ({"total": 7}, {"items": [{"price": 7}]}, "", {"missing": 1}, {"spurious": 1}),
    ({"total": 700}, {"items": [{"price": 700}]}, "", {"misplaced": 1}, {"misplaced": 1}),
    ({"terms": "net"}, {"vendor": "net"}, "", {"missing": 1}, {"spurious": 1}),
    ({"vendor": "acme"}, {"vendor": "acme", "buyer": "bolt"}, "only acme", {"hit": 1}, {"hit": 1, "hallucinated": 1}),
    ({"vendor": "acme"}, {"vendor": "acme", "buyer": "bolt"}, "acme, bolt", {"hit": 1}, {"hit": 1, "spurious": 1}),
]


def test_errors_have_the_first_name_that_applies() -> None:
    for gold, answer, text, of_gold, of_answer in ERRORS:
        assert verdicts(score(gold, answer, INVOICE, text=text or None)) == (of_gold, of_answer), (gold, answer)


def test_wrong_values_are_told_apart() -> None:
    cases = [
        ({"vendor": "a", "buyer": "b"}, {"vendor": "b", "buyer": "a"}, {"swapped"}),
        ({"total": 1240}, {"total": "1,240"}, {"format"}),
        ({"date": "2024-03-05"}, {"date": "05.03.2024"}, {"other"}),
        ({"vendor": "2024-03-05"}, {"vendor": "March 5, 2024"}, {"format"}),
        ({"total": 12}, {"total": 13}, {"number"}),
        ({"vendor": "ACME Corp"}, {"vendor": "ACME"}, {"part"}),
        ({"vendor": "ACME"}, {"vendor": "Bolt"}, {"other"}),
    ]
    for gold, answer, kinds in cases:
        facts = score(gold, answer, INVOICE)
        assert {leaf.detail for leaf in facts.gold.leaves} == kinds, (gold, answer)


def test_another_comparator_that_would_hit_is_named() -> None:
    facts = score({"vendor": "ACME Corp"}, {"vendor": "The ACME Corp"}, INVOICE)
    assert [*other_comparators(facts.gold.leaves[0])] == ["contains"]
    dates = [
        ("2024-03-05", "05/03/2024", ["format %d/%m/%Y"]),
        ("2024-03-05", "5.3.24", ["format %d.%m.%y"]),
        ("12/31/2024", "2024-12-31", ["format %m/%d/%Y"]),
        ("2024-03-05", "06/03/2024", []),
        ("2024-04-04", "04-04-2024", ["format %d-%m-%Y", "format %m-%d-%Y"]),
    ]
    for gold, answer, formats in dates:
        facts = score({"date": gold}, {"date": answer}, INVOICE)
        assert [each for each in other_comparators(facts.gold.leaves[0]) if each != "fuzzy"] == formats, answer
    texts: list[tuple[str, str, list[str]]] = [
        ("$12", "12 USD", ["number"]),
        ("12 EUR", "12 USD", []),
        ("1,240", "1240", []),
        ("5 Mar 2024", "2024-03-05", ["date"]),
    ]
    for gold, answer, names in texts:
        facts = score({"vendor": gold}, {"vendor": answer}, INVOICE)
        assert [*other_comparators(facts.gold.leaves[0])] == names, (gold, answer)


NEAR: list[tuple[Any, str, str, list[str]]] = [  # schema, gold, answer, comparators that would hit
    # Another date, number or id is never nearly the right one.
    (TEXT, "2024-03-05", "2024-03-06", []),
    (TEXT, "5 March 2024", "5 March 2025", []),
    (TEXT, "March 5, 2024", "May 5, 2024", []),
    (TEXT, "2024-03", "2024-03-05", []),
    (TEXT, "1234567.50", "1234567.51", []),
    (TEXT, "12345678", "12345679", []),
    (TEXT, "INV-2024-0001", "INV-2024-0002", []),
    (TEXT, "INV-2024-0001", "IMV-2024-0001", []),
    (TEXT, "ABCDEFGHIJ", "ABCDEFGHIK", []),
    (TEXT, "ann.miller@example.org", "ann.muller@example.org", []),
    (TEXT, "1,234", "234", []),
    ({**TEXT, "format": "date"}, "2024-03-05", "2024-03-06", []),
    (NUMBER, "123456789", "123456788", []),
    (TEXT, "12 Long Harbour Street", "13 Long Harbour Street", []),
    (TEXT, "12 Long Harbour Street", "12 Long Harbor Street", ["fuzzy"]),
    (TEXT, "Harbour Bank Holding", "Harbor Bank Holding", ["fuzzy"]),
    (TEXT, "南京北方重型机械制造公司", "南京北方重型机器制造公司", ["fuzzy"]),
    (TEXT, "ACME Corp, Inc", "ACME Corp", ["contains"]),
    # A path of texts that are dates: which format reads them.
    (TEXT, "2024-03-05", "05/03/2024", ["format %d/%m/%Y"]),
    (TEXT, "05/31/2024", "31 May 2024", ["format %m/%d/%Y"]),
]


@pytest.mark.parametrize(("schema", "gold", "answer", "names"), NEAR)
def test_near_misses_of_dates_numbers_and_ids_advise_nothing(
    schema: Any, gold: str, answer: str, names: list[str]
) -> None:
    facts = score({"v": gold}, {"v": answer}, obj(v=schema))
    assert [*other_comparators(facts.gold.leaves[0])] == names


def test_keys_that_are_spelled_otherwise_than_the_schema_has_them_are_counted() -> None:
    schema = obj(invoice_no=TEXT, Vendor=TEXT, items=array(obj(unitPrice=NUMBER)), ship=obj(city=TEXT))
    gold = {"invoice_no": "x"}
    answers: list[tuple[Any, dict[str, int]]] = [
        ({"invoiceNo": "x"}, {"invoiceNo for invoice_no": 1}),
        ({"INVOICE-NO": "x", "vendor": "y"}, {"INVOICE-NO for invoice_no": 1, "vendor for Vendor": 1}),
        ({"items": [{"unit_price": 1}, {"unit_price": 2}]}, {"unit_price for unitPrice": 2}),
        ({"Items": [{"unitPrice": 1}, {"unitPrice": 2}]}, {"Items for items": 2}),
        ({"Ship": {"city": "a"}}, {"Ship for ship": 1}),
        ({"invoice_no": "x", "invoiceNo": "x"}, {}),  # one more
        ({"invoice_nr": "x"}, {}),
        ({"other": {"vendor": "x"}}, {}),
        ({"_": "x", "": "y"}, {}),
    ]
    for answer, expected in answers:
        tally = count_units(fields_measures(settings_of({})), [score(gold, answer, schema)])
        names = {name: count for name, count in tally.counts.items() if name.startswith("respelled.")}
        assert names == {f"respelled.{name}": count for name, count in expected.items()}, answer


def confident(level: float, right: bool) -> dict[str, Any]:
    return {"value": "a" if right else "b", "confidence": level}


def test_confidences_are_unwrapped_before_anything_is_compared() -> None:
    gold = {"vendor": "a", "buyer": "a"}
    facts = score(gold, {"vendor": confident(0.93, True), "buyer": confident(0.5, False)}, INVOICE)
    assert (counts(facts), facts.compliant) == ((1, 2, 2), True)
    assert facts.confidences == [ScoredLeaf(9300, True), ScoredLeaf(5000, False)]
    beside = FieldsAnswer(None, {"items": [{"sku": "x"}]}, {"items[0].sku": 0.4})
    scorer = scorer_for(None, INVOICE)
    assert scorer.facts(GoldDocument("d", gold), beside).confidences == [ScoredLeaf(4000, False)]


def test_what_confidences_are_worth() -> None:
    gold = {"vendor": "a", "buyer": "a", "ship": {"city": "a"}}
    answer = {"vendor": confident(0.9, True), "buyer": confident(0.4, False), "ship": {"city": confident(0.4, True)}}
    metrics = metrics_of(score(gold, answer, INVOICE))
    assert fraction(metrics, "confidence_auroc") == (3, 4)  # a hit above, and one as confident as the error
    assert metrics["brier_score"].value == (0.01 + 0.16 + 0.36) / 3
    assert metrics["calibration_error"].value is not None
    assert abs(metrics["calibration_error"].value - (0.1 + 0.2) / 3) < 1e-9
    assert metrics_of(score(gold, gold, INVOICE))["confidence_auroc"].value is None


def review(documents: list[list[ScoredLeaf]]) -> tuple[int, int | None]:
    totals: dict[str, int] = {}
    for scored in documents:
        for name, count in review_totals(scored, len(scored)).items():
            totals[name] = totals.get(name, 0) + count
    return ReviewLevels(totals).straight_through(Decimal("0.01"))


def test_what_needs_no_review_is_found_from_the_top_and_ends_at_the_first_failure() -> None:
    right = ScoredLeaf(9900, True)
    assert review([[right]] * 298) == (0, None)
    many = [[right]] * 2000
    assert review(many) == (2000, 9900)
    low = [[ScoredLeaf(5000, False)]] * 200 + [[ScoredLeaf(4000, True)]] * 50_000
    assert review([*many, *low]) == (2000, 9900)  # though lower down the error rate would be small again
    one_document = [[right] * 2000]
    assert review(one_document) == (0, None)  # one document stands or falls as a whole


def test_sums_of_a_level_are_those_of_all_leaves_from_it_up() -> None:
    documents = [[ScoredLeaf(9, True), ScoredLeaf(5, False)], [ScoredLeaf(9, False)], [ScoredLeaf(5, True)] * 3]
    totals: dict[str, int] = {}
    for scored in documents:
        for name, count in review_totals(scored, len(scored)).items():
            totals[name] = totals.get(name, 0) + count
    levels = ReviewLevels(totals).sums
    whole = levels[9] + levels[5]
    assert (whole.units, whole.a, whole.b, whole.aa, whole.ab, whole.bb) == (3, 2, 6, 2, 3, 14)


def test_leaves_without_a_confidence_need_review_and_leave_the_others_undefined() -> None:
    gold = {"vendor": "a"}
    sure = score(gold, {"vendor": confident(1.0, True)}, INVOICE)
    silent = score(gold, {"vendor": "b"}, INVOICE)
    alone, both = metrics_of(*[sure] * 400), metrics_of(*[sure] * 400, *[silent] * 400)
    assert fraction(alone, "straight_through_rate") == (400, 400)
    assert fraction(both, "straight_through_rate") == (400, 800)
    for name in ("brier_score", "calibration_error", "confidence_auroc"):
        rate = both[name]
        assert isinstance(rate, Rate)
        assert (rate.value, rate.reason) == (None, "400 of 800 predicted leaves have a confidence"), name


def entry(name: str, *documents: FieldFacts, group: str | None = None) -> dict[str, Any]:
    """A metric of some documents as a report has it, with its interval."""
    made = scorer_for(None, INVOICE)
    scorer = AnswerScorer(made.settings, made.schema)
    tally = scorer.tally()
    for facts in documents:
        tally.add(count_unit(scorer.measures, facts, tally), group)
    return dict(metric_with_interval(scorer.metrics(tally)[name], "document"))


def test_rates_of_confidences_have_intervals_over_documents_where_they_are_sums_over_documents() -> None:
    gold = {"vendor": "a", "buyer": "a"}
    sure = score(gold, {"vendor": confident(1.0, True), "buyer": confident(1.0, True)}, INVOICE)
    unsure = score(gold, {"vendor": confident(1.0, True), "buyer": confident(0.2, False)}, INVOICE)
    documents = [sure] * 300 + [unsure] * 100
    # Of 2 leaves, 300 documents have 2 above the threshold of 1.0, and 100 have 1: a and b of a share of leaves.
    straight = entry("straight_through_rate", *documents)
    assert (straight["numerator"], straight["denominator"]) == (700, 800)
    sums = RatioSums(400, 700, 800, 300 * 4 + 100, 300 * 4 + 100 * 2, 400 * 4)
    assert straight["interval"] == share_interval(sums).as_json("document")  # type: ignore[union-attr]
    # The squares of a document are 0 and 0, or 0 and 0.04: 4 / 800.
    brier = entry("brier_score", *documents)
    assert brier["value"] == 4 / 800
    assert 0.003 < brier["interval"]["low"] < 0.005 < brier["interval"]["high"] < 0.007
    for name, word in (("confidence_auroc", "different documents"), ("calibration_error", "not a sum")):
        unknown = entry(name, *documents)
        assert (unknown["value"] is not None, unknown["interval"]) == (True, None), name
        assert word in unknown["interval_reason"], name


def test_an_interval_that_would_not_be_honest_is_null_with_a_reason() -> None:
    sure = score({"vendor": "a"}, {"vendor": confident(0.9, True)}, INVOICE)
    assert "no spread" in entry("brier_score", *[sure] * 400)["interval_reason"]
    assert entry("straight_through_rate", *[sure] * 10)["interval_reason"] == "no threshold is safe"
    assert "group" in entry("straight_through_rate", *[sure] * 400, group="one")["interval_reason"]


def test_what_only_looks_like_a_confidence_is_data() -> None:
    data = {"x": {"value": 1, "confidence": 0.5}}
    for schema in (obj(x={}), obj(x=obj(value=NUMBER, confidence=NUMBER)), None):
        assert counts(score(data, data, schema)) == (2, 2, 2), schema
    for confidence in ("rubbish", 1.5, None, True):
        facts = score({"vendor": "a"}, {"vendor": {"value": "a", "confidence": confidence}}, INVOICE)
        assert (facts.hits, facts.compliant, facts.confidences) == (0, False, []), confidence


def test_keys_of_a_map_that_are_normalized_alike_stay_apart() -> None:
    schema = obj(m={"type": "object", "additionalProperties": TEXT})
    gold = {"m": {"A B": "x", "ab": "y"}}
    assert counts(score(gold, {"m": {"ab": "y", "A B": "x"}}, schema)) == (2, 2, 2)
    assert counts(score({"m": {"A B": "x"}}, {"m": {"ab": "x"}}, schema)) == (1, 1, 1)
