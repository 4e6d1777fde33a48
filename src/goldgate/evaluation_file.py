"""A small YAML file that says what is judged, with which protocol: what pytest collects as one test a gate.

    suite: NAME                # without it, the first in the list of suites
    protocol: release.yaml
    gold: data/gold.jsonl
    predictions: outputs/answers.jsonl
    schema: data/schema.json

Files are named from the folder of this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from goldgate.core.evaluation import Evaluation
from goldgate.core.suite import Suite
from goldgate.errors import ConfigError, describe_value, did_you_mean
from goldgate.files.parsing import YamlTree, parse_yaml
from goldgate.files.reading import read_text_file
from goldgate.pipeline import evaluate_suite
from goldgate.suites import load_suite, suite_names
from goldgate.suites.plan import load_plan

_SUITE, _PROTOCOL = "suite", "protocol"


@dataclass(frozen=True, slots=True)
class EvaluationFile:
    """What is judged: the inputs of a suite by name, and the protocol."""

    suite: Suite
    inputs: Mapping[str, list[str]]
    protocol: str | None

    def gate_names(self) -> list[str]:
        """Of the protocol, and of the suite where it has gates of its own; reads no data."""
        return [*load_plan(self.suite, self.protocol).gates]

    def evaluate(self) -> Evaluation:
        return evaluate_suite(self.suite, self.inputs, self.protocol)


def load_evaluation_file(path: Path, instead: Mapping[str, str] | None = None) -> EvaluationFile:
    """What such a file says; `instead` names other files, from the working directory."""
    text, _ = read_text_file(path, _PROTOCOL)
    tree = parse_yaml(text, str(path))
    given = tree.value if isinstance(tree.value, dict) else None
    name = None if given is None else given.get(_SUITE, suite_names()[0])
    if given is None or name not in suite_names():
        expected = f"a mapping with the files to judge; suite is {' or '.join(suite_names())}"
        raise ConfigError("protocol.wrong_value", "this does not say what is judged", place=tree.place(_SUITE),
                          expected=expected, found=describe_value(tree.value if given is None else name))  # fmt: skip
    suite = load_suite(name)
    files: dict[str, Any] = _files(tree, suite) | {name: [path] for name, path in (instead or {}).items()}
    _require_known(tree, suite, files)
    (protocol,) = files.pop(_PROTOCOL, [None])
    return EvaluationFile(suite, {each.name: files.get(each.name, []) for each in suite.inputs}, protocol)


def _files(tree: YamlTree, suite: Suite) -> dict[str, list[str]]:
    """The paths of each input, from the folder of the file."""
    folder, found = Path(tree.file).parent, dict[str, list[str]]()
    many = {each.name for each in suite.inputs if each.many}
    for name, value in tree.value.items():
        if name == _SUITE:
            continue
        listed = value if isinstance(value, list) and name in many else [value]
        if not listed or not all(isinstance(each, str) and each for each in listed):
            raise ConfigError("protocol.wrong_value", "this is not the name of a file", place=tree.place(str(name)),
                              expected="a path, from the folder of this file", found=describe_value(value))  # fmt: skip
        found[str(name)] = [str(folder / each) for each in listed]
    return found


def _require_known(tree: YamlTree, suite: Suite, files: Mapping[str, Any]) -> None:
    known = [_SUITE, _PROTOCOL, *(each.name for each in suite.inputs)]
    for name in files:
        if name not in known:
            raise ConfigError("protocol.unknown_key", f"the {suite.name} suite reads no such file",
                              place=tree.place(name), expected=f"one of {', '.join(known)}", found=name,
                              advice=did_you_mean(name, known))  # fmt: skip
    missing = [each.name for each in suite.inputs if each.required and each.name not in files]
    if missing:
        raise ConfigError("protocol.wrong_value", "files to judge are missing", place=tree.place(""),
                          expected=", ".join(missing), found="none")  # fmt: skip
