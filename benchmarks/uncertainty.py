"""How well the intervals hold, how often the tests find what is not there, and what both cost; seeded, prints tables.

Documents have 1 to 20 units, and their quality varies from one to the next: hits and needless predictions are drawn
with the document's own rate, so that what a document has goes together. `--full` takes minutes, and gives the tables
of docs/decisions/0007-intervals.md.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from io import BytesIO
from itertools import product
from math import sqrt
from pathlib import Path

import judges  # beside this file
import orjson

from goldgate import evaluate_files
from goldgate.core.sums import RatioForm, RatioSums, UnitSums, pair_sums
from goldgate.runs.differences import paired_difference
from goldgate.stats.distributions import t_quantile
from goldgate.stats.interval import Interval, share_interval
from goldgate.stats.multiple_testing import Runs, RunsSummary, summarize_runs
from goldgate.stats.paired import UnitPair, paired_sums, swap_test, t_test

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the reference implementation lies among the tests

from tests.unit.stats.changes import all_changes  # after the line above
from tests.unit.stats.changes import coverage as change_coverage
from tests.unit.stats.macro import MacroSums, macro_interval

Document = tuple[int, int]
Bounds = tuple[float, float]

POPULATION = 20_000  # documents to draw from; their own rate is the true one
CONCENTRATION = 5.0  # of the Beta distribution of documents' qualities: they vary widely
RATES = (0.05, 0.5, 0.9, 0.98)
SIZES = (20, 50, 200, 1_000)
EXAMPLES = Path(__file__).parents[1] / "examples" / "extraction"


def main() -> None:
    full = "--full" in sys.argv[1:]
    for part in (
        coverage,
        coverage_of_others,
        macro_coverage,
        runs_coverage,
        difference_coverage,
        paired_errors,
        examples,
        costs,
        *judges.PARTS,
    ):
        started = time.perf_counter()
        part(full)
        print(f"  ({time.perf_counter() - started:.0f} s)\n")


def coverage(full: bool) -> None:
    data_sets = 2_000 if full else 200
    print(f"Coverage of 95 % intervals of F1 (wanted: 0.92 to 0.98) and mean width; {data_sets} data sets each")
    methods: dict[str, Callable[[RatioSums], Bounds]] = {
        "plain ± t·se": _plain,
        "wilson, effective n": _wilson_effective,
        "goldgate": _ours,
    }
    print("| n | true F1 | " + " | ".join(methods) + " |\n| --- | --- |" + " --- |" * len(methods))
    shares: dict[str, float] = {}
    for rate in RATES:
        population = [document for document, _ in _population(rate)]
        true = Fraction(sum(a for a, _ in population), sum(b for _, b in population))
        for size in SIZES:
            rng = random.Random(f"coverage {rate} {size}")
            held, width = dict.fromkeys(methods, 0), dict.fromkeys(methods, 0.0)
            for _ in range(data_sets):
                sums = pair_sums(Counter(rng.choices(population, k=size)))
                for name, method in methods.items():
                    low, high = method(sums)
                    held[name] += low <= true <= high
                    width[name] += high - low
            cells = (f"{held[name] / data_sets:.3f} ({width[name] / data_sets:.3f})" for name in methods)
            print(f"| {size:,} | {rate} | " + " | ".join(cells) + " |", flush=True)
            shares[f"n = {size:,}, {rate}"] = held["goldgate"] / data_sets
    _verdict(shares, 0.92, 0.98)


def coverage_of_others(full: bool) -> None:
    data_sets = 1_000 if full else 50
    print(f"Documents that vary more or less: least and most over all n and rates; {data_sets} data sets each")
    print("| concentration | least | most |\n| --- | --- | --- |")
    for concentration in (2.0, 5.0, 10.0, 50.0):
        shares = []
        for rate in RATES:
            population = [document for document, _ in _population(rate, concentration=concentration)]
            true = Fraction(sum(a for a, _ in population), sum(b for _, b in population))
            for size in SIZES:
                rng = random.Random(f"others {concentration} {rate} {size}")
                held = 0
                for _ in range(data_sets):
                    low, high = _ours(pair_sums(Counter(rng.choices(population, k=size))))
                    held += low <= true <= high
                shares.append((held / data_sets, f"n = {size:,}, {rate}"))
        (least, at), (most, there) = min(shares), max(shares)
        print(f"| {concentration:.0f} | {least:.3f} ({at}) | {most:.3f} ({there}) |", flush=True)


def macro_coverage(full: bool) -> None:
    data_sets = 500 if full else 50
    print(f"Coverage of the macro average over four classes, in 60, 40, 15 and 5 % of the documents; {data_sets} each")
    print("| n | coverage | mean width |\n| --- | --- | --- |")
    rng = random.Random("macro")
    population = [_classes(rng) for _ in range(POPULATION)]
    whole = MacroSums()
    for classes in population:
        whole.add(classes)
    rates = [Fraction(sums.a, sums.b) for sums in whole.sums().values()]
    true = sum(rates, Fraction(0)) / len(rates)
    for size in (50, 200, 1_000):
        held, width, tried = 0, 0.0, 0
        while tried < data_sets:
            sums = MacroSums()
            for classes in rng.choices(population, k=size):
                sums.add(classes)
            if len(sums.sums()) < len(rates):
                continue  # without one class it is the mean of other rates
            found = macro_interval(sums)
            assert isinstance(found, Interval)
            tried += 1
            held += found.low <= true <= found.high
            width += found.high - found.low
        print(f"| {size:,} | {held / data_sets:.3f} | {width / data_sets:.3f} |", flush=True)


def runs_coverage(full: bool) -> None:
    data_sets = 500 if full else 50
    print(
        f"Coverage of the mean over runs whose own rates spread with a standard deviation; {data_sets} data sets each"
    )
    print("| runs | spread | n | coverage | mean width |\n| --- | --- | --- | --- | --- |")
    for runs, spread, size in product((2, 3, 5), (0.0, 0.03), (50, 200)):
        rng = random.Random(f"runs {runs} {spread} {size}")
        held, width = 0, 0.0
        for _ in range(data_sets):
            shifts = [rng.gauss(0, spread) for _ in range(runs)]
            units: Counter[Runs] = Counter()
            for _ in range(size):
                quality, gold = 0.15 + 0.7 * rng.betavariate(3, 1), rng.randint(1, 10)  # 0.675 on average
                units[tuple((_hits(gold, quality + shift, rng), gold) for shift in shifts)] += 1
            summary = summarize_runs(units)
            assert isinstance(summary, RunsSummary)
            assert isinstance(summary.interval, Interval)
            held += summary.interval.low <= 0.675 <= summary.interval.high
            width += summary.interval.high - summary.interval.low
        print(f"| {runs} | {spread} | {size} | {held / data_sets:.3f} | {width / data_sets:.3f} |", flush=True)


def difference_coverage(full: bool) -> None:
    data_sets = 1_000 if full else 50
    settings = [*all_changes()]
    print(
        f"Coverage of a difference where 2 to 30 % of the documents differ; {len(settings)} settings, {data_sets} each"
    )
    print("| n | documents of | least | most |\n| --- | --- | --- | --- |")
    shares = {setting: change_coverage(setting, data_sets) for setting in settings}
    for size, decisions in product((20, 50, 200), (1, 3, 10)):
        own = [share for each, share in shares.items() if (each.documents, each.decisions) == (size, decisions)]
        print(f"| {size} | {decisions} | {min(own):.3f} | {max(own):.3f} |", flush=True)
    _verdict({str(each): share for each, share in shares.items()}, 0.925, 1.0)


def paired_errors(full: bool) -> None:
    data_sets = 1_000 if full else 100
    print(f"Differences found at 5 % between equal systems (wanted: 0.03 to 0.07); {data_sets} data sets each")
    print("| n | true F1 | swap test | paired t |\n| --- | --- | --- | --- |")
    shares: dict[str, float] = {}
    for rate in (0.3, 0.9, 0.98):
        pairs = [one + other for one, other in _population(rate)]
        pairs += [pair[2:] + pair[:2] for pair in pairs]  # so that both have exactly the same rate
        for size in (20, 50, 200):
            rng = random.Random(f"paired {rate} {size}")
            found = Counter[str]()
            for _ in range(data_sets):
                drawn: Counter[UnitPair] = Counter(rng.choices(pairs, k=size))
                test, p = swap_test(drawn, swaps=999), t_test(paired_sums(drawn))
                found["swap"] += test is not None and test.p <= 0.05
                found["t"] += p is not None and p <= 0.05
            print(f"| {size} | {rate} | {found['swap'] / data_sets:.3f} | {found['t'] / data_sets:.3f} |", flush=True)
            shares |= {f"{name}, n = {size}, {rate}": times / data_sets for name, times in found.items()}
    _verdict(shares, 0.03, 0.07)


def examples(full: bool) -> None:
    draws = 20_000 if full else 2_000
    print(f"Example data, strict F1, against a bootstrap and a paired randomization of {draws:,} draws each")
    first, second = _example_counts("model-a.jsonl"), _example_counts("model-b.jsonl")
    rng = random.Random("examples")
    for name, documents in (("model A", first), ("model B", second)):
        low, high = _ours(pair_sums(Counter(documents)))
        boot = sorted(_rate(rng.choices(documents, k=len(documents))) for _ in range(draws))
        print(f"  {name}: {_rate(documents):.4f}, goldgate {low:.4f} to {high:.4f}, ", end="")
        print(f"percentile bootstrap {boot[round(0.025 * draws)]:.4f} to {boot[round(0.975 * draws)]:.4f}")
    found = paired_difference(Counter(one + other for one, other in zip(first, second, strict=True)))
    assert found.value is not None
    observed = abs(_rate(first) - _rate(second))
    reached = 0
    for _ in range(draws):
        swapped = [pair[::-1] if rng.random() < 0.5 else pair for pair in zip(first, second, strict=True)]
        reached += abs(_rate([one for one, _ in swapped]) - _rate([other for _, other in swapped])) >= observed - 1e-12
    print(f"  A - B: {float(found.value):.4f}, p {found.p:.4f}, randomization {(1 + reached) / (1 + draws):.4f}")


def costs(full: bool) -> None:
    count = 100_000 if full else 20_000
    rng = random.Random("costs")
    vectors = []
    for (twice_hits, both), gold in _documents(0.8, count, rng):
        vectors.append((twice_hits // 2, both - gold, gold))
    ratios = {
        "precision": RatioForm((1, 0, 0), (0, 1, 0)),
        "recall": RatioForm((1, 0, 0), (0, 0, 1)),
        "f1": RatioForm((2, 0, 0), (0, 1, 1)),
    }
    started = time.perf_counter()
    families = [UnitSums(ratios) for _ in range(4)]
    for vector in vectors:
        for family in families:
            family.add(vector)
    summed = [family.sums() for family in families]
    print(f"Adding a document to 12 rates: {(time.perf_counter() - started) / count * 1e6:.1f} µs")
    started = time.perf_counter()
    for _ in range(100):
        share_interval(summed[0]["f1"])
    print(f"One interval: {(time.perf_counter() - started) * 1e4:.0f} µs")
    pairs = Counter(one + other for one, other in _population(0.8, count))
    started = time.perf_counter()
    test = swap_test(pairs)
    assert test is not None
    print(f"Swap test of {count:,} documents, {test.swaps:,} swaps: {time.perf_counter() - started:.2f} s")


def _verdict(shares: dict[str, float], least: float, most: float) -> None:
    """Whether every share is within what was wanted; if not, which are outside, and by how much."""
    outside = {where: max(least - share, share - most) for where, share in shares.items() if not least <= share <= most}
    said = "; ".join(f"{where} by {by:.3f}" for where, by in outside.items())
    print(f"  not held: {said}" if outside else "  held everywhere")


def _population(
    rate: float, count: int = POPULATION, concentration: float = CONCENTRATION
) -> list[tuple[Document, Document]]:
    """Two answers to each document, of the same quality: a = 2 hits, b = predicted + gold."""
    rng = random.Random(f"population {rate}")
    found = []
    for _ in range(count):
        gold, quality = rng.randint(1, 20), _quality(rate, rng, concentration)
        found.append((_answer(gold, quality, rng), _answer(gold, quality, rng)))
    return found


def _documents(rate: float, count: int, rng: random.Random) -> list[tuple[Document, int]]:
    golds = [rng.randint(1, 20) for _ in range(count)]
    return [(_answer(gold, _quality(rate, rng), rng), gold) for gold in golds]


def _quality(rate: float, rng: random.Random, concentration: float = CONCENTRATION) -> float:
    return rng.betavariate(rate * concentration, (1 - rate) * concentration)


def _classes(rng: random.Random) -> dict[str, Document]:
    """Hits and gold of the classes of one document; the rarer ones are harder, and all share the document's quality."""
    quality = rng.betavariate(4, 1)
    found = {}
    for name, share, harder in (("A", 0.6, 0.0), ("B", 0.4, 0.05), ("C", 0.15, 0.1), ("D", 0.05, 0.3)):
        if rng.random() < share:
            gold = rng.randint(1, 6)
            found[name] = (_hits(gold, quality - harder, rng), gold)
    return found


def _hits(gold: int, quality: float, rng: random.Random) -> int:
    return sum(rng.random() < quality for _ in range(gold))


def _answer(gold: int, quality: float, rng: random.Random) -> Document:
    hits = _hits(gold, quality, rng)
    needless = gold - _hits(gold, quality, rng)
    return 2 * hits, hits + needless + gold


def _ours(sums: RatioSums) -> Bounds:
    found = share_interval(sums)
    assert isinstance(found, Interval)
    return found.low, found.high


def _plain(sums: RatioSums) -> Bounds:
    half = t_quantile(0.975, sums.units - 1) * sqrt(sums.variance or 0)
    return sums.a / sums.b - half, sums.a / sums.b + half


def _wilson_effective(sums: RatioSums) -> Bounds:
    """As it was before: n where there is no spread, n - 1 degrees of freedom, and the spread taken as it comes."""
    rate, variance, t = sums.a / sums.b, float(sums.variance or 0), t_quantile(0.975, sums.units - 1)
    n = rate * (1 - rate) / variance if variance else sums.units
    scale = 1 + t * t / n
    half = t / scale * sqrt(rate * (1 - rate) / n + t * t / (4 * n * n))
    centre = (rate + t * t / (2 * n)) / scale
    return centre - half, centre + half + 1e-12  # at a rate of 1 the end is 1, but for rounding


def _rate(documents: list[Document]) -> float:
    return sum(a for a, _ in documents) / sum(b for _, b in documents)


def _example_counts(predictions: str) -> list[Document]:
    """2 hits, and predicted + gold, of every document of the example data."""
    lines = BytesIO()
    evaluate_files(EXAMPLES / "gold.jsonl", EXAMPLES / predictions, EXAMPLES / "schema.json", records=lines)
    return [_strict_counts(orjson.loads(line)) for line in lines.getvalue().splitlines()]


def _strict_counts(sample: dict[str, dict[str, list[list[str]]]]) -> Document:
    gold, predicted = (
        {(kind, *unit) for kind, units in (sample[side] or {}).items() for unit in units}
        for side in ("gold", "predicted")
    )
    return 2 * len(gold & predicted), len(gold) + len(predicted)


if __name__ == "__main__":
    main()
