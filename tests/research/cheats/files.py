"""Files renamed, replaced or linked, so that what they show is not read."""

from __future__ import annotations

import os
from pathlib import Path

from . import cheat
from .editing import append_events, edit

FAILING = ("run_a0", "run_a1", "run_a4", "run_n1", "run_n2")


@cheat("output_missing")
def outputs_are_renamed(outputs: Path) -> None:
    for name in FAILING:
        (outputs / name / "research_output.json").rename(outputs / name / "research_output.json.bak")


@cheat("not_a_file")
def outputs_are_pipes(outputs: Path) -> None:
    for name in FAILING:
        (outputs / name / "research_output.json").unlink()
        os.mkfifo(outputs / name / "research_output.json")


@cheat("link_leaves_outputs")
def outputs_are_links_to_elsewhere(outputs: Path) -> None:
    for name in FAILING:
        path = outputs / name / "research_output.json"
        path.rename(outputs.parent / f"{name}.json")
        path.symlink_to(outputs.parent / f"{name}.json")


@cheat("output_unreadable")
def outputs_are_cut_off(outputs: Path) -> None:
    for name in FAILING:
        path = outputs / name / "research_output.json"
        path.write_text(path.read_text()[:-20])


@cheat("foreign_event")
def outputs_are_missing_and_the_log_begins_with_another_run(outputs: Path) -> None:
    """Without an output the first event says which run it is: all others seem to be of another one."""
    for name in FAILING:
        (outputs / name / "research_output.json").unlink()
        log = outputs / name / "events.jsonl"
        log.write_text('{"run_id": "zzz", "step_id": 1, "event_type": "x", "payload": {}}\n' + log.read_text())


@cheat("log_missing")
def logs_are_missing(outputs: Path) -> None:
    for name in FAILING:
        (outputs / name / "events.jsonl").unlink()


@cheat("too_large")
def outputs_are_larger_than_is_read(outputs: Path) -> None:
    for name in FAILING:
        os.truncate(outputs / name / "research_output.json", 100_000_000)


@cheat("too_large")
def chunks_that_refute_are_larger_than_is_read(outputs: Path) -> None:
    for name in FAILING:
        os.truncate(outputs / name / "chunks.jsonl", 100_000_000)


@cheat("repeated_key")
def a_second_list_of_claims_stands_behind_the_first(outputs: Path) -> None:
    """Of a key that stands twice, most readers keep the last."""
    for name in FAILING:
        path = outputs / name / "research_output.json"
        path.write_text(path.read_text().rstrip()[:-1] + ', "claims": [], "stop_reason": "NO_EVIDENCE"}')


@cheat("contradiction")
def claims_are_taken_out_of_outputs(outputs: Path) -> None:
    for name in FAILING:
        edit(outputs / name, lambda value: value.update(claims=[], stop_reason="NO_EVIDENCE"))


@cheat("contradiction")
def claims_are_taken_out_and_retracted_in_the_log(outputs: Path) -> None:
    """The run of a query without evidence claimed something; its output now says that it did not."""
    edit(outputs / "run_n2", lambda value: value["claims"][0].update(status="retracted"))
    append_events(outputs / "run_n2", {"claim_id": "claim-1", "status": "candidate"})
    append_events(outputs / "run_n1", {"stop_reason": "NO_EVIDENCE"})
