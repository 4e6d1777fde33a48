"""What a trace does not say is left out, named, and counts against the run; nothing is made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldgate.suites.research.checks import validate_run
from goldgate.suites.research.imports import ImportResult, import_runs
from goldgate.suites.research.imports.mapping import load_mapping
from goldgate.suites.research.run import RunSettings


def agent(**attributes: Any) -> dict[str, Any]:
    """An agent's span, in the plain form that SDKs print."""
    named = {f"gen_ai.{key.replace('__', '.')}": value for key, value in attributes.items()}
    return {
        "name": "invoke_agent",
        "context": {"trace_id": "0x1", "span_id": "0xa"},
        "parent_id": None,
        "start_time": "2026-03-01T10:00:00Z",
        "end_time": "2026-03-01T10:00:09Z",
        "attributes": {"gen_ai.operation.name": "invoke_agent", **named},
    }


def tool(span: str = "0xb", parent: str | None = "0xa", **attributes: Any) -> dict[str, Any]:
    return {
        **agent(operation__name="execute_tool", **attributes),
        "name": "execute_tool search",
        "context": {"trace_id": "0x1", "span_id": span},
        "parent_id": parent,
        "start_time": f"2026-03-01T10:00:0{span[-1] if span[-1].isdigit() else 1}Z",
    }


def run(tmp_path: Path, *spans: Any, mapping: str | None = None) -> tuple[ImportResult, Path]:
    """The result, and the folder of the one run."""
    file, out = tmp_path / "trace.jsonl", tmp_path / "runs"
    file.write_text("".join(json.dumps(span) + "\n" for span in spans), encoding="utf-8")
    chosen = None
    if mapping is not None:
        (tmp_path / "mapping.yaml").write_text(mapping, encoding="utf-8")
        chosen = load_mapping(str(tmp_path / "mapping.yaml"))
    result = import_runs([str(file)], str(out), chosen)
    (folder,) = out.iterdir()
    return result, folder


def output(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "research_output.json").read_bytes())
    return found


def missing(folder: Path) -> list[str]:
    return [entry["what"] for entry in json.loads((folder / "import.json").read_bytes())["missing"]]


QUESTION = [{"role": "user", "parts": [{"type": "text", "content": "Why?"}]}]


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "assistant", "parts": [{"type": "text", "content": text}], "finish_reason": "stop"}]


def test_a_plain_answer_is_no_claim_and_no_end(tmp_path: Path) -> None:
    result, folder = run(tmp_path, agent(input__messages=QUESTION, output__messages=said("Because of the flood.")))
    assert output(folder) == {"run_id": "0x1", "objective": "Why?"}
    assert missing(folder) == ["stop_reason", "claims", "evidence", "steps"]
    assert not result.passed
    assert validate_run(str(folder), RunSettings()).facts.claims_unknown


def test_an_empty_list_of_claims_is_one(tmp_path: Path) -> None:
    answer = json.dumps({"stop_reason": "no evidence", "claims": []})
    _, folder = run(tmp_path, agent(input__messages=QUESTION, output__messages=said(answer)), tool())
    assert output(folder)["claims"] == []
    assert output(folder)["stop_reason"] == "NO_EVIDENCE"
    assert missing(folder) == ["manifests"]


def test_a_word_that_is_no_stop_reason_is_not_one(tmp_path: Path) -> None:
    answer = json.dumps({"stop_reason": "end_turn", "claims": []})
    _, folder = run(tmp_path, agent(input__messages=QUESTION, output__messages=said(answer)))
    assert "stop_reason" not in output(folder)
    assert "stop_reason" in missing(folder)


def test_an_error_of_the_agent_is_a_system_error_and_one_of_a_tool_is_not(tmp_path: Path) -> None:
    failed = {"status": {"status_code": "ERROR"}}
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    _, folder = run(tmp_path / "a", {**agent(input__messages=QUESTION), **failed}, tool())
    assert output(folder)["stop_reason"] == "SYSTEM_ERROR"
    _, folder = run(tmp_path / "b", agent(input__messages=QUESTION), {**tool(), **failed})
    assert "stop_reason" not in output(folder)


def test_a_step_without_the_ids_of_its_documents_has_no_manifest(tmp_path: Path) -> None:
    whole = tool("0x1", tool__call__arguments='{"query": "q"}', tool__call__result='[{"id": "d1"}, {"id": 2}]')
    half = tool("0x2", tool__call__arguments='{"query": "q"}', tool__call__result='[{"id": "d1"}, {"text": "t"}]')
    nothing = tool("0x3", tool__call__arguments='{"query": "q"}', tool__call__result='{"documents": []}')
    no_query = tool("0x4", tool__call__arguments="{}", tool__call__result="[]")
    _, folder = run(tmp_path, agent(), whole, half, nothing, no_query)
    manifests = [json.loads(line) for line in (folder / "manifests.jsonl").read_bytes().splitlines()]
    assert [(entry["step_id"], entry["candidate_chunk_ids"]) for entry in manifests] == [(1, ["d1", "2"]), (3, [])]
    facts = validate_run(str(folder), RunSettings()).facts
    assert (facts.with_manifest, facts.steps) == (2, 4)


def test_a_step_that_holds_steps_is_those(tmp_path: Path) -> None:
    _, folder = run(tmp_path, agent(), tool("0x1"), tool("0x2", "0x1"), tool("0x3", "0x1"))
    events = [json.loads(line) for line in (folder / "events.jsonl").read_bytes().splitlines()]
    steps = [(event["step_id"], event["payload"].get("span_id")) for event in events]
    assert steps == [(None, None), (1, "0x2"), (2, "0x3")]


def test_a_claim_that_lacks_its_status_stays_as_it_is_and_is_named(tmp_path: Path) -> None:
    answer = json.dumps({"stop_reason": "OBJECTIVE_ACHIEVED", "claims": [{"claim_id": 1, "statement": "s"}]})
    _, folder = run(tmp_path, agent(input__messages=QUESTION, output__messages=said(answer)))
    assert output(folder)["claims"] == [{"claim_id": "1", "statement": "s"}]
    assert "claims/0/status" in missing(folder) or "claims/0" in missing(folder)
    assert validate_run(str(folder), RunSettings()).facts.covered == 0


def test_a_mapping_can_say_what_the_trace_does_not(tmp_path: Path) -> None:
    mapping = """
extends: otel
stop_reason:
  - where: {attributes.gen_ai.operation.name: invoke_agent}
    take: attributes.gen_ai.output.messages
    at: 0.finish_reason
    words: {stop: OBJECTIVE_ACHIEVED, "*": BUDGET_EXCEEDED}
claims:
  - where: {attributes.gen_ai.operation.name: invoke_agent}
    pick: all
    take: attributes.gen_ai.output.messages
    each: {claim_id: =answer, statement: parts.0.content, status: =verified, evidence_ids: cited}
evidence:
  - where: {attributes.gen_ai.operation.name: execute_tool}
    pick: all
    take: attributes.gen_ai.tool.call.result
    each: {evidence_id: id, chunk_id: id, quote: text, provenance.source_id: source}
"""
    result = '[{"id": "d1", "text": "The flood.", "source": "log"}]'
    spans = (
        agent(input__messages=QUESTION, output__messages=[{**said("Because of the flood.")[0], "cited": ["d1"]}]),
        tool(tool__call__arguments='{"query": "q"}', tool__call__result=result),
    )
    imported, folder = run(tmp_path, *spans, mapping=mapping)
    assert imported.passed
    assert imported.mapping.name == "mapping.yaml"
    validation = validate_run(str(folder), RunSettings())
    assert validation.passed
    assert (validation.facts.covered, validation.facts.verified, validation.facts.verbatim) == (1, 1, 1)


def test_records_of_any_form_are_read_by_a_mapping(tmp_path: Path) -> None:
    mapping = """
objective: [{take: task}]
stop_reason: [{take: end, words: {done: OBJECTIVE_ACHIEVED}}]
claims: [{take: findings, each: {claim_id: n, statement: text, status: =candidate}}]
corpus_id: [{take: corpus}]
"""
    record = {"id": "r/1", "task": "Why?", "end": "done", "findings": [{"n": 1, "text": "s"}], "corpus": "c"}
    _, folder = run(tmp_path, record, mapping=mapping)
    found = output(folder)
    assert (found["stop_reason"], found["corpus_id"]) == ("OBJECTIVE_ACHIEVED", "c")
    assert found["claims"] == [{"claim_id": "1", "statement": "s", "status": "candidate"}]


def openai_span(**more: Any) -> dict[str, Any]:
    plain = {"object": "trace.span", "id": "s", "trace_id": "t", "error": None}
    return plain | dict.fromkeys(("parent_id", "started_at", "ended_at")) | more


def test_a_response_span_has_no_text_so_the_objective_is_missing(tmp_path: Path) -> None:
    trace: dict[str, Any] = {"object": "trace", "id": "t", "workflow_name": "w", "group_id": None, "metadata": {}}
    _, folder = run(tmp_path, trace, openai_span(span_data={"type": "response", "response_id": "resp_1"}))
    assert missing(folder)[:2] == ["objective", "stop_reason"]


@pytest.mark.parametrize(("message", "reason"), [("Max turns exceeded", "BUDGET_EXCEEDED"), ("boom", "SYSTEM_ERROR")])
def test_errors_of_an_openai_agent(message: str, reason: str, tmp_path: Path) -> None:
    span = {"span_data": {"type": "agent", "name": "a"}, "error": {"message": message, "data": None}}
    _, folder = run(tmp_path, openai_span(**span))
    assert output(folder)["stop_reason"] == reason


def test_messages_in_an_event_of_the_span_are_found(tmp_path: Path) -> None:
    details = {"gen_ai.input.messages": QUESTION, "gen_ai.output.messages": json.dumps(said('{"claims": []}'))}
    events = [{"name": "other"}, {"name": "gen_ai.client.inference.operation.details", "attributes": details}]
    _, folder = run(tmp_path, {**agent(), "events": events})
    assert (output(folder)["objective"], output(folder)["claims"]) == ("Why?", [])


def test_what_the_outermost_run_says_goes_before_what_is_inside(tmp_path: Path) -> None:
    graph: dict[str, Any] = {"id": "g", "run_type": "chain", "inputs": {"messages": [["user", "Why?"]]}}
    graph["outputs"] = {"claims": []}
    node: dict[str, Any] = {"id": "n", "run_type": "chain", "parent_run_id": "g", "inputs": {"input": "draft"}}
    node |= {"outputs": {"claims": [{"claim_id": "draft"}], "stop_reason": "NO_EVIDENCE"}, "status": "error"}
    _, folder = run(tmp_path, graph, node)
    assert output(folder) == {"run_id": "g", "objective": "Why?", "claims": []}


@pytest.mark.parametrize("word", ["OBJECTIVE_ACHIEVED", "done"])
def test_an_error_of_the_run_goes_before_what_the_agent_said(word: str, tmp_path: Path) -> None:
    chain = {"id": "r", "run_type": "chain", "outputs": {"stop_reason": word, "claims": []}, "end_time": 1}
    _, folder = run(tmp_path, {**chain, "status": "error"})
    assert output(folder)["stop_reason"] == "SYSTEM_ERROR"


def test_the_word_that_is_no_reason_is_the_agents_and_not_that_of_the_status(tmp_path: Path) -> None:
    chain = {"id": "r", "run_type": "chain", "outputs": {"stop_reason": "done", "claims": []}, "status": "success"}
    result, _ = run(tmp_path, chain)
    assert any("'done'" in finding.message for finding in result.findings)


def test_two_spans_under_one_id_are_a_lost_step_and_two_versions_of_one_are_not(tmp_path: Path) -> None:
    chain = {"id": "r", "run_type": "chain", "start_time": 1}
    found = {"id": "t", "parent_run_id": "r", "run_type": "retriever", "start_time": 2, "end_time": 3}
    found |= {"inputs": {"query": "q"}, "outputs": {"documents": []}}
    started = {**found, "end_time": None, "outputs": None}
    patch = {"id": "t", "run_type": "retriever", "parent_run_id": "r", "end_time": 3}
    result, _ = run(tmp_path, chain, started, found, patch)
    assert result.lacking["steps"] == 0
    (tmp_path / "again").mkdir()
    result, _ = run(tmp_path / "again", chain, found, {**found, "start_time": 5, "inputs": None})
    assert result.lacking["steps"] == 1


def test_a_mapping_chooses_by_true_and_false_as_json_writes_them(tmp_path: Path) -> None:
    chain = {"id": "r", "run_type": "chain", "final": True, "outputs": {"claims": []}}
    mapping = "extends: langsmith\nclaims: [{where: {final: 'true'}, take: outputs.claims}]"
    result, _ = run(tmp_path, chain, mapping=mapping)
    assert result.lacking["claims"] == 0


def test_what_a_traced_function_returns_is_found_under_output(tmp_path: Path) -> None:
    """LangSmith's `traceable` puts a list there, also for a retriever."""
    document = {"page_content": "It burned.", "type": "Document", "metadata": {"chunk_id": "k1", "source": "s"}}
    chain = {"id": "r", "run_type": "chain"}
    found = {"id": "t", "parent_run_id": "r", "run_type": "retriever", "inputs": {"query": "q"}}
    _, folder = run(tmp_path, chain, {**found, "outputs": {"output": [document]}})
    assert "manifests" not in missing(folder)
    assert "chunks" not in missing(folder)
