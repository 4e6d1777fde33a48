"""How often gates with a confidence pass or fail wrongly, with documents that differ in size and hardness.

Every true value lies exactly at its bound: the hardest case, where a gate at 0.95 may pass in 5 % of the data sets.
Two systems share the hardness of a document, and most of their answers. Seeded; it prints a table and a verdict.
"""

from __future__ import annotations

import random
from decimal import Decimal

from goldgate.core.gate import Gate, Verdict
from goldgate.core.metric import Rate
from goldgate.stats.gates import PairedRun, judge_gates
from goldgate.stats.paired import PairedSums, paired_sums

SETS = 1_000
MOST = 0.05 + 2 * (0.05 * 0.95 / SETS) ** 0.5  # of wrong verdicts: 5 %, and two standard errors of such a share
MARGIN = Decimal("0.02")
AGREEING = 0.7  # documents on which both systems err alike
CONFIDENCE = Decimal("0.95")


def draw(documents: int, rate: float, rng: random.Random) -> PairedSums:
    """The first system is worse than the second by the margin."""
    pairs: dict[tuple[int, int, int, int], int] = {}
    rates = rate - float(MARGIN), rate
    for _ in range(documents):
        size, shift, alike = rng.randint(1, 20), 2 * rng.betavariate(8, 8) - 1, rng.random() < AGREEING
        chances = [each + shift * min(each, 1 - each) for each in rates]
        hits = [0, 0]
        for _ in range(size):
            first = rng.random()
            second = first if alike else rng.random()
            hits[0] += first < chances[0]
            hits[1] += second < chances[1]
        pair = hits[0], size, hits[1], size
        pairs[pair] = pairs.get(pair, 0) + 1
    return paired_sums(pairs)


def shares(documents: int, rate: float, rng: random.Random) -> tuple[float, ...]:
    """Of the data sets, those where `max_drop` passes and fails, `min` passes, and both pass."""
    least = Decimal(f"{rate:.4f}") - MARGIN
    drop = Gate(max_drop=MARGIN, against="main", confidence=CONFIDENCE)
    both = Gate(min=least, max_drop=MARGIN, against="main", confidence=CONFIDENCE)
    gates = {"drop": drop, "min": Gate(min=least, confidence=CONFIDENCE), "both": both}
    counts = [0, 0, 0, 0]
    for _ in range(SETS):
        sums = draw(documents, rate, rng)
        measured = Rate(sums.first.a, sums.first.b, "", sums.first)
        paired = PairedRun(sums, True, "main", "", False)
        results = [
            judge_gates({name: gate}, {name: measured}, {name: paired})[0].verdict for name, gate in gates.items()
        ]
        counts[0] += results[0] is Verdict.PASS
        counts[1] += results[0] is Verdict.FAIL
        counts[2] += results[1] is Verdict.PASS
        counts[3] += results[2] is Verdict.PASS
    return tuple(count / SETS for count in counts)


def main() -> None:
    print("documents  rate  max_drop passes  max_drop fails  min passes  both pass")
    most = 0.0
    for documents in (20, 50, 200):
        for rate in (0.5, 0.9, 0.97):
            found = shares(documents, rate, random.Random(f"{documents} {rate}"))
            most = max(most, *found)
            print(f"{documents:9}  {rate:4}  " + "  ".join(f"{share:14.3f}" for share in found), flush=True)
    print(f"At most {most:.3f} wrong; wanted at most {MOST:.3f}: {'held' if most <= MOST else 'NOT HELD'}")


if __name__ == "__main__":
    main()
