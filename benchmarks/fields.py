"""How fast JSON values are scored: invoices with ten line items in another order, beside other scorers.

    python benchmarks/fields.py

Other scorers are measured where they are installed: pip install stickler-eval omni-extract-bench. All get the same
documents, decoded, and each makes its whole result: ours the facts of every leaf and the counts of every metric.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from time import process_time
from typing import Any

import goldgate

DOCUMENTS = 200
ROUNDS = 5
LINE_ITEM = {
    "type": "object",
    "properties": {
        "sku": {"type": "string"},
        "description": {"type": "string"},
        "quantity": {"type": "integer"},
        "unit_price": {"type": "number"},
        "total": {"type": "number"},
    },
}
SCHEMA = {
    "type": "object",
    "properties": {
        "number": {"type": "string"},
        "vendor": {"type": "string"},
        "date": {"type": "string", "format": "date"},
        "total": {"type": "number"},
        "items": {"type": "array", "items": LINE_ITEM},
    },
}
Pair = tuple[dict[str, Any], dict[str, Any]]


def make_invoices(count: int) -> list[Pair]:
    """Gold and an answer: the items in another order, and in every second document a few wrong values."""
    chance = random.Random(1)
    pairs = []
    for number in range(count):
        items = [
            {
                "sku": f"SKU-{chance.randrange(10**5)}",
                "description": f"Part {chance.randrange(10**4)}, blue, boxed",
                "quantity": chance.randrange(1, 9),
                "unit_price": chance.randrange(10**4) / 100,
                "total": chance.randrange(10**5) / 100,
            }
            for _ in range(10)
        ]
        gold = {
            "number": f"INV-{number}",
            "vendor": f"Vendor {chance.randrange(100)} Inc.",
            "date": f"2024-03-{number % 28 + 1:02}",
            "total": chance.randrange(10**6) / 100,
            "items": items,
        }
        answer = json.loads(json.dumps(gold))
        chance.shuffle(answer["items"])
        if number % 2:
            for item in answer["items"][:2]:
                item["total"] += 1
        pairs.append((gold, answer))
    return pairs


def ours() -> Callable[[dict[str, Any], dict[str, Any]], object]:
    scorer = goldgate.load_scorer(SCHEMA)
    return lambda gold, answer: scorer.tally(scorer.score({"value": answer}, {"value": gold}))


def omni() -> Callable[[dict[str, Any], dict[str, Any]], object]:
    from omni_extract_bench import score

    return lambda gold, answer: score(answer, gold, SCHEMA)


def stickler() -> Callable[[dict[str, Any], dict[str, Any]], object]:
    from stickler import StructuredModel

    model = StructuredModel.from_json_schema(SCHEMA)
    return lambda gold, answer: model(**gold).compare_with(model(**answer), include_confusion_matrix=True)


def measure(score: Callable[[dict[str, Any], dict[str, Any]], object], pairs: list[Pair]) -> float:
    """Microseconds of processor time for a document, in the best of some rounds."""
    best = float("inf")
    for _ in range(ROUNDS):
        begin = process_time()
        for gold, answer in pairs:
            score(gold, answer)
        best = min(best, process_time() - begin)
    return best / len(pairs) * 1e6


def main() -> None:
    pairs = make_invoices(DOCUMENTS)
    own = measure(ours(), pairs)
    print(f"{'goldgate':22} {own:8.0f} µs a document")
    for name, make in (("omni-extract-bench", omni), ("stickler-eval", stickler)):
        try:
            score = make()
        except ImportError:
            print(f"{name:22} not installed")
            continue
        other = measure(score, pairs[:20])
        print(f"{name:22} {other:8.0f} µs a document, {other / own:.1f} times ours")


if __name__ == "__main__":
    main()
