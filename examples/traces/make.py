"""Writes the traces of this folder: two runs of one made-up agent, as three tools would have recorded them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOUND, NOTHING = "When did the mill at Ostrey burn down?", "Who set fire to the mill at Ostrey?"
TEXT = "The mill at Ostrey burned down in the night of 3 March 1871. It was not built again."
QUOTE = "burned down in the night of 3 March 1871"
START = TEXT.index(QUOTE)
DOCUMENT = {"id": "chronicle-1", "text": TEXT, "source": "chronicle"}
ANSWERS: dict[str, dict[str, Any]] = {
    FOUND: {
        "stop_reason": "OBJECTIVE_ACHIEVED",
        "claims": [
            {
                "claim_id": "c1",
                "statement": "The mill burned down on 3 March 1871.",
                "status": "verified",
                "evidence_ids": ["ev1"],
            }
        ],
        "evidence": [
            {
                "evidence_id": "ev1",
                "chunk_id": "chronicle-1",
                "quote": QUOTE,
                "span": {"start": START, "end": START + len(QUOTE)},
                "provenance": {"source_id": "chronicle"},
            }
        ],
    },
    NOTHING: {"stop_reason": "NO_EVIDENCE", "claims": [], "evidence": []},
}
QUERIES = {FOUND: ("burning of the mill", [DOCUMENT]), NOTHING: ("arson mill Ostrey", [])}


def otel() -> list[Any]:
    """A line for each batch, as a Collector's file exporter writes them."""
    lines = []
    for number, objective in enumerate(QUERIES, 1):
        query, documents = QUERIES[objective]
        trace, begin = f"{number:032x}", 1_700_000_000_000_000_000 + number * 10_000_000_000
        asked = [{"role": "user", "parts": [{"type": "text", "content": objective}]}]
        said = [{"role": "assistant", "parts": [{"type": "text", "content": json.dumps(ANSWERS[objective])}]}]
        spans = [
            _otel_span(trace, "a", "", "invoke_agent historian", begin, {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "historian",
                "gen_ai.input.messages": json.dumps(asked),
                "gen_ai.output.messages": json.dumps([{**said[0], "finish_reason": "stop"}]),
            }),
            _otel_span(trace, "b", "a", "retrieval chronicle", begin + 1_000_000_000, {
                "gen_ai.operation.name": "retrieval",
                "gen_ai.data_source.id": "chronicle",
                "gen_ai.retrieval.query.text": query,
                "gen_ai.retrieval.documents": json.dumps([{**document, "score": 0.9} for document in documents]),
            }),
        ]  # fmt: skip
        resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "historian"}}]}
        scope = {"scope": {"name": "example"}, "spans": spans}
        lines.append({"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]})
    return lines


def _otel_span(trace: str, span: str, parent: str, name: str, begin: int, attributes: dict[str, str]) -> dict[str, Any]:
    return {
        "traceId": trace,
        "spanId": span.rjust(16, "0"),
        "parentSpanId": parent.rjust(16, "0") if parent else "",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(begin),
        "endTimeUnixNano": str(begin + 500_000_000),
        "attributes": [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()],
        "status": {},
    }


def langsmith() -> list[Any]:
    """A run a line, as they come from a client's list_runs."""
    runs: list[Any] = []
    for number, objective in enumerate(QUERIES, 1):
        query, documents = QUERIES[objective]
        graph, retriever = f"00000000-0000-4000-8000-{number:012d}", f"00000000-0000-4000-9000-{number:012d}"
        common = {"trace_id": graph, "status": "success", "error": None}
        answer = {"type": "ai", "content": json.dumps(ANSWERS[objective])}
        found: list[Any] = [
            {"page_content": document["text"], "metadata": {"chunk_id": document["id"], "source": document["source"]}}
            for document in documents
        ]
        runs.append({
            "id": graph, "name": "LangGraph", "run_type": "chain", "parent_run_id": None, **common,
            "start_time": f"2026-03-01T10:0{number}:00", "end_time": f"2026-03-01T10:0{number}:09",
            "inputs": {"messages": [{"type": "human", "content": objective}]},
            "outputs": {"messages": [{"type": "human", "content": objective}, answer]},
        })  # fmt: skip
        runs.append({
            "id": retriever, "name": "VectorStoreRetriever", "run_type": "retriever", "parent_run_id": graph, **common,
            "start_time": f"2026-03-01T10:0{number}:02", "end_time": f"2026-03-01T10:0{number}:03",
            "inputs": {"query": query}, "outputs": {"documents": found},
        })  # fmt: skip
    return runs


def openai_agents() -> list[Any]:
    """An item a line, as a trace processor gets them."""
    items: list[Any] = []
    for number, objective in enumerate(QUERIES, 1):
        query, documents = QUERIES[objective]
        trace, second = f"trace_{number:032x}", number * 10
        items.append({"object": "trace", "id": trace, "workflow_name": "historian", "group_id": None, "metadata": None})
        messages = [{"role": "user", "content": objective}]
        answer = [{"role": "assistant", "content": json.dumps(ANSWERS[objective])}]
        data: list[tuple[str, str | None, dict[str, Any]]] = [
            ("agent", None, {"type": "agent", "name": "historian", "tools": ["search"], "output_type": "Answer"}),
            ("tool", "agent", {
                "type": "function", "name": "search",
                "input": json.dumps({"query": query}), "output": json.dumps(documents),
            }),
            ("model", "agent", {"type": "generation", "input": messages, "output": answer, "model": "example"}),
        ]  # fmt: skip
        for place, (span, parent, span_data) in enumerate(data):
            items.append({
                "object": "trace.span", "id": f"span_{number}_{span}", "trace_id": trace,
                "parent_id": f"span_{number}_{parent}" if parent else None,
                "started_at": f"2026-03-01T10:00:{second + place:02d}+00:00",
                "ended_at": f"2026-03-01T10:00:{second + place + 1:02d}+00:00",
                "span_data": span_data, "error": None,
            })  # fmt: skip
    return items


def golden() -> list[dict[str, Any]]:
    return [
        {"objective": FOUND, "required_evidence_ids": ["ev1"], "evidence_sufficient": True},
        {"objective": NOTHING, "required_evidence_ids": [], "evidence_sufficient": False},
    ]


def files() -> dict[str, str]:
    """Every file of this folder that is made, by its name."""
    lines = {"otel.jsonl": otel(), "langsmith.jsonl": langsmith(), "openai-agents.jsonl": openai_agents()}
    made = {name: "".join(json.dumps(line) + "\n" for line in found) for name, found in lines.items()}
    return {**made, "golden_queries.json": json.dumps(golden(), indent=2) + "\n"}


if __name__ == "__main__":
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")
