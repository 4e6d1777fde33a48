"""The measures of the fields suite: leaves are counted once and divided once, in sum and by path."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, log

from orjson import dumps

from goldgate.core.finding import limit_length
from goldgate.core.measure import (
    NO_TOTALS,
    UNITS_COLUMN,
    BlanksOnly,
    RatioMeasure,
    TotalsOnly,
    count_names,
    over,
    precision_recall_f1,
)
from goldgate.core.metric import Metrics, Rate
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts, RatioSums
from goldgate.core.tally import Tally, UnitCounts
from goldgate.response.reading_report import ParseRates
from goldgate.stats.interval import Interval, one_sided, share_interval
from goldgate.suites.fields.alignment import CONFUSED_LENGTH, confused_values, other_comparators
from goldgate.suites.fields.comparators import Comparator, leaf_text
from goldgate.suites.fields.leaves import HIT, WRONG, respelled_key
from goldgate.suites.fields.scorer import SCALE, FieldFacts, ScoredLeaf
from goldgate.suites.fields.suite import WEIGHT_DECIMALS, FieldsSettings

BOUND_CONFIDENCE = 0.95
_BINS = 10
_NO_WEIGHT = "no path has a weight, or nothing at one was counted"
_DERIVED = "derived_schema"  # the total of documents that were compared by the shape of gold
_NO_CONFIDENCE = "no prediction has confidences"
_PAIRED_LEAVES = "it compares leaves of different documents, and is not a sum over them"
_ABSOLUTE_GAPS = "gaps without their sign grow with chance alone: they are not a sum over documents"


class PathRates(RatioMeasure[FieldFacts]):
    """P = ΣH / ΣP, R = ΣH / ΣG, F1 = 2 ΣH / (ΣP + ΣG); every path has a table of its own."""

    columns = ("hits", "predicted", "gold")
    parts = {"path": "macro"}

    @abstractmethod
    def paths(self, facts: FieldFacts) -> tuple[list[str], list[str], list[str]]:
        """The path of each hit, of each predicted thing and of each one of gold."""

    @abstractmethod
    def beyond(self, facts: FieldFacts) -> Mapping[str, int]:
        """How many predicted things lie beyond the limits, by path."""

    def row(self, facts: FieldFacts) -> Counts:
        hits, predicted, gold = map(len, self.paths(facts))
        return hits, predicted + sum(self.beyond(facts).values()), gold

    def count(self, facts: FieldFacts) -> UnitCounts:
        paths = self.paths(facts)
        hits, predicted, gold = map(count_names, paths)
        beyond = self.beyond(facts)
        if beyond:
            predicted = Counter(predicted) + Counter(beyond)
        rows = {path: (hits.get(path, 0), predicted.get(path, 0), gold.get(path, 0)) for path in {**gold, **predicted}}
        whole = len(paths[0]), len(paths[1]) + sum(beyond.values()), len(paths[2])
        return {**{(self.table, path): row for path, row in rows.items()}, self.key: whole}


class FieldRates(PathRates):
    """P, R and F1 over the leaves of values."""

    table = "fields"
    ratios = precision_recall_f1("field_", "hits")

    def paths(self, facts: FieldFacts) -> tuple[list[str], list[str], list[str]]:
        gold = [leaf.shape.name for leaf in facts.gold.leaves]
        if facts.is_whole:
            return gold, gold, gold
        hits = [leaf.shape.name for leaf in facts.gold.leaves if leaf.state == HIT]
        return hits, [leaf.shape.name for leaf in facts.predicted.leaves], gold

    def beyond(self, facts: FieldFacts) -> Mapping[str, int]:
        return facts.beyond.by_path


class ItemRates(PathRates):
    """Items of lists of objects that are right as a whole: each leaf of both, at any depth, is a hit."""

    table = "items"
    ratios = precision_recall_f1("item_", "hits")

    def paths(self, facts: FieldFacts) -> tuple[list[str], list[str], list[str]]:
        hits = [
            gold.shape.name
            for gold, predicted in facts.alignment.items
            if gold.size == predicted.size and all(leaf.state == HIT for leaf in gold.leaves())
        ]
        predicted, gold = ([item.shape.name for item in tree.items] for tree in (facts.predicted, facts.gold))
        return hits, predicted, gold

    def beyond(self, facts: FieldFacts) -> Mapping[str, int]:
        return facts.beyond.items


class WeightedRates(RatioMeasure[FieldFacts]):
    """Leaf rates with every leaf times the weight of its path, in thousandths; only where a weight is set."""

    table = "weighted"
    columns = ("hits", "predicted", "gold")
    ratios = {
        name: rate._replace(undefined=_NO_WEIGHT) for name, rate in precision_recall_f1("weighted_", "hits").items()
    }

    def row(self, facts: FieldFacts) -> Counts:
        weights = {leaf.shape.weight for tree in (facts.gold, facts.predicted) for leaf in tree.leaves}
        if weights | {shape.weight for shape in facts.beyond.leaves} <= {None}:
            return 0, 0, 0
        one = 10**WEIGHT_DECIMALS
        gold = [one if leaf.shape.weight is None else leaf.shape.weight for leaf in facts.gold.leaves]
        hits = sum(weight for weight, leaf in zip(gold, facts.gold.leaves, strict=True) if leaf.state == HIT)
        predicted = sum(one if leaf.shape.weight is None else leaf.shape.weight for leaf in facts.predicted.leaves)
        for shape, leaves in facts.beyond.leaves.items():
            predicted += leaves * (one if shape.weight is None else shape.weight)
        return hits, predicted, sum(gold)


class DocumentRates(RatioMeasure[FieldFacts]):
    """Documents that were read and have H = G = P / documents; scalar paths rightly left absent."""

    table = "documents"
    columns = ("exact", "absent_right", "absent", UNITS_COLUMN)
    ratios = {
        "document_exact_rate": over("exact", UNITS_COLUMN, "no documents"),
        "absent_accuracy": over("absent_right", "absent", "gold leaves no scalar path of the schema absent"),
    }

    def row(self, facts: FieldFacts) -> Counts:
        return int(facts.is_read and facts.is_whole), *facts.absent, 1

    def metrics(self, tally: Tally) -> Metrics:
        return _without_schema(super().metrics(tally), "absent_accuracy", tally)

    def totals(self, facts: FieldFacts) -> Mapping[str, int]:
        names = {
            "shape_mended": facts.alignment.shape_mended,
            "pair_share_cost": facts.alignment.pair_share_cost,
            "repeated_keys": int(facts.repeated_keys),
            "too_many": facts.beyond.leaves.total() + facts.alignment.pairs_left_out,
            _DERIVED: int(facts.is_derived),
            f"value_field.{facts.document.value_field}": 1,
            **{f"equal_only.{path}": leaves for path, leaves in facts.alignment.equal_only.items()},
            **count_names(f"gold_left_out.{path}" for path in facts.gold.left_out),
            **{f"gold_shape.{path}": places for path, places in facts.gold.other_shape.items()},
        }
        return {name: count for name, count in names.items() if count}


class Compliance(RatioMeasure[FieldFacts]):
    """Answers that are valid by the JSON Schema, before anything is mended / documents."""

    table = "schema"
    columns = ("compliant", "checked")
    ratios = {"schema_compliance_rate": over("compliant", "checked", "the extra `fields` is not installed")}

    def row(self, facts: FieldFacts) -> Counts:
        return (0, 0) if facts.compliant is None else (int(facts.compliant), 1)

    def metrics(self, tally: Tally) -> Metrics:
        return _without_schema(super().metrics(tally), "schema_compliance_rate", tally)


def _without_schema(metrics: Metrics, name: str, tally: Tally) -> Metrics:
    """The metrics; of one that needs a given schema, the reason says where there was none."""
    rate = metrics[name]
    assert isinstance(rate, Rate)
    return {**metrics, name: replace(rate, undefined="no schema was given")} if tally.counts[_DERIVED] else metrics


class FieldHallucination(RatioMeasure[FieldFacts]):
    """Documents with a value that their text does not have / documents with a text; such values / values checked.

    Distinct values at a path are counted once: repeating one that the text has must not dilute the denominator.
    """

    table = "hallucination"
    columns = ("hallucinating", "checked", "unsupported", "values", "unchecked", UNITS_COLUMN)
    ratios = {
        "hallucination_rate": over("hallucinating", "checked", "no document has a source text"),
        "hallucination_entity_rate": over("unsupported", "values", "no predicted value could be checked"),
    }
    counted = {"hallucination_unchecked": "unchecked"}

    def row(self, facts: FieldFacts) -> Counts:
        check = facts.support
        if check is None:
            return 0, 0, 0, 0, 1, 1
        beyond = facts.beyond.leaves.total()
        unsupported = check.unsupported + beyond
        return int(unsupported > 0), 1, unsupported, check.values + beyond, 0, 1


def review_totals(scored: list[ScoredLeaf], predicted: int) -> dict[str, int]:
    """What a document adds, at each of its levels, to the sums over all leaves from that level up.

    Errors and leaves of a document are squared together, so a document adds the difference between its squares with
    and without the leaves of a level; `predicted` are all its leaves.
    """
    totals: dict[str, int] = {}
    errors = leaves = 0
    levels: dict[int, list[int]] = {}
    for level, is_hit in scored:
        counts = levels.setdefault(level, [0, 0])
        counts[0] += not is_hit
        counts[1] += 1
    for level in sorted(levels, reverse=True):
        before = _products(errors, leaves, predicted)
        errors, leaves = errors + levels[level][0], leaves + levels[level][1]
        for name, new, old in zip(_SUMS, _products(errors, leaves, predicted), before, strict=True):
            if new != old:
                totals[f"review.{level}.{name}"] = new - old
    return totals


_SUMS = ("units", "a", "b", "aa", "ab", "bb", "predicted")


def _products(errors: int, leaves: int, predicted: int) -> tuple[int, ...]:
    return int(leaves > 0), errors, leaves, errors**2, errors * leaves, leaves**2, leaves * predicted


class ReviewLevels:
    """The sums over documents at every level of confidence, from totals of a tally."""

    def __init__(self, counts: Mapping[str, int]) -> None:
        sums: dict[int, dict[str, int]] = {}
        for name, count in counts.items():
            if name.startswith("review."):
                _, level, column = name.split(".")
                sums.setdefault(int(level), {})[column] = count
        self._with_predicted = {level: columns.pop("predicted", 0) for level, columns in sums.items()}
        self.sums = {level: RatioSums(**columns) for level, columns in sums.items()}

    @property
    def leaves(self) -> int:
        return sum(sums.b for sums in self.sums.values())

    @property
    def errors(self) -> int:
        return sum(sums.a for sums in self.sums.values())

    def auroc(self) -> tuple[int, int]:
        """Twice the pairs of a hit and an error in which the hit is more confident, ties once; and twice all pairs."""
        below = wins = 0
        for level in sorted(self.sums):
            errors = self.sums[level].a
            hits = self.sums[level].b - errors
            wins += hits * (2 * below + errors)
            below += errors
        return wins, 2 * below * (self.leaves - below)

    def calibration(self) -> tuple[int, int]:
        """How far hits are from confidence in each of ten bins, summed; over all leaves. In steps of 1/10,000."""
        gaps = [0] * _BINS
        for level, sums in self.sums.items():
            gaps[min(level * _BINS // SCALE, _BINS - 1)] += (sums.b - sums.a) * SCALE - level * sums.b
        return sum(map(abs, gaps)), self.leaves * SCALE

    def straight_through(self, max_error: Decimal) -> tuple[int, int | None]:
        """How many leaves need no review, and from which level on.

        From the most confident leaf down, beginning with the smallest number that could pass, the bound of the error
        rate over documents must not be above `max_error`; the first failure ends it.
        """
        needed = _least_leaves(max_error)
        passed, threshold, above = 0, None, RatioSums()
        for level in sorted(self.sums, reverse=True):
            above += self.sums[level]
            if needed is None or above.b < needed:
                continue
            bound = share_interval(above, one_sided(BOUND_CONFIDENCE))
            if not isinstance(bound, Interval) or Fraction(repr(bound.high)) > Fraction(max_error):
                break
            passed, threshold = above.b, level
        return passed, threshold

    def share_above(self, threshold: int, precision: RatioSums) -> RatioSums:
        """The leaves from a level on over predicted leaves, document by document; `precision` has all predicted."""
        above = [level for level in self.sums if level >= threshold]
        leaves, squares = (sum(getattr(self.sums[level], name) for level in above) for name in ("b", "bb"))
        products = sum(self._with_predicted[level] for level in above)
        return RatioSums(precision.units, leaves, precision.b, squares, products, precision.bb)


def _least_leaves(max_error: Decimal) -> int | None:
    """The fewest leaves without an error that speak for an error rate of at most this: 299 for 0.01."""
    if not 0 < max_error < 1:
        return 1 if max_error else None
    return ceil(log(1 - BOUND_CONFIDENCE) / log(1 - float(max_error)))


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
        return review_totals(facts.confidences, facts.predicted_count) if facts.confidences else NO_TOTALS

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


class FieldBlanksOnly(BlanksOnly[FieldFacts]):
    """Hits whose comparator would not take them if it kept blanks."""

    def __init__(self) -> None:
        self._keeping: dict[Comparator, Comparator] = {}

    def hits(self, facts: FieldFacts) -> Iterator[tuple[str, str]]:
        for leaf in facts.gold.leaves:
            predicted = leaf.partner
            if leaf.state != HIT or predicted is None or leaf.value == predicted.value:
                continue
            comparator = leaf.shape.comparator
            keeping = self._keeping.get(comparator)
            if keeping is None:
                keeping = self._keeping[comparator] = comparator.with_blanks("keep")
            keys = keeping.key(leaf.value), keeping.key(predicted.value)
            if not keeping.alike(leaf.value, keys[0], predicted.value, keys[1]):
                yield leaf_text(predicted.value), leaf_text(leaf.value)


class FieldErrorCounts(TotalsOnly[FieldFacts]):
    """Counts errors by name, for the report's `errors` and its remarks on comparators; it has no metrics."""

    def totals(self, facts: FieldFacts) -> Mapping[str, int]:
        if facts.is_whole:
            return NO_TOTALS
        names: list[str] = []
        for side, tree in (("gold", facts.gold), ("predicted", facts.predicted)):
            for leaf in [leaf for leaf in tree.leaves if leaf.state != HIT]:
                names.append(f"error.{side}.{leaf.state}")
                names.append(f"row_error.{side}.{leaf.state}.{leaf.shape.name}")
                if side == "predicted" and not leaf.shape.declared and (keys := respelled_key(leaf)) is not None:
                    names.append(f"respelled.{limit_length(keys[0], CONFUSED_LENGTH)} for {keys[1]}")
                if leaf.state == WRONG and side == "gold":
                    names.append(f"wrong.{leaf.detail}")
                    names += [f"would_hit.{name}.{leaf.shape.name}" for name in other_comparators(leaf)]
                    if leaf.shape.is_enum and leaf.partner is not None:
                        names.append(f"confused.{dumps(confused_values(leaf, leaf.partner)).decode()}")
        counts = Counter(names)
        for path, leaves in facts.beyond.by_path.items():
            counts["error.predicted.spurious"] += leaves
            counts[f"row_error.predicted.spurious.{path}"] += leaves
        return counts or NO_TOTALS


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
        *([FieldBlanksOnly()] if settings.blanks == "remove" else []),
        ConfidenceRates(settings),
    ]
