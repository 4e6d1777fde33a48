"""The measures of the fields suite: leaves are counted once and divided once, in sum and by path."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace

from orjson import dumps

from goldgate.core.measure import NO_TOTALS, UNITS_COLUMN, RatioMeasure, count_names, over, precision_recall_f1
from goldgate.core.metric import Metrics, Rate
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally, UnitCounts
from goldgate.response.report import ParseRates
from goldgate.suites.fields.alignment import HIT, WRONG, leaf_count
from goldgate.suites.fields.confidence import SCALE, ReviewLevels, review_totals
from goldgate.suites.fields.error_names import confused_values, other_comparators
from goldgate.suites.fields.scorer import FieldFacts
from goldgate.suites.fields.settings import WEIGHT_DECIMALS, FieldsSettings

_NO_WEIGHT = "no path has a weight, or nothing at one was counted"
_NO_CONFIDENCE = "no prediction has confidences"
_PAIRED_LEAVES = "it compares leaves of different documents, and is not a sum over them"
_ABSOLUTE_GAPS = "gaps without their sign grow with chance alone: they are not a sum over documents"


class PathRates(RatioMeasure[FieldFacts]):
    """P = ΣH / ΣP, R = ΣH / ΣG, F1 = 2 ΣH / (ΣP + ΣG); every path has a table of its own."""

    columns = ("hits", "predicted", "gold")
    fixed = frozenset({"gold"})
    parts = {"path": "macro"}

    @abstractmethod
    def paths(self, facts: FieldFacts) -> tuple[list[str], list[str], list[str]]:
        """The path of each hit, of each predicted thing and of each one of gold."""

    def row(self, facts: FieldFacts) -> Counts:
        return (*map(len, self.paths(facts)),)

    def count(self, facts: FieldFacts) -> UnitCounts:
        paths = self.paths(facts)
        hits, predicted, gold = map(count_names, paths)
        rows = {path: (hits.get(path, 0), predicted.get(path, 0), gold.get(path, 0)) for path in {**gold, **predicted}}
        return {**{(self.table, path): row for path, row in rows.items()}, self.key: (*map(len, paths),)}


class FieldRates(PathRates):
    """Leaves."""

    table = "fields"
    ratios = precision_recall_f1("field_", "hits")

    def paths(self, facts: FieldFacts) -> tuple[list[str], list[str], list[str]]:
        gold = [leaf.shape.row for leaf in facts.gold.leaves]
        if facts.is_whole:
            return gold, gold, gold
        hits = [leaf.shape.row for leaf in facts.gold.leaves if leaf.state == HIT]
        return hits, [leaf.shape.row for leaf in facts.predicted.leaves], gold


class ItemRates(PathRates):
    """Items of lists of objects that are right as a whole: each leaf of both, at any depth, is a hit."""

    table = "items"
    ratios = precision_recall_f1("item_", "hits")

    def paths(self, facts: FieldFacts) -> tuple[list[str], list[str], list[str]]:
        leaves = facts.gold.leaves
        hits = [
            gold.shape.row
            for gold, predicted in facts.alignment.items
            if leaf_count(gold) == leaf_count(predicted)
            and all(leaf.state == HIT for leaf in leaves[gold.start : gold.end])
        ]
        predicted, gold = ([item.shape.row for item in tree.items] for tree in (facts.predicted, facts.gold))
        return hits, predicted, gold


class WeightedRates(RatioMeasure[FieldFacts]):
    """The same with every leaf times the weight of its path, in thousandths; only where a weight is set."""

    table = "weighted"
    columns = ("hits", "predicted", "gold")
    fixed = frozenset({"gold"})
    ratios = {
        name: rate._replace(undefined=_NO_WEIGHT) for name, rate in precision_recall_f1("weighted_", "hits").items()
    }

    def row(self, facts: FieldFacts) -> Counts:
        weights = {leaf.shape.weight for tree in (facts.gold, facts.predicted) for leaf in tree.leaves}
        if weights <= {None}:
            return 0, 0, 0
        one = 10**WEIGHT_DECIMALS
        gold = [one if leaf.shape.weight is None else leaf.shape.weight for leaf in facts.gold.leaves]
        hits = sum(weight for weight, leaf in zip(gold, facts.gold.leaves, strict=True) if leaf.state == HIT)
        predicted = sum(one if leaf.shape.weight is None else leaf.shape.weight for leaf in facts.predicted.leaves)
        return hits, predicted, sum(gold)


class DocumentRates(RatioMeasure[FieldFacts]):
    """Documents that were read and have H = G = P / documents; scalar paths rightly left absent."""

    table = "documents"
    columns = ("exact", "absent_right", "absent", UNITS_COLUMN)
    at_most_one = frozenset({"exact", UNITS_COLUMN})
    fixed = frozenset({"absent"})
    ratios = {
        "document_exact_rate": over("exact", UNITS_COLUMN, "no documents"),
        "absent_accuracy": over("absent_right", "absent", "no schema was given, or gold leaves no scalar path absent"),
    }

    def row(self, facts: FieldFacts) -> Counts:
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


class Compliance(RatioMeasure[FieldFacts]):
    """Answers that are valid by the JSON Schema, before anything is mended / documents."""

    table = "schema"
    columns = ("compliant", "checked")
    at_most_one = frozenset(columns)
    ratios = {
        "schema_compliance_rate": over(
            "compliant", "checked", "no schema was given, or the extra `fields` is not installed"
        )
    }

    def row(self, facts: FieldFacts) -> Counts:
        return (0, 0) if facts.compliant is None else (int(facts.compliant), 1)


class FieldHallucination(RatioMeasure[FieldFacts]):
    """Documents with a leaf that their text does not have / documents with a text; such leaves / leaves checked."""

    table = "hallucination"
    columns = ("hallucinating", "checked", "unsupported", "values", "unchecked", UNITS_COLUMN)
    at_most_one = frozenset({"hallucinating", "checked", "unchecked", UNITS_COLUMN})
    ratios = {
        "hallucination_rate": over("hallucinating", "checked", "no document has a source text"),
        "hallucination_entity_rate": over("unsupported", "values", "no predicted value could be checked"),
    }
    counted = {"hallucination_unchecked": "unchecked"}

    def row(self, facts: FieldFacts) -> Counts:
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

    def row(self, facts: FieldFacts) -> Counts:
        squares = sum((level - SCALE * is_hit) ** 2 for level, is_hit in facts.confidences)
        return squares, len(facts.confidences) * SCALE**2, len(facts.confidences)

    def totals(self, facts: FieldFacts) -> Mapping[str, int]:
        return review_totals(facts.confidences, len(facts.predicted.leaves)) if facts.confidences else NO_TOTALS

    def metrics(self, tally: Tally) -> Metrics:
        levels = ReviewLevels(tally.counts)
        precision = FieldRates().metrics(tally)["field_precision"]
        brier = super().metrics(tally)["brier_score"]
        assert isinstance(precision, Rate)
        assert isinstance(brier, Rate)
        if brier.sums is not None and brier.sums.variance == 0:  # the interval of a share would have no width
            brier = replace(brier, sums=None, interval_reason="all documents have the same score: they show no spread")
        predicted = precision.denominator if levels.leaves else 0
        rates = {
            "confidence_auroc": Rate(*levels.auroc(), "all leaves are hits, or none is", None, _PAIRED_LEAVES),
            "brier_score": brier,
            "calibration_error": Rate(*levels.calibration(), _NO_CONFIDENCE, None, _ABSOLUTE_GAPS),
        }
        if levels.leaves < predicted or not predicted:  # leaves left out may be the wrong ones
            reason = f"{levels.leaves} of {predicted} predicted leaves have a confidence"
            rates = dict.fromkeys(rates, Rate(0, 0, reason if predicted else _NO_CONFIDENCE))
        passed, threshold = levels.straight_through(self._max_error)
        sums, why = None, "no threshold is safe" if threshold is None else "levels are not summed by group"
        if threshold is not None and precision.sums is not None and not tally.is_grouped:
            sums = levels.share_above(threshold, precision.sums)
        return {**rates, "straight_through_rate": Rate(passed, predicted, _NO_CONFIDENCE, sums, why)}


class FieldErrorCounts:
    """It has no metrics of its own; the report's `errors` and its remarks on comparators are made of its counts."""

    section = "main"

    def count(self, facts: FieldFacts) -> UnitCounts:
        return {}

    def totals(self, facts: FieldFacts) -> Mapping[str, int]:
        if facts.is_whole:
            return NO_TOTALS
        names: list[str] = []
        for side, tree in (("gold", facts.gold), ("predicted", facts.predicted)):
            for leaf in [leaf for leaf in tree.leaves if leaf.state != HIT]:
                names.append(f"error.{side}.{leaf.state}")
                names.append(f"row_error.{side}.{leaf.state}.{leaf.shape.row}")
                if leaf.state == WRONG and side == "gold":
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
        FieldHallucination(),
        FieldErrorCounts(),
        ConfidenceRates(settings),
    ]
