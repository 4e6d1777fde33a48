"""Judge a model from a program of your own: `goldgate demo --out demo`, then `python judge.py`.

It is checked with `mypy --strict` against the installed package: goldgate's types are part of it.
"""

from __future__ import annotations

import sys

import goldgate


def worst_samples(evaluation: goldgate.Evaluation, most: int = 3) -> list[str]:
    """The ids of the samples with most errors."""
    samples = evaluation.samples or []
    return [str(sample["id"]) for sample in sorted(samples, key=lambda sample: -len(sample["errors"]))[:most]]


def main() -> int:
    try:
        evaluation = goldgate.evaluate_files(
            "demo/gold.jsonl",
            "demo/model-b.jsonl",
            schema="demo/schema.json",
            protocol={"gates": {"strict_f1": {"min": 0.5}}},
            records=True,
        )
    except goldgate.GoldgateError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    f1: float | None = evaluation["strict_f1"]
    ends: tuple[float, float] | None = evaluation.interval("strict_f1")
    print(f"{evaluation.status}: strict F1 {f1}, 95 % interval {ends}; look at {', '.join(worst_samples(evaluation))}")
    comparison = goldgate.compare("demo/report-a", "demo/report-b")
    print(f"B against A: {comparison['strict_f1']['difference']['value']:+.4f}")
    return evaluation.exit_status


if __name__ == "__main__":
    sys.exit(main())
