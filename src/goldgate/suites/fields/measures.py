"""The measures of the fields suite: leaves are counted once and divided once, in sum and by path."""

from __future__ import annotations

from collections.abc import Mapping

from orjson import dumps

from goldgate.core.measure import NO_TOTALS, UNITS_COLUMN, RatioMeasure, count_names, over, precision_recall_f1
from goldgate.core.metric import Metrics, Rate
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally, UnitCounts
from goldgate.response.parsed import ParseRates
from goldgate.suites.fields.alignment import HIT, WRONG
from goldgate.suites.fields.confidence import SCALE, ReviewLevels, review_totals
from goldgate.suites.fields.scorer import FieldFacts
from goldgate.suites.fields.settings import WEIGHT_DECIMALS, FieldsSettings
from goldgate.suites.fields.verdicts import confused_values, other_comparators

_NO_WEIGHT = "no path has a weight, or nothing at one was counted"
_NO_CONFIDENCE = "no prediction has confidences"


class FieldRates(RatioMeasure[FieldFacts]):
    """P = ΣH / ΣP, R = ΣH / ΣG, F1 = 2 ΣH / (ΣP + ΣG) over leaves; every path has a table of its own."""

    table = "fields"
    columns = ("hits", "predicted", "gold")
    known = frozenset({"gold"})
    parts = {"path": "macro"}
    ratios = precision_recall_f1("field_", "hits")

    def units(self, facts: FieldFacts) -> Counts:
        return facts.hits(), len(facts.predicted.leaves), len(facts.gold.leaves)

    def count(self, facts: FieldFacts) -> UnitCounts:
        leaves = facts.gold.leaves
        gold = hits = predicted = count_names([leaf.shape.row for leaf in leaves])
        if not facts.is_whole:
            hits = count_names([leaf.shape.row for leaf in leaves if leaf.verdict == HIT])
            predicted = count_names([leaf.shape.row for leaf in facts.predicted.leaves])
        unit: UnitCounts = {
            (self.table, row): (hits.get(row, 0), predicted.get(row, 0), gold.get(row, 0))
            for row in {**gold, **predicted}
        }
        unit[self.key] = self.units(facts)
        return unit


class WeightedRates(RatioMeasure[FieldFacts]):
    """The same with every leaf times the weight of its path, in thousandths; only where a weight is set."""

    table = "weighted"
    columns = ("hits", "predicted", "gold")
    known = frozenset({"gold"})
    ratios = {
        name: rate._replace(undefined=_NO_WEIGHT) for name, rate in precision_recall_f1("weighted_", "hits").items()
    }

    def units(self, facts: FieldFacts) -> Counts:
        weights = {leaf.shape.weight for tree in (facts.gold, facts.predicted) for leaf in tree.leaves}
        if weights <= {None}:
            return 0, 0, 0
        one = 10**WEIGHT_DECIMALS
        gold = [one if leaf.shape.weight is None else leaf.shape.weight for leaf in facts.gold.leaves]
        hits = sum(weight for weight, leaf in zip(gold, facts.gold.leaves, strict=True) if leaf.verdict == HIT)
        predicted = sum(one if leaf.shape.weight is None else leaf.shape.weight for leaf in facts.predicted.leaves)
        return hits, predicted, sum(gold)


class DocumentRates(RatioMeasure[FieldFacts]):
    """Documents that were read and have H = G = P / documents; scalar paths rightly left absent."""

    table = "documents"
    columns = ("exact", "absent_right", "absent", UNITS_COLUMN)
    single = frozenset({"exact", UNITS_COLUMN})
    known = frozenset({"absent"})
    ratios = {
        "document_exact_rate": over("exact", UNITS_COLUMN, "there are no documents"),
        "absent_accuracy": over("absent_right", "absent", "no schema was given, or gold leaves no scalar path absent"),
    }

    def units(self, facts: FieldFacts) -> Counts:
        return int(facts.is_read and facts.is_whole), *facts.absent, 1

    def totals(self, facts: FieldFacts) -> Mapping[str, int]:
        names = {
            "shape_mended": facts.alignment.shape_mended,
            "pair_share_cost": facts.alignment.pair_share_cost,
            "repeated_keys": int(facts.repeated_keys),
            f"value_field.{facts.document.value_field}": 1,
            **{f"greedy.{path}": leaves for path, leaves in facts.alignment.greedy.items()},
            **count_names(f"gold_left_out.{path}" for path in facts.gold.left_out),
            **count_names(f"gold_shape.{path}" for path in facts.gold.other_shape),
        }
        return {name: count for name, count in names.items() if count}


class ItemRates(RatioMeasure[FieldFacts]):
    """Items of lists of objects that are right as a whole: each leaf of both, at any depth, is a hit."""

    table = "items"
    columns = ("hits", "predicted", "gold")
    known = frozenset({"gold"})
    parts = {"path": "macro"}
    ratios = precision_recall_f1("item_", "hits")

    def units(self, facts: FieldFacts) -> Counts:
        rows = self._rows(facts)
        return (*map(sum, zip(*rows.values(), strict=True)),) if rows else (0, 0, 0)

    def count(self, facts: FieldFacts) -> UnitCounts:
        rows = self._rows(facts)
        unit: UnitCounts = {(self.table, path): (*counts,) for path, counts in rows.items()}
        unit[self.key] = (*map(sum, zip(*rows.values(), strict=True)),) if rows else (0, 0, 0)
        return unit

    def _rows(self, facts: FieldFacts) -> dict[str, list[int]]:
        rows: dict[str, list[int]] = {}
        for column, tree in ((1, facts.predicted), (2, facts.gold)):
            for item in tree.items:
                rows.setdefault(item.shape.row, [0, 0, 0])[column] += 1
        leaves = facts.gold.leaves
        for gold, predicted in facts.alignment.items:
            if gold.end - gold.start == predicted.end - predicted.start and all(
                leaf.verdict == HIT for leaf in leaves[gold.start : gold.end]
            ):
                rows[gold.shape.row][0] += 1
        return rows


class Compliance(RatioMeasure[FieldFacts]):
    """Answers that are valid by the JSON Schema, before anything is mended / documents."""

    table = "schema"
    columns = ("compliant", "checked")
    single = frozenset(columns)
    ratios = {
        "schema_compliance_rate": over(
            "compliant", "checked", "no schema was given, or the extra `fields` is not installed"
        )
    }

    def units(self, facts: FieldFacts) -> Counts:
        return (0, 0) if facts.compliant is None else (int(facts.compliant), 1)


class TextSupport(RatioMeasure[FieldFacts]):
    """Documents with a leaf that their text does not have / documents with a text; such leaves / leaves checked."""

    table = "hallucination"
    columns = ("hallucinating", "checked", "unsupported", "values", "unchecked", UNITS_COLUMN)
    single = frozenset({"hallucinating", "checked", "unchecked", UNITS_COLUMN})
    ratios = {
        "hallucination_rate": over("hallucinating", "checked", "no document has a source text"),
        "hallucination_entity_rate": over("unsupported", "values", "no predicted value could be checked"),
    }
    counted = {"hallucination_unchecked": "unchecked"}

    def units(self, facts: FieldFacts) -> Counts:
        if facts.checked is None:
            return 0, 0, 0, 0, 1, 1
        return int(bool(facts.unsupported)), 1, len(facts.unsupported), facts.checked, 0, 1


class ConfidenceRates(RatioMeasure[FieldFacts]):
    """What confidences are worth: brier_score is the mean of (confidence - hit)².

    All but straight_through_rate are undefined unless every predicted leaf of every answer has one.
    """

    section = "confidence"
    table = "confidence"
    columns = ("squares", "scale", "leaves")
    ratios = {"brier_score": over("squares", "scale", _NO_CONFIDENCE)}

    def __init__(self, settings: FieldsSettings) -> None:
        self._max_error = settings.review.max_error

    def units(self, facts: FieldFacts) -> Counts:
        squares = sum((level - SCALE * is_hit) ** 2 for level, is_hit in facts.confidences)
        return squares, len(facts.confidences) * SCALE**2, len(facts.confidences)

    def totals(self, facts: FieldFacts) -> Mapping[str, int]:
        return review_totals(facts.confidences) if facts.confidences else NO_TOTALS

    def metrics(self, tally: Tally) -> Metrics:
        levels = ReviewLevels(tally.counts)
        precision = FieldRates().metrics(tally)["field_precision"]
        assert isinstance(precision, Rate)
        predicted = precision.denominator if levels.leaves else 0
        passed, _ = levels.straight_through(self._max_error)
        rates: Metrics = {
            "confidence_auroc": Rate(*levels.auroc(), "all leaves are hits, or none is"),
            **super().metrics(tally),
            "calibration_error": Rate(*levels.calibration()),
        }
        if levels.leaves < predicted or not predicted:  # leaves left out may be the wrong ones
            reason = f"{levels.leaves} of {predicted} predicted leaves have a confidence"
            rates = dict.fromkeys(rates, Rate(0, 0, reason if predicted else _NO_CONFIDENCE))
        return {**rates, "straight_through_rate": Rate(passed, predicted, _NO_CONFIDENCE)}


class ErrorNames:
    """It has no metrics of its own; the report's `errors` and its remarks on comparators are made of its counts."""

    section = "main"

    def count(self, facts: FieldFacts) -> UnitCounts:
        return {}

    def totals(self, facts: FieldFacts) -> Mapping[str, int]:
        if facts.is_whole:
            return NO_TOTALS
        names: list[str] = []
        for side, tree in (("gold", facts.gold), ("predicted", facts.predicted)):
            for leaf in [leaf for leaf in tree.leaves if leaf.verdict != HIT]:
                names.append(f"error.{side}.{leaf.verdict}")
                names.append(f"row_error.{side}.{leaf.verdict}.{leaf.shape.row}")
                if leaf.verdict == WRONG and side == "gold":
                    names.append(f"wrong.{leaf.detail}")
                    names += [f"would_hit.{name}.{leaf.shape.row}" for name in other_comparators(leaf)]
                    if leaf.shape.is_enum and leaf.partner is not None:
                        names.append(f"confused.{dumps(confused_values(leaf, leaf.partner)).decode()}")
        return count_names(names) if names else NO_TOTALS

    def metrics(self, tally: Tally) -> Metrics:
        return {}


def fields_measures(settings: FieldsSettings) -> list[Measure[FieldFacts]]:
    """Every measure, in the order of the report."""
    return [
        FieldRates(),
        WeightedRates(),
        DocumentRates(),
        ItemRates(),
        ParseRates(),
        Compliance(),
        TextSupport(),
        ErrorNames(),
        ConfidenceRates(settings),
    ]
