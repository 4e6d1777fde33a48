"""Supported claims: labels of people and judges on the verified claims of runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldgate import evaluate_outputs
from goldgate.cli.main import goldgate
from goldgate.core.evaluation import Evaluation
from goldgate.core.tally import Tally
from goldgate.errors import GoldgateError
from goldgate.pipeline import evaluate_suite
from goldgate.suites import load_suite
from goldgate.suites.research.measures import SupportedClaims, Trial
from tests.judged.labelling import shown_sha256
from tests.unit.helpers import count_units

from .trees import SHA256, claim, evidence, lines, output, query, write_golden, write_run

RATE = "claim_support_rate"
RUNS = 12


def label(name: str, said: Any, kind: str = "human", **more: Any) -> dict[str, Any]:
    return {"id": name, "label": said, "by": "ann" if kind == "human" else "model", "kind": kind, **more}


class Study:
    """Twelve runs with two claims that have valid evidence each; the first six also have one without."""

    def __init__(self, folder: Path, runs: int = RUNS, failing: int = 6) -> None:
        self.folder, self.outputs = folder, folder / "outputs"
        self.golden = write_golden(folder, *(query(f"Question {n}?") for n in range(runs)))
        self.items, self.failing = [], []
        for n in range(runs):
            name = f"run_{n:02}"
            claims = [claim("k1"), {**claim("k2"), "statement": f"Ships waited, says source {n}."}]
            claims += [claim("k3", ("nowhere",))] if n < failing else []
            out = output(f"r{n}", objective=f"Question {n}?", claims=claims, evidence=[evidence()])
            write_run(self.outputs, name, out)
            self.items += [f"{name}/k1", f"{name}/k2"]
            self.failing += [f"{name}/k3"] if n < failing else []

    def write(self, name: str, labels: Sequence[dict[str, Any]]) -> str:
        (self.folder / name).write_text(lines(*labels), encoding="utf-8")
        return str(self.folder / name)

    def evaluate(self, labels: Sequence[dict[str, Any]], protocol: str | None = None, **options: Any) -> Evaluation:
        judges = [each for each in labels if each["kind"] == "judge"]
        files = {"labels.jsonl": [each for each in labels if each not in judges], "judge.jsonl": judges}
        paths = [self.write(name, own) for name, own in files.items() if own]
        rules = None if protocol is None else self.write_protocol(protocol)
        return evaluate_outputs(self.golden, self.outputs, rules, labels=paths, **options)

    def sample(self, size: int, *more: object) -> Path:
        """What goldgate sample draws from a result that is made now."""
        result, draw = self.folder / "result", self.folder / "drawn.jsonl"
        shutil.rmtree(result, ignore_errors=True)
        cli("research", "--golden", self.golden, "--outputs", self.outputs, "--out", result, "--quiet", status=1)
        cli("sample", "--from", result, "--n", size, *more, "--out", draw)
        return draw

    def drawn(self, draw: Path) -> list[str]:
        return [json.loads(line)["id"] for line in draw.read_text(encoding="utf-8").splitlines()[1:]]

    def labels(self, draw: Path, kind: str = "human") -> list[dict[str, Any]]:
        """The labels of what was drawn, as goldgate label and goldgate judge write them."""
        header, *items = map(json.loads, draw.read_text(encoding="utf-8").splitlines())
        drawn = {"drawn": header["n"]} if kind == "human" else {}
        return [label(each["id"], True, kind, item_sha256=shown_sha256(each), **drawn) for each in items]

    def rewrite(self, runs: Iterable[Path], change: Callable[[list[Any], list[Any]], None]) -> None:
        for run in [*runs]:
            path = run / "research_output.json"
            whole = json.loads(path.read_text(encoding="utf-8"))
            change(whole["claims"], whole["evidence"])
            path.write_text(json.dumps(whole), encoding="utf-8")

    def write_protocol(self, text: str) -> Path:
        path = self.folder / "protocol.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    def refusal(self, labels: Sequence[dict[str, Any]], protocol: str | None = None, **options: Any) -> GoldgateError:
        with pytest.raises(GoldgateError) as caught:
            self.evaluate(labels, protocol, **options)
        return caught.value


def cli(*words: object, status: int = 0) -> str:
    result = CliRunner().invoke(goldgate, [*map(str, words)])
    assert result.exit_code == status, result.output
    return result.output


def found(evaluation: Evaluation) -> dict[str, Any]:
    return dict(evaluation.report["metrics"]["companions"][RATE])


def codes(evaluation: Evaluation) -> list[str]:
    return [each["code"] for each in evaluation.report["stands_out"]]


def test_the_rate_by_hand(tmp_path: Path) -> None:
    """24 of 30 verified claims have valid evidence. People find 18 of the 24 supported: 18/30."""
    study = Study(tmp_path)
    people = [label(name, number % 4 != 0) for number, name in enumerate(study.items)]
    result = study.evaluate(people)
    assert found(result)["value"] == 0.6
    assert result.report["support"] == {
        "claims": 30,
        "items": 24,
        "labelled": 24,
        "unsure": 0,
        "without_judge_label": 0,
        "sampling": "complete",
        "people": ["ann"],
        "judges": [],
        "label_draws": None,
        "draw": None,
    }
    # w = √(24/12), n' = 24 + 2w, r̄' = (18 + w)/n'; share ρ = 24/30, θ = 18/24. Six of the twelve runs have labels 0 and
    # 1, six 1 and 1; three of each kind have one more claim, which is 0.
    w, rho, theta = 2**0.5, 24 / 30, 18 / 24
    size = 24 + 2 * w
    mean = (18 + w) / size
    squares = (rho * w * (1 - mean) / size) ** 2 + (rho * w * mean / size) ** 2
    for ones in (1, 2):
        for claims in (2, 3):
            u = rho * (ones - 2 * mean) / size + theta * (2 - rho * claims) / 30
            squares += 3 * u * u
    variance, p = 14 / 13 * squares, rho * mean
    n, t, rate = p * (1 - p) / variance, 2.200985, 0.6
    middle, scale = rate + t * t / (2 * n), 1 + t * t / n
    half = t * (rate * (1 - rate) / n + t * t / (4 * n * n)) ** 0.5
    interval = result.interval(RATE)
    assert interval is not None
    assert interval[0] == pytest.approx((middle - half) / scale, abs=1e-6)
    assert interval[1] == pytest.approx((middle + half) / scale, abs=1e-6)


def test_a_claim_that_fails_the_mechanical_checks_counts_0_whatever_labels_say(tmp_path: Path) -> None:
    study = Study(tmp_path)
    people = [label(name, True) for name in study.items]
    lenient = [label(name, True) for name in study.failing]
    judged = [label(name, True, "judge") for name in (*study.items, *study.failing)]
    assert found(study.evaluate([*people, *lenient, *judged]))["value"] == 0.8
    assert found(study.evaluate([*people, *lenient]))["value"] == 0.8


def test_claims_of_a_broken_run_count_0(tmp_path: Path) -> None:
    """Two runs with one run_id and different content are both broken: 4 of 24 claims are 0, with or without a judge."""
    study = Study(tmp_path, failing=0)
    whole = json.loads((study.outputs / "run_00" / "research_output.json").read_text(encoding="utf-8"))
    path = study.outputs / "run_01" / "research_output.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), "run_id": whole["run_id"]}))
    people = [label(name, True) for name in study.items]
    judged = [label(name, True, "judge") for name in study.items]
    assert found(study.evaluate(people))["value"] == pytest.approx(20 / 24)
    assert found(study.evaluate([*people, *judged]))["value"] == pytest.approx(20 / 24)


@pytest.mark.parametrize("drawn", [20, 24])
def test_without_failing_claims_it_is_the_rate_of_goldgate_judged(tmp_path: Path, drawn: int) -> None:
    study = Study(tmp_path, failing=0)
    result, items, draw = (tmp_path / name for name in ("result", "items.jsonl", "drawn.jsonl"))
    cli("research", "--golden", study.golden, "--outputs", study.outputs, "--out", result, "--quiet", status=1)
    cli("sample", "--from", result, "--n", drawn, "--out", draw, "--items", items)
    chosen = [json.loads(line)["id"] for line in draw.read_text(encoding="utf-8").splitlines()[1:]]
    people = [label(name, "unsure" if n == 3 else n % 5 != 0) for n, name in enumerate(chosen)]
    judged = [label(name, n % 3 != 0, "judge") for n, name in enumerate(study.items)]
    mine = study.evaluate([*people, *judged], draw=draw)
    inputs = {"labels": [str(tmp_path / "labels.jsonl")], "items": [str(items)], "draw": [str(draw)]}
    other = evaluate_suite(load_suite("judged"), inputs)
    assert found(mine)["value"] == other.report["metrics"]["main"]["rate"]["value"]
    assert mine.interval(RATE) == other.interval("rate")
    assert (mine.report["support"]["sampling"], mine.report["support"]["unsure"]) == ("drawn", 1)
    assert "unsure" in codes(mine)


def test_a_gate_has_95_percent_confidence_and_passes_or_fails(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    people = [label(name, True) for name in study.items]
    protocol = "gates: {claim_support_rate: {min: %s}}\n"
    verdicts = {}
    for bound in ("0.6", "0.95"):
        result = study.evaluate(people, protocol % bound)
        gate = next(gate for gate in result.report["gates"] if gate["metric"] == RATE)
        assert gate["confidence"] == "0.95"
        verdicts[bound] = gate["verdict"]
    assert verdicts == {"0.6": "PASS", "0.95": "INCONCLUSIVE"}
    bad = study.evaluate([label(name, False) for name in study.items], protocol % "0.6")
    assert next(gate for gate in bad.report["gates"] if gate["metric"] == RATE)["verdict"] == "FAIL"


def test_a_failed_gate_names_the_claims_that_are_not_supported(tmp_path: Path) -> None:
    study = Study(tmp_path)
    people = [label(name, not name.startswith("run_11")) for name in study.items]
    report = study.evaluate(people, "gates: {claim_support_rate: {min: 0.99}}\n").report
    (causes,) = (each for each in report["causes"] if each["metric"] == RATE)
    assert [cause["message"] for cause in causes["first"]] == [
        "query 'Question 11?': the claim run_11/k1 has the label 0 of people",
        "query 'Question 11?': the claim run_11/k2 has the label 0 of people",
        "query 'Question 0?': the claim k3 is verified and not covered: nowhere is not in the ledger",
    ]
    assert causes["more"] == len(study.failing) - 1


def test_it_is_not_gated_by_default_and_not_there_without_labels(tmp_path: Path) -> None:
    study = Study(tmp_path)
    plain = evaluate_outputs(study.golden, study.outputs)
    assert RATE not in plain.report["metrics"]["companions"]
    assert not {"labels", "draw"} & plain.report["inputs"].keys()
    assert "support" not in plain.report
    labelled = study.evaluate([label(name, True) for name in study.items])
    assert [gate["metric"] for gate in labelled.report["gates"]] == [gate["metric"] for gate in plain.report["gates"]]


def test_the_measure_by_itself_has_no_rate_of_trials_without_labels() -> None:
    measure = SupportedClaims()
    assert measure.metrics(count_units([measure], [Trial(None, None)])) == {}
    assert measure.metrics(Tally())["claim_support_rate"].reason == "no labels of claims were given"


def test_a_gate_without_labels_says_what_is_missing(tmp_path: Path) -> None:
    study = Study(tmp_path)
    protocol = study.write_protocol("gates: {claim_support_rate: {min: 0.8}}\n")
    with pytest.raises(GoldgateError) as caught:
        evaluate_outputs(study.golden, study.outputs, protocol)
    assert caught.value.code == "labels.none_given"
    assert "--labels" in str(caught.value.advice)
    with pytest.raises(GoldgateError) as caught:
        evaluate_outputs(study.golden, study.outputs, protocol, labels=tmp_path / "nowhere.jsonl")
    assert caught.value.code == "labels.missing"


def test_few_labels_or_runs_leave_it_undefined(tmp_path: Path) -> None:
    study = Study(tmp_path, runs=9, failing=0)
    few = study.evaluate([label(name, True) for name in study.items])
    assert found(few)["value"] is None
    assert found(few)["reason"] == "a rate needs labels of people in at least 10 runs (found 9)"
    none = study.evaluate([label(name, True, "judge") for name in study.items])
    assert found(none)["reason"] == "no item has a label of a person"


def test_labels_of_claims_that_are_not_there_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path)
    people = [label(name, True) for name in study.items]
    for unknown in (label("run_00/k9", True), label("other/k1", 1, "judge"), label("run_00/k1", 1, question="tone")):
        error = study.refusal([*people, unknown])
        assert error.code == "labels.unknown_id"
        assert str(unknown["id"]) in str(error.found)
        assert "goldgate sample --from RESULT" in str(error.advice)


def test_labels_of_nice_claims_alone_are_refused_unless_trusted_which_stands_out(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    nice = [label(name, True) for name in study.items[::2]]
    error = study.refusal(nice)
    assert error.code == "labels.not_a_draw"
    assert "research: {sampling: trusted}" in str(error.advice)
    trusted = study.evaluate(nice, "research: {sampling: trusted}\n")
    assert found(trusted)["value"] == 1
    assert "trusted_sampling" in codes(trusted)
    assert "sampling:trusted" in trusted.report["signature"]


def test_a_draw_of_other_claims_and_labels_beside_the_draw_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    people = [label(name, True) for name in study.items]
    assert study.refusal(people, draw=study.sample(20)).code == "labels.not_drawn"
    items, draw = tmp_path / "items.jsonl", tmp_path / "drawn.jsonl"
    items.write_text(lines(*({"id": name} for name in study.items[1:])), encoding="utf-8")
    cli("sample", "--from", items, "--n", 20, "--out", draw)
    error = study.refusal(people, draw=draw)
    assert error.code == "draw.other_items"
    assert "goldgate sample --from RESULT" in str(error.advice)
    items.write_text(lines(*({"id": name, "group": name[:6]} for name in study.items)), encoding="utf-8")
    cli("sample", "--from", items, "--n", 24, "--by", "group", "--out", draw, status=0)
    assert study.refusal(people, draw=draw).code == "draw.strata"
    cli("sample", "--from", items, "--n", 20, "--out", draw)
    error = study.refusal(people, draw=draw)
    assert error.code == "draw.items_changed"
    assert "20 of the 20 drawn items" in str(error.found)
    assert "draw from that result, which draws the same claims" in str(error.advice)


def reverse(claims: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    for each in claims:
        each["statement"] = f"It is not so: {each['statement']}"


def quote_less(claims: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    records[:] = [evidence(quote="froze")]


def quote_elsewhere(claims: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
    records.append(evidence("e2", quote="harbour of Oldwick"))
    for each in claims:
        each["evidence_ids"] = ["e2"]


@pytest.mark.parametrize("change", [reverse, quote_less, quote_elsewhere])
def test_old_labels_do_not_count_for_new_claims_under_the_same_ids(change: Any, tmp_path: Path) -> None:
    """The ids give the same draw, so that the old labels fit it."""
    study = Study(tmp_path, failing=0)
    draw = study.sample(20)
    people, before = study.labels(draw), draw.read_bytes()
    assert found(study.evaluate(people, draw=draw))["value"] == 1
    assert study.sample(20).read_bytes() == before
    assert codes(study.evaluate(people, draw=draw)).count("unknown_items") == 0
    study.rewrite(study.outputs.iterdir(), change)
    error = study.refusal(people, draw=draw)
    assert error.code == "draw.items_changed"
    assert "20 of the 20 drawn items" in str(error.found)
    assert study.drawn(study.sample(20)) == [each["id"] for each in people]
    error = study.refusal(people, draw=draw)
    assert error.code == "labels.other_item"
    first = min(range(20), key=lambda n: people[n]["id"])
    assert (error.place.line, error.place.field) == (first + 1, "item_sha256")
    assert "goldgate label" in str(error.advice)


def test_labels_do_not_count_if_the_source_around_a_quote_was_changed(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    draw = study.sample(20)
    people = study.labels(draw)
    for chunks in study.outputs.glob("*/chunks.jsonl"):
        text = chunks.read_text(encoding="utf-8")
        chunks.write_text(text.replace("froze in 1871.", "froze in 1871, or so they say."), encoding="utf-8")
    assert study.refusal(people, draw=draw).code == "draw.items_changed"
    study.sample(20)
    assert study.refusal(people, draw=draw).code == "labels.other_item"


def test_claims_that_were_not_drawn_cannot_be_rewritten(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    draw = study.sample(20)
    people = study.labels(draw)
    undrawn = next(name for name in study.items if name not in study.drawn(draw))
    run, _, name = undrawn.partition("/")

    def ease(claims: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
        for each in claims:
            each["statement"] = "Ships." if each["claim_id"] == name else each["statement"]

    study.rewrite([study.outputs / run], ease)
    error = study.refusal(people, draw=draw)
    assert (error.code, error.found) == ("draw.items_changed", "other content in items that were not drawn")


def test_labels_of_a_judge_for_other_claims_are_refused(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    draw = study.sample(24)
    judged = study.labels(draw, "judge")
    study.rewrite(study.outputs.iterdir(), reverse)
    people = study.labels(study.sample(24))
    assert study.refusal([*people, *judged], draw=draw).code == "labels.two_items"
    assert study.refusal(judged, draw=draw).code == "labels.other_item"


def test_labels_that_do_not_say_what_was_shown_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    people = [label(name, True) for name in study.items]
    judged = [label(name, n % 3 > 0, "judge") for n, name in enumerate(study.items)]
    remarks = study.evaluate([*people, *judged]).report["stands_out"]
    [remark] = [each for each in remarks if each["code"] == "unknown_items"]
    assert remark["counts"] == {"people": 24, "judges": 24}


def test_labels_taken_off_the_end_of_a_draw_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    people = study.labels(study.sample(24))
    draw = study.sample(20)
    kept = people[:20]
    assert [each["id"] for each in kept] == study.drawn(draw)
    judged = study.labels(draw, "judge")[:10]
    result = study.evaluate([*kept, *judged], draw=draw)
    assert "other_draw_size" in codes(result)
    assert result.report["support"]["label_draws"]["sizes"] == [24]
    later = [{**each, "drawn": 20} for each in kept[:12]] + kept[12:]
    judged = [{**each, "label": n < 15} for n, each in enumerate(study.labels(draw, "judge"))]
    draws = study.evaluate([*later, *judged], draw=draw).report["support"]["label_draws"]
    assert (draws["first_agreed"], draws["first_compared"]) == (12, 12)
    assert (draws["later_agreed"], draws["later_compared"]) == (3, 8)


@pytest.mark.parametrize("with_size", [True, False])
def test_labels_of_claims_that_are_verified_no_more_stand_out(with_size: bool, tmp_path: Path) -> None:
    """Every claim has a label; then those that people do not find supported are made candidates."""
    study = Study(tmp_path, failing=0)
    labels = [{**each, "label": each["id"][-1] == "1"} for each in study.labels(study.sample(24))]
    labels = labels if with_size else [{key: each[key] for key in each if key != "drawn"} for each in labels]
    before = study.evaluate(labels)
    assert found(before)["value"] == 0.5
    assert not {"labels_outside", "other_draw_size"} & {*codes(before)}

    def demote(claims: list[dict[str, Any]], records: list[dict[str, Any]]) -> None:
        claims[1]["status"] = "candidate"

    study.rewrite(study.outputs.iterdir(), demote)
    result = study.evaluate(labels)
    assert found(result)["value"] == 1
    [remark] = [each for each in result.report["stands_out"] if each["code"] == "labels_outside"]
    assert remark["counts"] == {"claims": 12}
    assert ("other_draw_size" in codes(result)) is with_size


def test_judging_sees_the_items_that_goldgate_sample_makes_of_odd_runs(tmp_path: Path) -> None:
    """Quotes that need folding, spans alone, two records under one id, sources that are artifacts or not stored."""
    study = Study(tmp_path, failing=0)
    curly = evidence("e1", "c3", quote=None) | {"quote": 'mayor "thanked" the  crews', "span": None}
    span = {**evidence("e1", quote=None), "span": {"start": 4, "end": 22}}
    other, source = evidence("e2", quote="froze"), {"source_id": "annals", "content_hash": SHA256}
    odd: list[tuple[list[Any], dict[str, Any]]] = [
        ([curly], {}),
        ([span], {}),
        ([evidence(), other, {**other, "quote": "harbour"}], {}),
        ([evidence("e1", "c1", quote="Ships waited", provenance=source)], {"chunks": [], "artifact": True}),
        ([evidence("e1", "c1", quote="of no text")], {"chunks": []}),
    ]
    for number, (records, more) in enumerate(odd):
        path = study.outputs / f"run_{number:02}" / "research_output.json"
        whole = json.loads(path.read_text(encoding="utf-8"))
        for each in whole["claims"]:
            each["evidence_ids"] = ["e1", "e2", "e1"]
        shutil.rmtree(path.parent)
        write_run(study.outputs, path.parent.name, {**whole, "evidence": records}, **more)
    draw = study.sample(24)
    assert {*study.drawn(draw)} == {*study.items}
    assert found(study.evaluate(study.labels(draw), draw=draw))["value"] == 1
    quotes = {item["id"]: item["quotes"] for item in map(json.loads, draw.read_text(encoding="utf-8").splitlines()[1:])}
    assert quotes["run_00/k1"][0]["text"] == "mayor “thanked” the crews"
    assert [quote["text"] for quote in quotes["run_02/k1"]] == ["froze in 1871"]
    assert "froze in 1871" in quotes["run_03/k1"][0]["source"]
    assert quotes["run_04/k1"] == [{"text": "of no text"}]


def test_what_stands_out_in_the_labels_of_judged_items_stands_out_here(tmp_path: Path) -> None:
    study = Study(tmp_path, runs=30, failing=0)
    draw = study.sample(30)
    names = study.drawn(draw)
    judged = [label(name, name not in names[:25], "judge") for name in study.items]
    people = [label(name, "unsure" if n == 0 else n % 5 > 0) for n, name in enumerate(names)]
    again = [{**label(names[0], True), "by": "Ann"}]
    result = study.evaluate([*people, *again, *judged], draw=draw)
    assert {"uneven_judge", "alike_names", "unsure_overruled"} <= {*codes(result)}
    before = study.write("before.jsonl", [label(name, True, "judge") for name in study.items])
    draw = study.sample(30, "--labels", before)
    assert "other_judge_labels" in codes(study.evaluate([*people, *judged], draw=draw))


def test_copied_labels_stand_out(tmp_path: Path) -> None:
    study = Study(tmp_path, failing=0)
    both = [label(name, n % 3 != 0, kind) for n, name in enumerate(study.items) for kind in ("human", "judge")]
    assert "high_agreement" in codes(study.evaluate(both))


def test_any_order_and_number_of_workers_give_the_same_report(tmp_path: Path) -> None:
    study = Study(tmp_path)
    labels = [label(name, n % 4 != 0) for n, name in enumerate(study.items)]
    labels += [label(name, n % 3 / 2, "judge") for n, name in enumerate(study.items)]
    one, two = study.evaluate(labels), study.evaluate(labels[::-1], workers=2)
    assert one.report["metrics"] == two.report["metrics"]
    assert Fraction(found(one)["value"]) > 0


def test_a_stored_result_is_verified_compared_and_leads_from_a_claim_to_its_labels(tmp_path: Path) -> None:
    study = Study(tmp_path)
    people = study.write("people.jsonl", [label(name, True, note=f"see {name}") for name in study.items])
    judged = study.write("judge.jsonl", [label(name, False, "judge") for name in study.items])
    inputs = ["--golden", study.golden, "--outputs", study.outputs]
    for name, more in (("plain", []), ("labelled", ["--labels", people, judged])):
        cli("research", *inputs, *more, "--out", tmp_path / name, "--quiet", status=1)
        cli("verify", tmp_path / name)
    cli("compare", tmp_path / "plain", tmp_path / "labelled")
    page = (tmp_path / "labelled" / "report.html").read_text(encoding="utf-8")
    assert "ann: yes, “see run_" in page
    assert "model (judge): no" in page
    Path(people).write_text(lines(*(label(name, False) for name in study.items)), encoding="utf-8")
    assert "labels" in cli("verify", tmp_path / "labelled", status=1)
