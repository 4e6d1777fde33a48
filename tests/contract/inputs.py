"""Stored files for every suite, made by rule, with answers of every kind."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from goldgate.suites import SUITES

ROOT = Path(__file__).resolve().parents[2]
TOY = {"qa": "tests.toy.suite:SUITE"}
NAMES = (*SUITES, *TOY)
SAMPLES = 120
SEVERAL_SHARDS = 1_100  # samples that are more than one shard
HOSTILE = "\x1b[31m</script>\u202e|`::error::`\r\n=cmd()"

Paths = dict[str, Path]


def write_lines(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def _extraction(folder: Path, word: str, samples: int) -> Paths:
    event_type, role = f"Strike{word}", f"Union{word}"
    (folder / "schema.json").write_text(json.dumps({"event_types": {event_type: {"roles": [role]}}}), encoding="utf-8")
    golds, predictions = [], []
    for number in range(samples):
        events = [{"event_type": event_type, "arguments": [{"role": role, "argument": f"U{number % 7}"}]}]
        golds.append({"id": f"s{number}{word}", "text": f"U{number % 7} went on strike.", "events": events})
        said = [json.dumps(events), json.dumps(events)[:-3], f"none{word}", json.dumps(events * 2).replace("U1", "U")]
        predictions.append({"id": f"s{number}{word}", "response": said[number % 4]})
    return {
        "gold": write_lines(folder / "gold.jsonl", golds),
        "predictions": write_lines(folder / "predictions.jsonl", predictions[: samples - 30]),
        "schema": folder / "schema.json",
    }


def _research(folder: Path, word: str, _: int) -> Paths:
    shutil.copytree(ROOT / "examples" / "research" / ("failing" if word else "passing"), folder / "outputs")
    golden = json.loads((ROOT / "eval" / "golden_queries.json").read_text(encoding="utf-8"))
    if word:
        for file in folder.glob("outputs/*/research_output.json"):
            output = json.loads(file.read_text(encoding="utf-8"))
            output["objective"] += word
            output["run_id"] = f"{output['run_id']}{word}"
            file.write_text(json.dumps(output), encoding="utf-8")
    (folder / "golden.json").write_text(json.dumps(golden), encoding="utf-8")
    return {"golden": folder / "golden.json", "outputs": folder / "outputs"}


def _qa(folder: Path, word: str, samples: int) -> Paths:
    golds, predictions = [], []
    for number in range(samples):
        answer, identity = f"Town {number % 5}{word}" if number % 3 else None, f"q{number}{word}"
        gold = {"id": identity, "question": f"Where?{word}", "answer": answer, "sources": [f"d{number % 4}{word}"]}
        golds.append(gold)
        said = answer if number % 4 else f"town 1{word}"
        predictions.append({"id": identity, "answer": said, "citations": [f"d{number % 6}{word}"]})
    return {
        "gold": write_lines(folder / "gold.jsonl", golds),
        "predictions": write_lines(folder / "predictions.jsonl", predictions[: samples - 30]),
    }


def _fields(folder: Path, word: str, samples: int) -> Paths:
    rows = {"type": "array", "items": {"properties": {f"sku{word}": {"type": "string"}, "price": {"type": "number"}}}}
    shape = {"type": "object", "properties": {f"vendor{word}": {"type": "string"}, "rows": rows}}
    (folder / "schema.json").write_text(json.dumps(shape), encoding="utf-8")
    golds, predictions = [], []
    for number in range(samples):
        items = [{f"sku{word}": f"A{place}{word}", "price": number % 7 + place} for place in range(3)]
        value = {f"vendor{word}": f"Shop {number % 5}{word}", "rows": items}
        golds.append({"id": f"d{number}{word}", "text": f"Shop {number % 5}{word}: A0, 3", "value": value})
        text = json.dumps({**value, "rows": items[::-1]})
        said = [text, text[:-3], f"none{word}", text.replace("Shop 1", f"Shup{word}".replace("\n", " "))]
        predictions.append({"id": f"d{number}{word}", "response": said[number % 4]})
    return {
        "gold": write_lines(folder / "gold.jsonl", golds),
        "predictions": write_lines(folder / "predictions.jsonl", predictions[: samples - 30]),
        "schema": folder / "schema.json",
    }


_JUDGE = "judge.jsonl"  # beside people.jsonl: people and judges have files of their own


def _judged(folder: Path, word: str, samples: int) -> Paths:
    items: list[dict[str, Any]] = []
    labels: list[dict[str, Any]] = []
    judges: list[dict[str, Any]] = []
    for number in range(samples):
        identity, truth = f"i{number}{word}", number % 5 != 0
        claim = {
            "id": identity,
            "claim": f"Town {number % 7}{word}",
            "quotes": [f"Town{word}"],
            "text": f"A Town{word}.",
        }
        items.append({**claim, "group": f"run {number // 4}{word}"})
        judge = {"id": identity, "by": f"model{word}", "kind": "judge"}
        judges.append({**judge, "label": truth if number % 6 else not truth if number % 4 else None})
        if number % 3:
            label = f"unsure{word}"[:6] if number % 50 == 7 else truth
            labels.append({"id": identity, "by": f"ann{word}", "kind": "human", "label": label, "note": f"so{word}"})
        else:
            labels.append({"id": identity, "by": f"bob{word}", "kind": "human", "label": int(truth)})
    write_lines(folder / _JUDGE, judges)
    return {
        "labels": write_lines(folder / "people.jsonl", labels),
        "items": write_lines(folder / "items.jsonl", items),
    }


# A new suite is a line here.
_WRITERS: dict[str, Callable[[Path, str, int], Paths]] = {
    "extraction": _extraction,
    "research": _research,
    "fields": _fields,
    "judged": _judged,
    "qa": _qa,
}


def write_inputs(suite: str, folder: Path, word: str = "", samples: int = SAMPLES) -> Paths:
    """The inputs of a suite, by name; `word` is put wherever an id, a name or a text of theirs is shown."""
    folder.mkdir(exist_ok=True, parents=True)
    return _WRITERS[suite](folder, word, samples)


def given(paths: Paths) -> dict[str, list[str]]:
    """The same as `evaluate` takes them."""
    return {name: [*map(str, _files(path))] for name, path in paths.items()}


def options(paths: Paths) -> list[str]:
    """The same as options of a command."""
    return [part for name, path in paths.items() for part in (f"--{name}", *map(str, _files(path)))]


def _files(path: Path) -> list[Path]:
    return [path, path.with_name(_JUDGE)] if path.name == "people.jsonl" else [path]
