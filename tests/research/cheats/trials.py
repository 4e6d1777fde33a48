"""Runs that are added, so that good ones outweigh the bad, or moved out of the way."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import cheat
from .editing import append_events, clone, edit, edit_lines, output, save

GOOD = ("run_a2", "run_a3", "run_a6", "run_n0")  # of the failing example


@cheat("cloned_run")
def forty_clones_of_good_runs(outputs: Path) -> None:
    for number in range(40):
        clone(outputs / GOOD[number % 4], f"clone{number}")


@cheat("cloned_run")
def clones_with_keys_in_another_order_and_blanks(outputs: Path) -> None:
    for number in range(8):
        run = clone(outputs / GOOD[number % 4], f"clone{number}")
        value = dict(reversed(output(run).items()))
        (run / "research_output.json").write_text(json.dumps(value, indent=number + 1) + "\n" * number)


@cheat("cloned_run")
def clones_with_other_times_ids_and_nonces(outputs: Path) -> None:
    for number in range(8):
        _stamp(clone(outputs / GOOD[number % 4], f"clone{number}"), number)


def _stamp(run: Path, number: int) -> None:
    times = {"timestamp": f"2024-05-{number + 1:02}T10:00:00Z", "duration_ms": number * 17}
    edit_lines(run / "events.jsonl", lambda event: event.update(times, event_id=f"{number:032x}"))
    edit(run, lambda value: value.update(nonce=f"nonce {number}", created_at=1_700_000_000 + number))


@cheat("cloned_run")
def clones_with_renamed_claims_records_and_chunks(outputs: Path) -> None:
    for number in range(4):
        _rename(clone(outputs / "run_a2", f"clone{number}"), f"-{number}")


def _rename(run: Path, suffix: str) -> None:
    value = output(run)
    for claim in value["claims"]:
        claim["claim_id"] += suffix
    for record in value["evidence"]:
        record["chunk_id"] += suffix
    save(run, value)
    edit_lines(run / "chunks.jsonl", lambda chunk: chunk.update(chunk_id=chunk["chunk_id"] + suffix))
    log = run / "events.jsonl"
    log.write_text(log.read_text().replace('"claim_id": "claim-1"', f'"claim_id": "claim-1{suffix}"'))
    log.write_text(log.read_text().replace('"claim_id": "claim-2"', f'"claim_id": "claim-2{suffix}"'))


@cheat("cloned_run")
def clones_whose_statements_differ_in_case_dots_and_invisible_signs(outputs: Path) -> None:
    for number in range(4):
        run = clone(outputs / "run_a2", f"clone{number}")
        value = output(run)
        for claim in value["claims"]:
            claim["statement"] = claim["statement"].upper().replace(" ", " \u200b ") + "." * number
        value["claims"].reverse()
        save(run, value)


@cheat("cloned_run")
def clones_with_signs_that_nobody_sees_inside_words(outputs: Path) -> None:
    for number, sign in enumerate("\u2060\ufe0f\u034f\u00ad\u3164\U000e0041"):
        _respell(clone(outputs / "run_a2", f"clone{number}"), _inserted(sign))


@cheat("cloned_run")
def clones_in_wide_letters(outputs: Path) -> None:
    wide = {code: code + 0xFEE0 for code in range(ord("!"), ord("~") + 1)}
    _respell(clone(outputs / "run_a2", "wide"), lambda text: text.translate(wide))


@cheat("cloned_run")
def clones_with_blanks_inside_words(outputs: Path) -> None:
    _respell(clone(outputs / "run_a2", "blanks"), _inserted(" "))


def _inserted(sign: str) -> Callable[[str], str]:
    return lambda text: f"{text[:2]}{sign}{text[2:]}"


def _respell(run: Path, change: Callable[[str], str]) -> None:
    """Statements, retrieval queries, quotes, and the chunks that they are in."""
    value = output(run)
    for claim in value["claims"]:
        claim["statement"] = change(claim["statement"])
    for record in value["evidence"]:
        record["quote"] = change(record["quote"])
        record.pop("span", None)
    save(run, value)
    quotes = "\n".join(record["quote"] for record in value["evidence"])
    edit_lines(run / "chunks.jsonl", lambda chunk: chunk.update(text=quotes) or chunk.pop("text_hash", None))
    edit_lines(run / "manifests.jsonl", lambda step: step.update(retrieval_query=change(step["retrieval_query"])))
    shutil.rmtree(run / "artifacts", ignore_errors=True)


def _pad(run: Path, text: str) -> None:
    """Add twelve claims, covered as the first one is."""

    def pad(value: dict[str, Any]) -> None:
        first = value["claims"][0]
        statements = [f"{text} {number:b}".replace("0", "a").replace("1", "b") for number in range(12)]
        value["claims"] += [{**first, "claim_id": f"p{n}", "statement": s} for n, s in enumerate(statements)]

    edit(run, pad)


@cheat("worse_reading")
def failing_trials_are_equal_where_good_ones_differ(outputs: Path) -> None:
    """Three trials of a query: merged, two of three failing ones vanish."""
    for name in (*GOOD, "run_a0", "run_a1", "run_a4", "run_n2"):
        for text in ("again", "once more"):
            run = clone(outputs / name, f"{name[4:]}-{text[:4]}")
            if name in GOOD[:3]:
                _pad(run, text)
        if name in GOOD[:3]:
            _pad(outputs / name, "first")


@cheat("worse_reading")
def failing_trials_are_equal_and_good_ones_copied(outputs: Path) -> None:
    """Merged, failing trials vanish; counted, copies of good ones outweigh them."""
    failing_trials_are_equal_where_good_ones_differ(outputs)
    for run in sorted(outputs.iterdir()):
        for number in range(4 if run.name[:6] in GOOD[:3] else 0):
            clone(run, f"{run.name[4:]}-{number}")


@cheat("alike_runs")
def clones_with_one_step_more(outputs: Path) -> None:
    for number in range(4):
        run = clone(outputs / "run_a2", f"clone{number}")
        for step in range(4, 5 + number):
            event = {"run_id": f"clone{number}", "step_id": step, "event_type": "retrieval", "payload": {}}
            manifest = {**json.loads((run / "manifests.jsonl").read_text().splitlines()[0]), "step_id": step}
            for name, record in (("events.jsonl", event), ("manifests.jsonl", manifest)):
                with (run / name).open("a") as stream:
                    stream.write(json.dumps(record) + "\n")


@cheat("alike_runs")
def clones_with_one_record_and_one_candidate_more(outputs: Path) -> None:
    for number in range(4):
        run = clone(outputs / "run_a2", f"clone{number}")
        value = output(run)
        value["evidence"].append({**value["evidence"][0], "evidence_id": f"more-{number}"})
        value["claims"].append({**value["claims"][0], "claim_id": "more", "status": "candidate"})
        value["claims"][-1]["statement"] += " again" * number
        save(run, value)


@cheat("too_few_trials")
def different_runs_of_the_easy_queries(outputs: Path) -> None:
    words = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    for number in range(40):
        run = clone(outputs / GOOD[number % 4], f"again{number}")
        _reword(run, f"{words[number % 10]} and {words[number // 10]}")


def _reword(run: Path, text: str) -> None:
    edit_lines(run / "manifests.jsonl", lambda value: value.update(retrieval_query=text))
    edit(run, lambda value: [claim.update(statement=text) for claim in value["claims"]])


@cheat("unknown_objective")
def a_run_of_no_query_with_a_thousand_covered_claims(outputs: Path) -> None:
    def pad(value: dict[str, Any]) -> None:
        value["objective"] = "Anything else?"
        first = value["claims"][0]
        value["claims"] = [{**first, "claim_id": f"k{n}", "statement": f"{n:b}".replace("0", "a")} for n in range(1000)]

    run = clone(outputs / "run_a2", "stranger")
    edit(run, pad)
    edit_lines(run / "events.jsonl", lambda event: event["payload"].pop("objective", None))


@cheat("repeated_claim")
def one_claim_a_thousand_times(outputs: Path) -> None:
    def pad(value: dict[str, Any]) -> None:
        value["objective"] = "Anything else?"
        value["claims"] = value["claims"][:1] * 1000

    run = clone(outputs / "run_a2", "stranger")
    edit(run, pad)


@cheat("conflicting_claim")
def one_claim_id_with_a_thousand_statements(outputs: Path) -> None:
    def pad(value: dict[str, Any]) -> None:
        first = value["claims"][0]
        value["claims"] = [{**first, "statement": f"Statement {number}"} for number in range(1000)]

    edit(outputs / "run_a2", pad)


@cheat("claim_not_covered")
def claims_without_ids(outputs: Path) -> None:
    def pad(value: dict[str, Any]) -> None:
        first = {key: item for key, item in value["claims"][0].items() if key != "claim_id"}
        value["claims"] += [first] * 1000

    edit(outputs / "run_a2", pad)


@cheat("missing_run", lifts="evidence_coverage_rate")
def failing_runs_are_taken_away(outputs: Path) -> None:
    for name in ("run_a0", "run_a1", "run_a4", "run_n1", "run_n2", "run_n3"):
        shutil.rmtree(outputs / name)


@cheat("contradiction")
def failing_runs_are_given_another_objective(outputs: Path) -> None:
    for name in ("run_a0", "run_a1", "run_a4", "run_n1", "run_n2"):
        edit(outputs / name, lambda value: value.update(objective="Something that nobody asked"))


@cheat("contradiction")
def failing_runs_log_another_objective_first(outputs: Path) -> None:
    for name in ("run_a0", "run_a1", "run_a4", "run_n1", "run_n2"):
        log = outputs / name / "events.jsonl"
        line = {"run_id": name[4:], "step_id": None, "event_type": "x", "payload": {"objective": "Nobody asked this"}}
        log.write_text(json.dumps(line) + "\n" + log.read_text())


@cheat("conflicting_objective")
def one_run_for_two_queries(outputs: Path) -> None:
    """Its output says one query, its log another."""
    edit(outputs / "run_a0", lambda value: value.update(objective=output(outputs / "run_a2")["objective"]))


@cheat("conflicting_objective")
def one_run_for_two_queries_behind_other_objectives(outputs: Path) -> None:
    """Its log names what nobody asked, many times, and only then its own query."""
    one_run_for_two_queries(outputs)
    log = outputs / "run_a0" / "events.jsonl"
    event = {"run_id": "a0", "step_id": None, "event_type": "x"}
    junk = [{**event, "payload": {"objective": f"Nobody asked this: {number}"}} for number in range(200)]
    log.write_text("".join(json.dumps(line) + "\n" for line in junk) + log.read_text())


@cheat("conflicting_run_id")
def all_runs_under_one_id(outputs: Path) -> None:
    for name in ("run_n1", "run_n2"):
        edit(outputs / name, lambda value: value.update(run_id="n0"))


@cheat("foreign_event")
def the_log_is_made_another_runs(outputs: Path) -> None:
    """The output claims nothing any more, and a new run_id disowns the log that shows what was claimed."""
    for name in ("run_a0", "run_a1", "run_a4", "run_n1", "run_n2"):
        edit(outputs / name, lambda value: value.update(run_id="disowned-" + value["run_id"], claims=[]))
        edit_lines(outputs / name / "manifests.jsonl", lambda value: value.update(run_id="disowned-" + value["run_id"]))
        append_events(outputs / name)
