"""How long a comparison takes, and how much memory: two systems with random results, `--documents` of them each."""

from __future__ import annotations

import argparse
import json
import random
import resource
import time
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson

from goldgate import evaluate_files
from goldgate.comparison import compare
from goldgate.runs.differences import compared_rates
from goldgate.suites import load_suite

EXAMPLES = Path(__file__).parents[1] / "examples" / "extraction"
TYPES, ROLES = 20, 6
FILLER = "x" * 700  # what a record holds beside its counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--shuffled", action="store_true", help="The second system's records in another order.")
    given = parser.parse_args()
    documents = given.documents
    with TemporaryDirectory() as folder:
        for name, quality in (("a", 0.80), ("b", 0.802)):
            write_run(Path(folder, name), documents, quality)
        if given.shuffled:
            shuffle(Path(folder, "b", "samples.jsonl"))
        began, processor = time.perf_counter(), time.process_time()
        found = compare(Path(folder, "a"), Path(folder, "b"))
        seconds, processor = time.perf_counter() - began, time.process_time() - processor
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{documents:,} documents a side: {seconds:.2f} s, {processor:.2f} s of processor time, {memory:.0f} MB")
    print(f"strict_f1: {found['strict_f1']['difference']['value']:+.4f}, p {found['strict_f1']['p']:.2g}")


def shuffle(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    random.Random(0).shuffle(lines)
    path.write_bytes(b"".join(lines))


def write_run(folder: Path, documents: int, quality: float) -> None:
    """Records with these counts in `matching`, and a report that agrees; both systems answer the same documents."""
    folder.mkdir()
    results, same = random.Random(f"{folder.name}"), random.Random(0)
    totals: Counter[tuple[str, int]] = Counter()
    with open(folder / "samples.jsonl", "wb") as stream:
        for number in range(documents):
            parts, whole = _document(results, same, quality)
            checked = whole[2]
            units = {
                "matching": whole,
                "type": [1, 1, 1],
                "parse": [0, 1, 0, 0, 0, 1],
                "schema": [1, 1],
                "hallucination": [0, 1, 0, checked, 0, 1],
                "length": [0, 0, same.randrange(400), 0, whole[2]],
            }
            for table, counts in units.items():
                totals.update({(table, n): count for n, count in enumerate(counts)})
            record = {"id": f"doc-{number:07}", "text": FILLER, "units": units, "parts": [*parts.items()]}
            stream.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
    report = _example()
    for metrics in report["metrics"].values():
        for name, rate in compared_rates(load_suite("extraction")).items():
            if isinstance(metrics, dict) and name in metrics:
                sums = tuple(totals[rate.table, n] for n in range(len(rate.columns)))
                metrics[name]["numerator"], metrics[name]["denominator"] = rate.form.of(sums)
    (folder / "report.json").write_text(json.dumps(report))


def _document(
    results: random.Random, same: random.Random, quality: float
) -> tuple[dict[tuple[str, ...], list[int]], list[int]]:
    event_types = [f"Type-{same.randrange(TYPES)}" for _ in range(same.choice((1, 1, 2)))]
    parts: dict[tuple[str, ...], list[int]] = {}
    whole = [0, 0, 0, 0]
    for _ in range(same.randint(1, 12)):
        event_type, role, luck = same.choice(event_types), f"Role-{same.randrange(ROLES)}", results.random()
        adds = (1, 1, 1, 1) if luck < quality else (0, 1, 1, 1) if luck < quality + 0.05 else (0, 0, 1, 1)
        for counts in (
            whole,
            parts.setdefault(("matching", event_type), [0, 0, 0, 0]),
            parts.setdefault(("matching", event_type, role), [0, 0, 0, 0]),
        ):
            for n, add in enumerate(adds):
                counts[n] += add
    return dict(sorted(parts.items())), whole


def _example() -> dict[str, dict[str, object]]:
    """The report of an example, for everything but its counts."""
    found = evaluate_files(EXAMPLES / "gold.jsonl", EXAMPLES / "model-a.jsonl", EXAMPLES / "schema.json")
    report: dict[str, dict[str, object]] = json.loads(found.to_json())
    return report


if __name__ == "__main__":
    main()
