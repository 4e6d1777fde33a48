"""Properties of the whole suite: bytes that depend on nothing but the inputs, rates that damage never raises."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate import evaluate_outputs
from goldgate.core.evaluation import Evaluation
from goldgate.errors import InputError
from tests.examples import examples

from .judged import judged, unbalanced
from .trees import abstention, claim, event, evidence, lines, output, query, write_golden, write_run

ROOT = Path(__file__).resolve().parents[2]
LAW = examples(80)
RATES = ("evidence_coverage_rate", "golden_recall", "abstention_accuracy", "manifest_integrity")
NAMES = (
    "research_output.json",
    "events.jsonl",
    "manifests.jsonl",
    "chunks.jsonl",
    "manifests/1.json",
    "manifests/x.json",
    "artifacts/" + "0" * 64,
    "artifacts/x",
    "other.txt",
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 5) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def tree(folder: Path) -> None:
    """Complete runs, some good and some not."""
    write_golden(folder, query(), query("Who owned the ships?", (), False), query("Nobody?", ("x",)))
    outputs = folder / "outputs"
    write_run(outputs, "run_a", artifact=True)
    write_run(outputs, "run_b", output("r2", claims=[claim(), claim("k2", ("e9",))]))
    write_run(outputs, "run_c", abstention("r3"))
    write_run(outputs, "run_d", output("r4", evidence=[evidence(quote="froze in 1872")]), manifests=[])


def report_of(folder: Path, workers: int = 1) -> str:
    return evaluate_outputs(folder / "golden.json", folder / "outputs", workers=workers).to_json()


def test_bytes_depend_on_neither_order_workers_nor_path(tmp_path: Path) -> None:
    first = tmp_path / "first"
    first.mkdir()
    tree(first)
    expected = report_of(first)
    assert str(tmp_path) not in expected
    second = tmp_path / "elsewhere" / "second"
    (second / "outputs").mkdir(parents=True)
    shutil.copy(first / "golden.json", second)
    for name in ("run_d", "run_b", "run_a", "run_c"):  # another order on disk
        shutil.copytree(first / "outputs" / name, second / "outputs" / name)
    assert report_of(second) == expected
    for number in range(70):  # more than one shard
        write_run(second / "outputs", f"more{number}", output(f"m{number}"))
    assert report_of(second, workers=2) == report_of(second)


def test_bytes_depend_on_neither_locale_nor_hash_seed(tmp_path: Path) -> None:
    tree(tmp_path)
    (tmp_path / "outputs" / "odd\u00e9").mkdir()
    found = set()
    for seed, locale in (("0", "C"), ("77", "C.UTF-8")):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale, "PYTHONPATH": str(ROOT / "src")}
        command = [sys.executable, "-m", "goldgate", "research", "--golden", "golden.json", "--outputs", "outputs"]
        subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
        found.add((tmp_path / "outputs.report.json").read_bytes())
    assert len(found) == 1


def rates(evaluation: Evaluation) -> dict[str, float | None]:
    return {name: evaluation[name] for name in RATES}


@given(st.integers(0, 10_000), st.binary(max_size=60), st.sampled_from(NAMES), st.booleans())
@LAW
def test_adding_a_broken_file_never_raises_a_rate(seed: int, content: bytes, name: str, new_run: bool) -> None:
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        tree(path)
        before = rates(judged(path))
        run = path / "outputs" / ("run_new" if new_run else rng.choice(("run_a", "run_b", "run_c", "run_d")))
        target = run / name
        if target.exists():
            return  # added, not changed
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"{" + content)
        after = rates(judged(path))
    for metric, value in before.items():
        assert value is not None
        damaged = after[metric]
        assert damaged is not None
        assert damaged <= value, (metric, name)


payloads = st.fixed_dictionaries(
    {},
    optional={
        "claim_id": st.sampled_from(("k1", "k2", "k9", 7)),
        "status": st.sampled_from(("verified", "candidate", "retracted", " Retracted", "other", None)),
        "stop_reason": st.sampled_from(("NO_EVIDENCE", "OBJECTIVE_ACHIEVED", "no evidence", "BUDGET_EXCEEDED", "x")),
        "objective": st.sampled_from(("When did the harbour freeze?", "Who owned the ships?", "Nobody?", "Other")),
    },
)
log_lines = st.tuples(st.sampled_from(("r1", "r2", "r3", "r4", "r5", "x")), st.none() | st.integers(0, 3), payloads)


@given(st.sampled_from(("a", "b", "c", "d", "e")), st.lists(log_lines, min_size=1, max_size=6), st.booleans())
@LAW
def test_no_line_in_a_log_raises_a_rate(
    name: str, added: list[tuple[str, int | None, dict[str, Any]]], first: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        tree(path)
        write_run(path / "outputs", "run_e", output("r5", objective="Nobody asked"))
        before = judged(path).report["metrics"]["main"]
        log = path / "outputs" / f"run_{name}" / "events.jsonl"
        text = lines(*(event(step, run_id, **payload) for run_id, step, payload in added))
        log.write_text(text + log.read_text() if first else log.read_text() + text)
        after = judged(path).report["metrics"]["main"]
    for metric in RATES:
        was, now = before[metric], after[metric]
        assert now["numerator"] * was["denominator"] <= was["numerator"] * now["denominator"], metric


def any_file(kind: str) -> st.SearchStrategy[bytes]:
    """Bytes, JSON, JSON Lines, or what looks like the real thing and is damaged."""
    import orjson

    text = json_values.map(lambda value: orjson.dumps(value))
    real = {
        "research_output.json": output(),
        "events.jsonl": {"run_id": "r1", "step_id": 1, "event_type": "x", "payload": {"objective": "o"}},
        "chunks.jsonl": {"chunk_id": "c1", "source_id": "s", "text": "t"},
    }.get(
        kind, {"run_id": "r1", "step_id": 1, "retrieval_query": "", "candidate_chunk_ids": [], "selected_chunk_ids": []}
    )
    spoiled = st.tuples(st.sampled_from(sorted(real)), json_values).map(
        lambda change: orjson.dumps({**real, change[0]: change[1]})
    )
    whole = st.lists(spoiled | text, max_size=4).map(b"\n".join)
    return st.binary(max_size=30) | whole | st.tuples(whole, st.integers(0, 60)).map(lambda cut: cut[0][: cut[1]])


any_tree = st.dictionaries(
    st.sampled_from(("a", "b", "run_x", "\u00fc\u202e")),
    st.fixed_dictionaries({}, optional={name: any_file(name) for name in NAMES}),
    max_size=3,
)


@given(any_tree)
@LAW
def test_any_tree_of_files_is_judged_and_everything_is_counted(runs: dict[str, dict[str, bytes]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write_golden(path, query(), query("o", (), False))
        for run, files in runs.items():
            (path / "outputs" / run).mkdir(parents=True)
            for name, content in files.items():
                (path / "outputs" / run / name).parent.mkdir(exist_ok=True)
                (path / "outputs" / run / name).write_bytes(content)
        if not any(files.keys() - {"other.txt"} for files in runs.values()):
            with pytest.raises(InputError, match="there are no runs"):
                judged(path)
            return
        evaluation = judged(path)
    assert not list(unbalanced(evaluation))
    assert evaluation.to_json()
    for rate in evaluation.report["metrics"]["main"].values():
        assert 0 <= rate["numerator"] <= rate["denominator"]
