"""Properties of whole evaluations: counts add up, order and split change nothing, records trace every number."""

from __future__ import annotations

import gzip
import io
import json
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import goldgate
from goldgate import Evaluation, Protocol
from goldgate.core.tally import Tally, total
from goldgate.suites.extraction.settings import CotSettings, ExtractionSettings, HallucinationSettings
from tests.examples import examples

from .strategies import SCHEMA, Json, good_events, protocols, samples

FILES = examples(60)  # each example writes and reads files
Samples = tuple[list[Json], list[Json]]


def evaluate(data: Samples, protocol: Protocol) -> Evaluation:
    return goldgate.evaluate(*data, SCHEMA, protocol, allow_empty=True)


def counted(evaluation: Evaluation, name: str) -> tuple[int, int]:
    metric: Any = evaluation.metrics[name].as_json()
    return metric["numerator"], metric["denominator"]


def value(evaluation: Evaluation, name: str) -> int:
    metric: Any = evaluation.metrics[name].as_json()
    return int(metric["value"])


def write(path: Path, records: list[Json], form: int) -> Path:
    lines = [json.dumps(record, ensure_ascii=form % 2 == 0).encode() for record in records]
    content = b"[" + b",\n".join(lines) + b"]" if form % 3 == 0 else b"\n".join(lines)
    path.write_bytes(gzip.compress(content) if form % 5 == 0 else content)
    return path


@st.composite
def cut(draw: st.DrawFn, records: list[Json]) -> list[list[Json]]:
    """The records in some order, cut into some files."""
    shuffled = draw(st.permutations(records))
    number = draw(st.integers(1, 3))
    places = sorted(draw(st.lists(st.integers(0, len(shuffled)), min_size=number - 1, max_size=number - 1)))
    return [shuffled[begin:end] for begin, end in zip([0, *places], [*places, len(shuffled)], strict=True)]


@FILES
@given(samples(), protocols(), st.data())
def test_order_and_split_into_files_change_nothing_but_the_inputs(
    data: Samples, protocol: Protocol, drawn: st.DataObject
) -> None:
    assume(data[0])  # gold without records is an error
    expected = evaluate(data, protocol).report
    with tempfile.TemporaryDirectory() as folder:
        names: list[list[Path]] = []
        for kind, records in zip(("gold", "predictions"), data, strict=True):
            parts = drawn.draw(cut(records))
            names.append(
                [
                    write(Path(folder) / f"{kind}{number}", part, drawn.draw(st.integers(1, 30)))
                    for number, part in enumerate(parts)
                ]
            )
        schema = Path(folder) / "schema.json"
        schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
        found = goldgate.evaluate_files(names[0], names[1], schema, protocol, allow_empty=True)
    report = json.loads(found.to_json())
    inputs = report.pop("inputs")
    assert sum(entry["samples"] for entry in inputs["gold"]) == len(data[0])
    assert sum(entry["samples"] for entry in inputs["predictions"]) == len(data[1])
    report.pop("signature")  # it names the digest of the schema, which a schema in memory has not
    report["stands_out"] = _but_for_files(report)
    expected = {**expected, "stands_out": _but_for_files(expected)}
    assert report == {k: v for k, v in json.loads(json.dumps(expected)).items() if k not in ("inputs", "signature")}


def _but_for_files(report: Json) -> list[Json]:
    """What stands out, but for what is said of the files themselves."""
    return [entry for entry in report["stands_out"] if entry["code"] != "gold_as_predictions"]


def _without_schema(protocol: Protocol) -> Protocol:
    from goldgate.suites.extraction.settings import SchemaSettings

    relaxed = protocol.section("metrics", ExtractionSettings).relaxed
    return Protocol(sections={"metrics": ExtractionSettings(relaxed=relaxed, schema=SchemaSettings("syntax_only"))})


def _many(size: int) -> Samples:
    """Samples of every kind, made by rule."""
    golds: list[Json] = []
    predictions: list[Json] = []
    for number in range(size):
        arguments = [{"role": "质押方", "argument": f"甲{number % 7}"}, {"role": "数量", "argument": str(number % 11)}]
        events = [{"event_type": "质押", "arguments": arguments}]
        golds.append({"id": f"s{number}", "text": f"甲{number % 5} {number}", "events": events[: number % 2]})
        if number % 3:
            golds[-1]["group"] = f"d{number % 40}"  # over shards
        text = json.dumps(events, ensure_ascii=False)
        kinds = [text, f"<think>质押，质押方甲</think>```json\n{text}\n```", text[:-3], "none", f"[{text[1:-1]},]"]
        if number % 6 < 5:
            predictions.append({"id": f"s{number}", "response": kinds[number % 6]})
        elif number % 4 == 0:
            predictions.append({"id": f"s{number}", "events": events})
    return golds, predictions


@pytest.mark.parametrize(
    "size",
    [pytest.param(3, id="less-than-a-shard", marks=pytest.mark.slow), pytest.param(1_600, id="several-shards")],
)
def test_number_of_workers_changes_no_byte(tmp_path: Path, size: int) -> None:
    golds, predictions = _many(size)
    paths = write(tmp_path / "g", golds, 1), write(tmp_path / "p", predictions[::-1], 1)
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
    protocol = Protocol(sections={"metrics": ExtractionSettings(cot=CotSettings(enabled=True))})
    results = []
    for workers in (1, 2):
        records = io.BytesIO()
        evaluation = goldgate.evaluate_files(*paths, schema, protocol, workers=workers, records=records)
        results.append((evaluation.to_json(), records.getvalue()))
    assert results[0] == results[1]
    assert results[0][1].count(b"\n") == size


@pytest.mark.parametrize("workers", [1, 2])
def test_first_mistake_is_the_same_whatever_the_workers(tmp_path: Path, workers: int) -> None:
    golds, predictions = _many(1_600)
    for number in (1_300, 700):
        golds[number]["text"] = 5
    paths = write(tmp_path / "g", golds, 1), write(tmp_path / "p", predictions, 1)
    with pytest.raises(goldgate.GoldgateError) as caught:
        goldgate.evaluate_files(*paths, None, _without_schema(Protocol()), workers=workers)
    assert (caught.value.code, caught.value.place.line) == ("gold.wrong_type", 701)


@given(samples(), protocols())
def test_relaxed_hits_are_never_fewer_than_strict_hits(data: Samples, protocol: Protocol) -> None:
    evaluation = evaluate(data, protocol)
    for name in ("precision", "recall", "f1"):
        strict, relaxed = counted(evaluation, f"strict_{name}"), counted(evaluation, f"relaxed_{name}")
        assert relaxed[0] >= strict[0]
        assert relaxed[1] == strict[1]
        assert relaxed[0] <= relaxed[1]


@given(st.lists(good_events, max_size=4), protocols(), st.booleans())
def test_predictions_that_are_gold_score_one(golds: list[list[Json]], protocol: Protocol, as_text: bool) -> None:
    records = [{"id": str(number), "events": events} for number, events in enumerate(golds)]
    predictions = [
        {"id": r["id"], **({"response": json.dumps(r["events"])} if as_text else {"events": r["events"]})}
        for r in records
    ]
    evaluation = evaluate((records, predictions), protocol)
    units = counted(evaluation, "strict_recall")[1]
    for prefix in ("strict", "relaxed"):
        for name in ("precision", "recall", "f1"):
            assert evaluation[f"{prefix}_{name}"] == (1 if units else None)
    assert evaluation["type_f1"] == (1 if any(golds) else None)
    assert sum(entry["value"] for entry in evaluation.report["errors"].values()) == 0


@given(samples(), protocols())
def test_parse_counts_add_up(data: Samples, protocol: Protocol) -> None:
    evaluation = evaluate(data, protocol)
    outcomes = [value(evaluation, name) for name in ("parse_raw_success", "parse_repair_success", "parse_errors")]
    assert sum(outcomes) == value(evaluation, "total_samples") == len(data[0])
    assert value(evaluation, "parse_extraction_failures") <= value(evaluation, "parse_errors")
    assert value(evaluation, "missing_predictions") == len(data[0]) - len(data[1])
    methods = evaluation.report["reading"]["methods"]
    assert sum(methods.values()) == len(data[1])
    assert methods["no_json_found"] == value(evaluation, "parse_extraction_failures")


@given(samples(), protocols())
def test_cot_buckets_add_up(data: Samples, protocol: Protocol) -> None:
    evaluation = evaluate(data, protocol)
    if not protocol.sections["metrics"].cot.enabled:
        assert evaluation["cot_checked"] is None
        return
    buckets = [value(evaluation, name) for name in ("cot_checked", "cot_skipped", "cot_parse_fail")]
    assert sum(buckets) == len(data[0])
    assert counted(evaluation, "cot_coverage_rate") == (buckets[0], len(data[0]))
    types, arguments, both = (
        counted(evaluation, f"cot_{name}")[0] for name in ("type_consistency", "argument_consistency", "faithfulness")
    )
    assert types + arguments - buckets[0] <= both <= min(types, arguments)


@given(samples(), protocols())
def test_error_names_add_up(data: Samples, protocol: Protocol) -> None:
    evaluation = evaluate(data, protocol)
    (hits, predicted), (_, gold) = counted(evaluation, "strict_precision"), counted(evaluation, "strict_recall")
    relaxed, _ = counted(evaluation, "relaxed_precision")
    errors = evaluation.report["errors"]
    assert sum(entry["false_positives"] for entry in errors.values()) == predicted - hits
    assert sum(entry["false_negatives"] for entry in errors.values()) == gold - hits
    assert errors["boundary"]["false_positives"] == errors["boundary"]["false_negatives"] == relaxed - hits
    for name in ("wrong_role", "wrong_type"):
        assert errors[name]["false_positives"] == errors[name]["false_negatives"]
    assert errors["missing"]["false_positives"] == errors["spurious"]["false_negatives"] == 0


def tallies(data: Samples, protocol: Protocol) -> list[Tally]:
    scorer = goldgate.load_scorer(SCHEMA, protocol)
    answers = {record["id"]: record.get("response", record.get("events")) for record in data[1]}
    return [scorer.score(answers.get(record["id"]), record).tally for record in data[0]]


@given(samples(), protocols(), st.data())
def test_any_split_of_the_samples_gives_the_same_tally(data: Samples, protocol: Protocol, drawn: st.DataObject) -> None:
    parts = tallies(data, protocol)
    shuffled = drawn.draw(st.permutations(parts))
    place = drawn.draw(st.integers(0, len(parts)))
    left, right = total(shuffled[:place]), total(shuffled[place:])
    whole = total(parts)
    assert total([left, right]) == total([right, left]) == whole
    scorer = goldgate.load_scorer(SCHEMA, protocol)
    assert scorer.metrics(whole) == evaluate(data, protocol).metrics


@FILES
@given(samples(), protocols(), st.sampled_from(["normalized_substring", "exact_span"]))
def test_sum_of_the_samples_records_is_the_report(data: Samples, protocol: Protocol, support: Any) -> None:
    assume(data[0])
    metrics = protocol.sections["metrics"]
    protocol = Protocol(
        sections={
            "metrics": ExtractionSettings(
                relaxed=metrics.relaxed,
                schema=metrics.schema,
                cot=metrics.cot,
                hallucination=HallucinationSettings(support),
            )
        }
    )
    records = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        schema = write(Path(folder) / "s", [], 1)
        schema.write_text(json.dumps(SCHEMA), encoding="utf-8")
        paths = write(Path(folder) / "g", data[0], 1), write(Path(folder) / "p", data[1], 1)
        evaluation = goldgate.evaluate_files(*paths, schema, protocol, allow_empty=True, records=records)
    summed: Counter[str] = Counter()
    for line in records.getvalue().splitlines():
        summed.update(_counts_of(json.loads(line)))
    report = evaluation.report
    assert counted(evaluation, "strict_precision") == (summed["hits"], summed["predicted"])
    assert counted(evaluation, "strict_recall") == (summed["hits"], summed["gold"])
    assert counted(evaluation, "relaxed_recall") == (summed["relaxed"], summed["gold"])
    assert counted(evaluation, "type_f1") == (2 * summed["type hits"], summed["types"])
    assert counted(evaluation, "schema_compliance_rate") == (summed["compliant"], summed["samples"])
    assert counted(evaluation, "hallucination_rate") == (summed["hallucinating"], summed["with text"])
    assert counted(evaluation, "hallucination_entity_rate") == (summed["unsupported"], summed["checked"])
    assert value(evaluation, "missing_predictions") == summed["parse none"]
    assert value(evaluation, "parse_raw_success") == summed["parse raw"]
    assert value(evaluation, "parse_repair_success") == summed["parse repaired"]
    assert value(evaluation, "parse_errors") == summed["parse error"] + summed["parse none"]
    for name, entry in report["errors"].items():
        assert entry["value"] == summed[f"error {name}"]
    for name, entry in report["reading"]["violations"].items():
        assert entry["occurrences"] == summed[f"violation {name}"]
    assert sum(report["reading"]["repairs"].values()) == summed["repairs"]
    if metrics.cot.enabled:
        for bucket in ("cot_checked", "cot_skipped", "cot_parse_fail"):
            assert value(evaluation, bucket) == summed[bucket]
        assert counted(evaluation, "cot_faithfulness")[0] == summed["faithful"]


def _counts_of(record: Json) -> Counter[str]:
    """What one record of samples.jsonl says, counted anew."""
    counts: Counter[str] = Counter(samples=1)
    gold, predicted = (
        {(name, *pair) for name, pairs in record[side].items() for pair in pairs} for side in ("gold", "predicted")
    )
    hits = gold & predicted
    moved = {tuple(pair["predicted"]) for pair in record["relaxed_pairs"]}
    types = record["gold"].keys(), record["predicted"].keys()
    counts.update(
        {
            "gold": len(gold),
            "predicted": len(predicted),
            "hits": len(hits),
            "relaxed": len(hits - moved) + len(record["relaxed_pairs"]),  # a hit may be rerouted into pairs
            "types": len(types[0]) + len(types[1]),
            "type hits": len(types[0] & types[1]),
            "compliant": not record["violations"],
            "parse " + (record["parse"]["status"] if record["parse"] else "none"): 1,
        }
    )
    counts.update(f"error {error['error']}" for error in record["errors"])
    counts.update(f"violation {found['violation']}" for found in record["violations"])
    if record["parse"] and record["parse"]["status"] == "repaired":
        counts["repairs"] += len(record["parse"]["repairs"])
    if record["hallucination"]:
        unsupported = len(record["hallucination"]["unsupported"])
        counts.update({"with text": 1, "hallucinating": unsupported > 0, "unsupported": unsupported})
        counts["checked"] += record["hallucination"]["checked"]
    if record["cot"]:
        counts[record["cot"]["bucket"]] += 1
        counts["faithful"] += record["cot"]["type_consistent"] and record["cot"]["argument_consistent"]
    return counts
