"""The pictures of docs/plots.md, drawn from the examples."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from goldgate import evaluate_files, evaluate_outputs
from goldgate.core.evaluation import Evaluation, render_json
from goldgate.report.svg import draw_results
from goldgate.runs.sources import find_systems

from .documents import ROOT

EXAMPLES = ROOT / "examples" / "extraction"
GOLD, SCHEMA, PROTOCOL = (EXAMPLES / name for name in ("gold.jsonl", "schema.json", "protocol-fail.yaml"))
SEEDS = (1, 2, 3, 4)

# The file: what is drawn of which folders.
PLOTS = {
    "plot-gates.svg": ("gates", ("model-a",)),
    "plot-scores.svg": ("scores", ("model-a",)),
    "plot-types.svg": ("types", ("model-b",)),
    "plot-errors.svg": ("errors", ("model-b",)),
    "plot-confusions.svg": ("confused-event-types", ("model-b",)),
    "plot-systems.svg": ("systems", ("model-a", "model-b", "mixed")),
    "plot-differences.svg": ("differences", ("model-a", "model-b", "mixed")),
    "plot-runs.svg": ("runs", ("mixed",)),
    "plot-agent.svg": ("gates", ("agent",)),
}


def plot(name: str) -> str:
    """A picture of the examples."""
    return _all_plots()[name]


@cache
def _all_plots() -> dict[str, str]:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        for model in ("model-a", "model-b"):
            _store(root / model, EXAMPLES / f"{model}.jsonl")
        for seed in SEEDS:
            _store(root / "mixed" / f"seed-{seed}", _mixed(root, seed))
        golden, outputs = ROOT / "eval" / "golden_queries.json", ROOT / "examples" / "research" / "failing"
        _write(root / "agent", evaluate_outputs(golden, outputs))
        drawn = {}
        for name, (kind, folders) in PLOTS.items():
            sources = find_systems([str(root / each) for each in folders], alone=True)
            drawn[name] = draw_results(sources, [kind])[kind]
        return drawn


def _store(folder: Path, predictions: Path) -> None:
    folder.mkdir(parents=True)
    with open(folder / "samples.jsonl", "wb") as records:
        _write(folder, evaluate_files(GOLD, predictions, SCHEMA, PROTOCOL, records=records))


def _write(folder: Path, found: Evaluation) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "report.json").write_bytes(render_json(found.report))


def _mixed(root: Path, seed: int) -> Path:
    """Runs that differ as seeds do: model a, with every fourth answer of model b or more of them."""
    first, second = (
        {json.loads(line)["id"]: line for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()}
        for name in ("model-a.jsonl", "model-b.jsonl")
    )
    lines = [second.get(id, line) if n * seed % 7 < 2 else line for n, (id, line) in enumerate(first.items())]
    file = root / f"mixed-{seed}.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file
