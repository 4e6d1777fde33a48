"""`goldgate read`: what was read of a response, how, and each repair with its place."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.read import read_command
from goldgate.report.answers_text import TextPositions
from goldgate.report.escape import display_width
from tests.cases import cases
from tests.responses.corpus import Case, load_corpus, one_of_each_manner

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "extraction"
A = '{"event_type": "A", "arguments": [{"role": "r", "argument": "v"}]}'

RAMBLING = f"""<think>A strike, it seems.</think>
The form is {{"event_type": "string", "arguments": []}}. Here:
```json
[{A},
 {{"event_type": "B", "arguments": [{{"role": "where", "argument": "奥斯陆" // guessed
 }}, {{"role": "when", "argument": None}}]}}]
```
"""


def run(*words: str | Path, given: str | bytes | None = None) -> Result:
    return CliRunner().invoke(read_command, [str(word) for word in words], input=given)


def as_json(response: str, *words: str | Path) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(run("--format", "json", *words, given=response).stdout)
    return read


def records(path: Path, *lines: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_one_response_is_shown_in_full() -> None:
    result = run(given=RAMBLING)
    assert result.exit_code == 0
    assert result.stdout == (
        """\
REPAIRED: readable after repair
  found       fenced: in a fenced block
  place       4:1 to 6:41 (characters 104 to 296)
  thought     closed: cut out, 19 characters

Repairs
  comments: comments (//, #, /* */) are skipped
    5:72 | …guments": [{"role": "where", "argument": "奥斯陆" // guessed
         |                                                    ^
  python_literals: True, False, None, and other words for null (NULL, nil, N/A,
    undefined)
    6:34 |  }, {"role": "when", "argument": None}]}]
         |                                  ^

Left out
  2:13 to 2:53, template: only a template of an answer
    | {"event_type": "string", "arguments": []}

Events
  A
    r = v
  B
    where = 奥斯陆

Not in the expected form
  value_null  $[1].arguments[1].argument
"""
    )


def test_json_says_the_same_with_every_place() -> None:
    read = as_json(RAMBLING)
    comment, none = RAMBLING.index("//"), RAMBLING.index("None")
    assert read["places"] == [
        {"repair": "comments", "at": comment, "line": 5, "column": 72},
        {"repair": "python_literals", "at": none, "line": 6, "column": 34},
    ]
    template = RAMBLING.index('{"event_type": "string"')
    assert read["left_out"] == [
        {"start": template, "end": RAMBLING.index(". Here"), "reason": "template", "line": 2, "column": 13}
    ]
    assert RAMBLING[read["start"] : read["end"]].startswith("[{")
    assert RAMBLING[read["start"] : read["end"]].endswith("}]}]")
    assert [event["event_type"] for event in read["events"]] == ["A", "B"]
    assert read["events"][1]["arguments"] == [{"role": "where", "argument": "奥斯陆"}]
    assert (read["status"], read["method"], read["thought"]) == ("repaired", "fenced", "closed")
    assert read["repairs"] == ["comments", "python_literals"]
    assert read["value"][0] == json.loads(A)


def test_a_file_and_standard_input_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_text(RAMBLING, encoding="utf-8")
    assert run(tmp_path / "answer.txt").stdout == run(given=RAMBLING).stdout == run("-", given=RAMBLING).stdout


@cases(("response", "status"), [("[]", 0), (f"[{A},]", 0), ('{"note": 1}', 0), ("", 1), ("I see no event.", 1)])
def test_exit_status_says_whether_it_was_read(response: str, status: int) -> None:
    for format in ("text", "json"):
        assert run("--format", format, given=response).exit_code == status


@cases(
    ("response", "shown"),
    [
        ('{"amount": 1.10, "many": 1e400}', '{"amount":1.10,"many":1e400}'),
        ('{"amount": 1.10, "many": 1e400}', "not_an_event_list"),
        (
            '[{"event_type": "A", "arguments": [{"role": "r", "argument": 5}]}]',
            "Not in the expected form\n  value_number  $[0].arguments[0].argument\n",
        ),
    ],
)
def test_what_is_not_in_the_expected_form_is_shown_with_its_path(response: str, shown: str) -> None:
    assert shown in run(given=response).stdout


# --- many responses


def test_records_get_a_line_each_and_a_summary(tmp_path: Path) -> None:
    path = records(
        tmp_path / "answers.jsonl",
        {"id": "one", "response": f"[{A}]"},
        {"id": "two", "response": f"[{A}]\n[{A} // one\n]"},
        {"id": 3, "events": []},
        {"id": "four", "response": "no"},
    )
    result = run(path)
    assert result.exit_code == 1
    assert result.stdout == (
        f"""\
one  raw, whole, 1:1 to 1:{len(A) + 2}, 1 event, 1 argument
two  repaired, embedded, 2:1 to 3:1, 1 event, 1 argument
  repairs     comments 2:{len(A) + 3}
  left out    1:1 to 1:{len(A) + 2} (replaced)
3  raw, structured, 0 events, 0 arguments
four  error, no_json_found

4 responses, 1 could not be read
  status      raw 2, error 1, repaired 1
  found       embedded 1, no_json_found 1, structured 1, whole 1
  thought     none 4
  repairs     comments 1
  left out    replaced 1
  violations  none
"""
    )


@cases("name", ["a.jsonl", "a.json", "a.jsonl.gz", "A.JSONL"])
def test_the_name_says_that_a_file_holds_records(name: str, tmp_path: Path) -> None:
    data = json.dumps([{"id": "x", "response": "[]"}]).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert run(tmp_path / name).stdout.startswith("x  raw, whole")


def test_as_says_otherwise(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(f"[{A}]")
    assert run(tmp_path / "answer.json").exit_code == 2
    assert run(tmp_path / "answer.json", "--as", "text").stdout.startswith("RAW")
    records(tmp_path / "answers.txt", {"id": "x", "response": "[]"})
    assert run(tmp_path / "answers.txt", "--as", "records").stdout.startswith("x  raw, whole")


def test_ids_choose_records_which_are_shown_in_full(tmp_path: Path) -> None:
    path = records(tmp_path / "a.jsonl", *({"id": str(number), "response": f"[{A},]"} for number in range(5)))
    assert run(path, "--id", "3").stdout.startswith("3  REPAIRED: readable after repair\n")
    two = run(path, "--id", "4", "--id", "1").stdout
    assert two.index("1  REPAIRED") < two.index("4  REPAIRED") < two.index("2 responses, 0 could not be read")
    for more, ids in (((), "01234"), (("--id", "4", "--id", "1"), "14")):
        lines = run(path, *more, "--format", "json").stdout.splitlines()
        assert [json.loads(line)["id"] for line in lines] == [*ids]


# --- the protocol


def protocol(folder: Path, text: str) -> Path:
    (folder / "protocol.yaml").write_text(text, encoding="utf-8")
    return folder / "protocol.yaml"


def test_thought_tags_and_the_form_of_answers_come_from_the_protocol(tmp_path: Path) -> None:
    tags = protocol(tmp_path, "metrics: {response: {thought_tags: [plan]}}")
    assert as_json(f"<plan>[{A}]</plan>[]", "--protocol", tags)["events"] == []
    prefix = protocol(tmp_path, "metrics: {response: {prefix: '[{\"event_type\":'}}")
    read = as_json(A[len('{"event_type":') :] + "]", "--protocol", prefix)
    assert [event["event_type"] for event in read["events"]] == ["A"]


def test_a_flat_answer_is_shown_without_a_type_where_the_gold_would_say_it(tmp_path: Path) -> None:
    flat = protocol(tmp_path, "metrics: {response: {flat: {event_type: {from: gold}}, null_words: [none]}}")
    response = '{"who": "Ann", "when": "None", "where": ["Oslo", "Bergen"]}'
    assert as_json(response, "--protocol", flat)["events"] == [
        {
            "event_type": None,
            "arguments": [
                {"role": "who", "argument": "Ann"},
                {"role": "where", "argument": "Oslo"},
                {"role": "where", "argument": "Bergen"},
            ],
        }
    ]
    shown = run("--protocol", flat, given=response).stdout
    assert "Events\n  one object; its event type is taken from gold\n    who   = Ann\n    where = Oslo\n" in shown


def test_a_protocol_that_needs_a_schema_elsewhere_needs_none_here(tmp_path: Path) -> None:
    strict = protocol(tmp_path, "metrics: {schema: {mode: schema_strict}, cot: {enabled: true}}")
    assert run("--protocol", strict, given=f"[{A}]").exit_code == 0


# --- mistakes of the user


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["missing.txt"], "response.missing"),
        (["."], "response.is_a_directory"),
        (["latin.txt"], "response.not_utf8"),
        (["missing.jsonl"], "predictions.missing"),
        (["bad.jsonl"], "predictions.not_json"),
        (["no-id.jsonl"], "predictions.bad_id"),
        (["number.jsonl"], "predictions.wrong_type"),
        (["good.jsonl", "--id", "y"], "option.wrong_value"),
        (["answer.txt", "--id", "x"], "option.wrong_value"),
        (["answer.txt", "--protocol", "missing.yaml"], "protocol.missing"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_status_2_with_its_code(
    words: list[str], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("latin.txt").write_bytes(b"caf\xe9 []")
    Path("answer.txt").write_text("[]")
    Path("bad.jsonl").write_text("{\n")
    records(Path("no-id.jsonl"), {"id": None, "response": "[]"})
    records(Path("number.jsonl"), {"id": "x", "response": 5})
    records(Path("good.jsonl"), {"id": "x", "response": "[]"})
    result = run(*words)
    assert result.exit_code == 2
    assert code in result.stderr
    printed = run(*words, "--format", "json").stdout
    error = json.loads(printed.splitlines()[-1] if words[0].endswith(".jsonl") else printed)
    assert (error["suite"], error["status"], error["error"]["code"]) == ("read", "SYSTEM_ERROR", code)


def test_what_was_read_before_a_mistake_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"id": "x", "response": "[]"}\n{\n')
    result = run(tmp_path / "a.jsonl")
    assert result.exit_code == 2
    assert result.stdout.startswith("x  raw, whole")


# --- what is shown is safe, fits, and has words for everything

HOSTILE = "\x1b[2J\x9b31m\u202e::error::x ##[error]x\r\n::set-output name=a::b\u2028"


def test_nothing_from_a_response_reaches_the_terminal_as_it_stands(tmp_path: Path) -> None:
    value = json.dumps(HOSTILE)[1:-1]
    response = (
        f'{HOSTILE}\n{{"event_type": "string", "arguments": [{{"role": "{HOSTILE}", "argument": "..."}}]}}\n'
        f'[{{"event_type": "{value}", "arguments": [{{"role": "{HOSTILE}", "argument": "{value}"}},]}}]'
    )
    path = records(tmp_path / "a.jsonl", {"id": HOSTILE, "response": response})
    for words in (["--id", HOSTILE], [], ["--format", "json"]):
        shown = run(path, *words).stdout
        assert not {"\x1b", "\x9b", "\u202e", "\r", "\u2028"} & set(shown)
        assert not any(line.lstrip().startswith("::") for line in shown.splitlines())
    line = run(path, "--format", "json").stdout
    assert "##" not in line
    read = json.loads(line)
    assert read["id"] == HOSTILE
    assert read["value"][0]["event_type"] == HOSTILE


def test_an_excerpt_is_the_line_around_the_place_with_a_mark_under_it() -> None:
    text = "一二" + "".join(chr(0x41 + number % 26) for number in range(395)) + "\n\n"
    for at in range(0, 400, 7):
        line, mark = TextPositions(text).excerpt(at, 60)
        assert display_width(line) <= 60, at
        under = "".join(character * display_width(character) for character in line)  # a column a character
        if at < 397:
            assert under[len(mark) - 1] == text[at], at
            assert line.removeprefix("…").removesuffix("…") in text, at


@pytest.mark.parametrize("corpus", [one_of_each_manner, pytest.param(load_corpus, marks=pytest.mark.slow)])
def test_every_response_of_the_corpus_is_shown(corpus: Callable[[], tuple[Case, ...]], tmp_path: Path) -> None:
    for case in corpus():
        text = run(given=case.response).stdout
        assert text.startswith(("RAW", "REPAIRED", "ERROR")), case.name
        assert all(display_width(line) <= 80 for line in text.splitlines()), (case.name, text)
        for place in as_json(case.response)["places"]:
            assert 0 <= place["at"] <= len(case.response), case.name
        short = run(records(tmp_path / "a.jsonl", {"id": "x", "response": case.response})).stdout
        assert all(display_width(line) <= 80 for line in short.splitlines()), (case.name, short)


def test_a_pipe_that_is_closed_early_is_no_error(tmp_path: Path) -> None:
    path = records(tmp_path / "a.jsonl", *({"id": str(number), "response": "[]"} for number in range(5000)))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "goldgate", "read", str(path)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert b"Traceback" not in process.stderr.read()


@cases("response", ["[" * 3000, '{"a":' * 600 + "1" + "}" * 600, "[1e400," + "[" * 900 + "]" * 901])
def test_depth_is_no_fault(response: str) -> None:
    for format in ("text", "json"):
        result = run("--format", format, given=response)
        assert result.exit_code in (0, 1)
        assert not result.stderr


def test_records_may_come_from_standard_input() -> None:
    result = run("--as", "records", given=b'{"id": "x", "response": "[]"}\n')
    assert (result.exit_code, result.stdout) == (0, "x  raw, whole, 1:1 to 1:2, 0 events, 0 arguments\n")
