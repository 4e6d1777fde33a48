"""Bad input is normal: it costs what is bad, is named with its place, and never ends in a traceback."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from goldgate.cli.prepare import import_runs_command
from goldgate.errors import GoldgateError
from goldgate.suites.research.imports import build_run, import_runs
from goldgate.suites.research.imports.mapping import READY_MAPPINGS, load_mapping, matches
from goldgate.suites.research.imports.traces import TraceSpan, build_trace, read_spans
from tests.cases import error_from

TRACES = Path(__file__).parents[2] / "examples" / "traces"
RUN = {"id": "r1", "run_type": "chain", "inputs": {"question": "Why?"}, "outputs": {"claims": []}, "status": "error"}


def write(tmp_path: Path, text: str | bytes, name: str = "traces.jsonl") -> str:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(tmp_path / name)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_broken_line_costs_that_line(tmp_path: Path) -> None:
    text = json.dumps(RUN) + '\n\n{"id": "r2", "run_ty\n7\n' + json.dumps({**RUN, "id": ""}) + "\n"
    result = import_runs([write(tmp_path, text)], str(tmp_path / "runs"))
    assert (result.runs, result.flaws) == (1, 3)
    assert [(finding.code, finding.line) for finding in result.findings if finding.code == "unread"] == [
        ("unread", 3),
        ("unread", 4),
        ("unread", 5),
    ]
    assert not result.passed


def test_an_array_that_breaks_off_gives_what_it_holds(tmp_path: Path) -> None:
    result = import_runs([write(tmp_path, "[" + json.dumps(RUN) + ", {")], str(tmp_path / "runs"))
    assert (result.runs, result.flaws) == (1, 1)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrapped", [[RUN], {"runs": [RUN]}, {"items": [RUN], "next_cursor": "x"}, RUN])
def test_every_wrapping_is_opened(wrapped: Any, indent: int | None, tmp_path: Path) -> None:
    result = import_runs([write(tmp_path, json.dumps(wrapped, indent=indent))], str(tmp_path / "runs"))
    assert (result.runs, result.flaws) == (1, 0)


def test_printed_objects_one_behind_the_other_are_read(tmp_path: Path) -> None:
    """As the console exporters of OpenTelemetry's SDKs write spans; one that breaks off costs itself."""
    printed = [json.dumps({**RUN, "id": f"r{n}", "name": "a } brace"}, indent=4) for n in range(3)]
    text = printed[0] + "\n" + printed[1][:-30] + "\n" + printed[2] + "\n"
    result = import_runs([write(tmp_path, text, "spans.json")], str(tmp_path / "runs"))
    assert names(tmp_path / "runs") == ["run_r0", "run_r2"]
    lines = [finding.line for finding in result.findings if finding.code == "unread"]
    assert lines == [printed[0].count("\n") + 2]


def test_a_tree_of_runs_is_the_same_as_flat_ones(tmp_path: Path) -> None:
    child = {"id": "r2", "run_type": "TOOL", "inputs": {"query": "q"}, "outputs": {"documents": []}}
    flat = json.dumps({**child, "parent_run_id": "r1"}) + "\n" + json.dumps(RUN)
    import_runs([write(tmp_path, flat)], str(tmp_path / "flat"))
    import_runs([write(tmp_path, json.dumps({**RUN, "child_runs": [child]}), "tree.json")], str(tmp_path / "tree"))
    assert names(tmp_path / "flat") == names(tmp_path / "tree") == ["run_r1"]
    for name in ("research_output.json", "manifests.jsonl"):
        assert (tmp_path / "flat/run_r1" / name).read_bytes() == (tmp_path / "tree/run_r1" / name).read_bytes()


def test_runs_without_a_trace_belong_to_their_outermost_parent(tmp_path: Path) -> None:
    lines = [{**RUN, "id": f"r{n}", "parent_run_id": f"r{n - 1}" if n else None} for n in range(4)]
    lines += [{**RUN, "id": "orphan", "parent_run_id": "gone"}]
    lines += [{**RUN, "id": "x", "parent_run_id": "y"}, {**RUN, "id": "y", "parent_run_id": "x"}]
    text = "".join(json.dumps(line) + "\n" for line in reversed(lines))
    result = import_runs([write(tmp_path, text)], str(tmp_path / "runs"))
    assert names(tmp_path / "runs") == ["run_orphan", "run_r0", "run_x"]
    assert {finding.code for finding in result.findings} >= {"odd_spans"}


def test_packed_files_folders_and_standard_forms(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    write(tmp_path / "in", gzip.compress(json.dumps(RUN).encode()), "a.jsonl.gz")
    write(tmp_path / "in", json.dumps({**RUN, "id": "r2"}), "b.json")
    write(tmp_path / "in", "not a trace", "notes.txt")
    assert import_runs([str(tmp_path / "in")], str(tmp_path / "runs")).runs == 2


def test_links_out_of_a_folder_and_pipes_are_listed_and_not_read(tmp_path: Path) -> None:
    folder, outside = tmp_path / "in", tmp_path / "outside"
    for path in (folder, outside):
        path.mkdir()
    write(outside, json.dumps({**RUN, "id": "foreign"}), "secret.json")
    write(folder, json.dumps(RUN), "a.json")
    for name, target in {
        "b.json": folder / "a.json",
        "c.json": outside / "secret.json",
        "d.json": Path("..", "outside", "secret.json"),
        "e.json": folder / "nothing.json",
        "f.json": folder / "f.json",
    }.items():
        (folder / name).symlink_to(target)
    os.mkfifo(folder / "g.json")
    (folder / "h.json").mkdir()
    (folder / "in.link").symlink_to(outside)
    result = import_runs([str(folder)], str(tmp_path / "runs"))
    assert names(tmp_path / "runs") == ["run_r1"]
    listed = {Path(finding.file).name: finding.message for finding in result.findings if finding.code == "unread"}
    link, other = (
        "a link that leaves the folder, or leads nowhere: it is not read",
        "not a regular file: it is not read",
    )
    assert listed == {**dict.fromkeys(["c.json", "d.json", "e.json", "f.json"], link), "g.json": other, "h.json": other}
    assert not result.passed


def test_huge_texts_and_many_traces(tmp_path: Path) -> None:
    long = "word " * 400_000
    with (tmp_path / "big.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(3):
            stream.write(json.dumps({**RUN, "id": f"big{number}", "inputs": {"question": long}}) + "\n")
        for number in range(300):
            stream.write(json.dumps({**RUN, "id": f"r{number}"}) + "\n")
    assert import_runs([str(tmp_path / "big.jsonl")], str(tmp_path / "runs")).runs == 303


def test_hostile_ids_stay_inside_the_folder(tmp_path: Path) -> None:
    ids = ["../../up", "/etc/passwd", "a/b", "A", "a", "x" * 3000, "\u202eabc", "nul\x00"]
    text = "".join(json.dumps({**RUN, "id": one}) + "\n" for one in ids)
    assert import_runs([write(tmp_path, text)], str(tmp_path / "runs")).runs == len(ids)
    assert names(tmp_path) == ["runs", "traces.jsonl"]
    assert len(names(tmp_path / "runs")) == len(ids)


def test_a_folder_with_something_in_it_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    write(tmp_path / "runs", "mine", "file")
    error = error_from(GoldgateError, import_runs, [write(tmp_path, json.dumps(RUN))], str(tmp_path / "runs"))
    assert error.code == "out.not_empty"
    assert names(tmp_path / "runs") == ["file"]


def test_an_empty_folder_is_filled_and_a_failure_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with pytest.raises(GoldgateError):
        import_runs([str(tmp_path / "absent.jsonl")], str(tmp_path / "runs"))
    assert names(tmp_path) == ["runs"]
    assert import_runs([write(tmp_path, json.dumps(RUN))], str(tmp_path / "runs")).runs == 1
    assert names(tmp_path) == ["runs", "traces.jsonl"]


def test_a_link_to_an_empty_folder_is_filled_and_the_current_folder_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    import_runs([write(tmp_path, json.dumps(RUN))], str(tmp_path / "link"))
    assert names(tmp_path / "real") == ["run_r1"]
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(GoldgateError, match="current folder"):
        import_runs([str(tmp_path / "traces.jsonl")], ".")


@pytest.mark.parametrize(
    ("text", "code", "found"),
    [
        ("", "trace.no_spans", "nothing"),
        ("{}", "trace.no_spans", "an empty object"),
        ('{"question": "?", "answer": "!"}', "trace.no_spans", "an object with answer, question"),
        ("plain words", "trace.no_spans", "not JSON"),
        ("[[[[", "trace.no_spans", ""),
    ],
)
def test_what_is_no_trace_is_an_error_that_says_what_it_is(text: str, code: str, found: str, tmp_path: Path) -> None:
    error = error_from(GoldgateError, import_runs, [write(tmp_path, text)], str(tmp_path / "runs"))
    assert error.code == code
    assert found in (error.found or "")
    assert names(tmp_path) == ["traces.jsonl"]


def test_nesting_without_end_costs_that_span(tmp_path: Path) -> None:
    deep = '{"id": "d", "run_type": "chain", "inputs": ' + '{"a":' * 600 + "1" + "}" * 600 + "}"
    result = import_runs([write(tmp_path, deep + "\n" + json.dumps(RUN))], str(tmp_path / "runs"))
    assert (result.runs, result.flaws) == (1, 1)


def test_an_answer_nested_without_end_is_no_answer(tmp_path: Path) -> None:
    answer = '{"claims": ' + "[" * 600 + "]" * 600 + "}"
    run = {**RUN, "outputs": {"messages": [{"type": "ai", "content": answer}]}}
    result = import_runs([write(tmp_path, json.dumps(run))], str(tmp_path / "runs"))
    assert result.lacking["claims"] == 1


def test_a_very_long_chain_without_a_trace_is_climbed_once(tmp_path: Path) -> None:
    lines = [{**RUN, "id": f"r{n}", "parent_run_id": f"r{n - 1}" if n else None} for n in range(20_000)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    assert import_runs([write(tmp_path, text)], str(tmp_path / "runs")).runs == 1


@pytest.mark.parametrize(
    ("mapping", "field"),
    [
        ("extends: otter", "extends"),
        ("- a", None),
        ("extends: otel\nobjectiv: []", "objectiv"),
        ("extends: otel\nobjective: [{where: {a: b}}]", "objective.0"),
        ("extends: otel\nobjective: [{take: a, pick: middle}]", "objective.0.pick"),
        ("format: xml", "format"),
        ("extends: otel\nspan: {ids: a}", "span.ids"),
        ("extends: otel\nclaims: [{take: a, each: {p: b, p.q: c}}]", "claims.0.each.p"),
        ("extends: otel\nclaims: [{take: a, each: {p.: b}}]", "claims.0.each.p."),
    ],
)
def test_mistakes_in_a_mapping_have_a_place(mapping: str, field: str | None, tmp_path: Path) -> None:
    path = write(tmp_path, mapping, "mapping.yaml")
    error = error_from(GoldgateError, load_mapping, path)
    assert error.place.file == path
    assert error.place.field == field


def test_the_command_has_three_exit_statuses(tmp_path: Path) -> None:
    def status(*arguments: str) -> int:
        return CliRunner().invoke(import_runs_command, list(arguments)).exit_code

    whole, part = str(TRACES / "otel.jsonl"), write(tmp_path, json.dumps(RUN))
    assert status(whole, "--out", str(tmp_path / "a")) == 0
    assert status(part, "--out", str(tmp_path / "b"), "--mapping", "langsmith", "--format", "json") == 1
    assert status(whole, "--out", str(tmp_path / "a")) == 2
    assert status(whole, "--out", str(tmp_path / "c"), "--mapping", "m.yaml") == 2
    assert status(whole, "--out", str(tmp_path / "c"), "--mapping", "openai-agents") == 2


MAPPINGS = {name: load_mapping(name) for name in READY_MAPPINGS}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.text(max_size=8)
    | st.sampled_from(["user", "[]", '{"claims": 1}']),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "id run_type trace_id parent_run_id inputs outputs messages claims evidence documents object "
                "data role content parts type span_data input output traceId spanId attributes resourceSpans "
                "scopeSpans spans key value stringValue arrayValue kvlistValue values gen_ai.operation.name "
                "gen_ai.output.messages".split()
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@pytest.mark.parametrize("name", READY_MAPPINGS)
@given(record=st.dictionaries(st.text(max_size=3), VALUES, max_size=2) | VALUES)
def test_no_record_makes_an_import_fail(name: str, record: Any) -> None:
    matches(record, MAPPINGS[name].recognize)
    spans = [span for span in read_spans(record, MAPPINGS[name]) if isinstance(span, TraceSpan)]
    build_run(build_trace("t", spans), MAPPINGS[name])


@pytest.mark.parametrize("name", READY_MAPPINGS)
@given(fields=VALUES)
def test_no_field_makes_a_mapping_fail(name: str, fields: Any) -> None:
    kinds = {
        "run_type": "chain",
        "attributes": {"gen_ai.operation.name": "invoke_agent", "gen_ai.output.messages": fields},
    }
    kinds |= {"inputs": fields, "outputs": fields, "span_data": {"type": "function", "input": fields, "output": fields}}
    build_run(build_trace("t", [TraceSpan("a", "t", None, "a", None, True, kinds)]), MAPPINGS[name])
