"""Evaluations of stored files and scorers of single answers, from Python; files that name what is judged.

What pytest collects as one test a gate is a small YAML file; the paths in it are from its own folder:

    suite: NAME                # without it, the first in the list of suites
    protocol: release.yaml
    gold: data/gold.jsonl
    predictions: outputs/answers.jsonl
    schema: data/schema.json
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from goldgate.core.evaluation import Evaluation
from goldgate.core.suite import Suite
from goldgate.engines import EngineName
from goldgate.errors import ConfigError, describe_value, did_you_mean
from goldgate.files.parsing import YamlTree, parse_yaml
from goldgate.files.reading import read_text_file
from goldgate.pipeline import Progress, evaluate_suite
from goldgate.protocol import ProtocolSource
from goldgate.suites import abilities_for, load_suite, suite_names
from goldgate.suites.plan import load_plan


def evaluate_stored(
    suite: str,
    inputs: dict[str, Any],
    protocol: ProtocolSource,
    workers: int | None,
    engine: EngineName,
    ray_address: str | None,
    records: IO[bytes] | bool | None,
    progress: Progress | None,
) -> Evaluation:
    """The evaluation of what is stored. An input is a value, a list of them, or None.

    `records` receives a line of JSON for each unit; with `records=True`, `evaluation.samples` keeps them.
    """
    if not (isinstance(records, bool) or records is None or hasattr(records, "write")):
        raise TypeError(f"records is True, or a file opened for writing bytes, not {type(records).__name__}")
    require_names(inputs)
    if workers is not None and (isinstance(workers, bool) or not isinstance(workers, int) or workers < 1):
        raise ValueError(f"workers is how many processes work, 1 or more, not {describe_value(workers)}")
    if records is True:
        with TemporaryFile() as stream:
            kept = evaluate_stored(suite, inputs, protocol, workers, engine, ray_address, stream, progress)
            stream.seek(0)
            return replace(kept, samples=[json.loads(line) for line in stream])
    return evaluate_suite(
        load_suite(suite), {name: _as_list(value) for name, value in inputs.items()}, protocol,
        workers=workers, engine=engine, ray_address=ray_address, records=records or None, progress=progress,
    )  # fmt: skip


def require_names(inputs: Mapping[str, Any]) -> None:
    """Refuse what cannot be the name of a field or the path of a file."""
    for name, value in inputs.items():
        if name.endswith("_field") and not (value is None or (isinstance(value, str) and value)):
            raise TypeError(f"{name} is the name of a field, a string that is not empty, not {describe_value(value)}")


def load_scorer(
    schema: Any = None, protocol: ProtocolSource = None, *, suite: str | None = None, **options: Any
) -> Any:
    """A scorer for one response at a time, as in a training loop: `load_scorer("schema.json").score(text, gold)`.

    A JSON Schema or a Pydantic model class gives a scorer of JSON values, whatever else one of events; `suite` names
    the suite where that should be another one. With a JSON Schema, `comparators` maps paths to functions of a gold
    value and a predicted one.
    """
    abilities = abilities_for("scorer")
    matching = [ability for ability in abilities if ability.suite.name == suite]
    if suite is not None and not matching:
        names = ", ".join(ability.suite.name for ability in abilities)
        raise ValueError(f"there is no scorer of the suite {suite!r}; there are: {names}")
    fitting = [ability for ability in abilities if ability.ability.recognizes and ability.ability.recognizes(schema)]
    return (matching or fitting or abilities)[0].ability.load()(schema, protocol, **options)


def _as_list(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


_SUITE, _PROTOCOL = "suite", "protocol"


@dataclass(frozen=True, slots=True)
class EvaluationFile:
    """What is judged: the inputs of a suite by name, and the protocol."""

    suite: Suite
    inputs: Mapping[str, list[str]]
    protocol: str | None

    def gate_names(self) -> list[str]:
        """The names of the protocol's gates and of the suite's own; reads no data."""
        return [*load_plan(self.suite, self.protocol).gates]

    def evaluate(self) -> Evaluation:
        return evaluate_suite(self.suite, self.inputs, self.protocol)


def load_evaluation_file(path: Path, instead: Mapping[str, str] | None = None) -> EvaluationFile:
    """What such a file says; `instead` names other files, from the working directory."""
    text, _ = read_text_file(path, _PROTOCOL)
    tree = parse_yaml(text, str(path))
    values = tree.value if isinstance(tree.value, dict) else None
    name = None if values is None else values.get(_SUITE, suite_names()[0])
    if values is None or name not in suite_names():
        expected = f"a mapping with the files to judge; suite is {' or '.join(suite_names())}"
        raise ConfigError("protocol.wrong_value", "this does not say what is judged", place=tree.place(_SUITE),
                          expected=expected, found=describe_value(tree.value if values is None else name))  # fmt: skip
    suite = load_suite(name)
    files: dict[str, Any] = _files(tree, suite) | {name: [path] for name, path in (instead or {}).items()}
    _require_known(tree, suite, files)
    (protocol,) = files.pop(_PROTOCOL, [None])
    return EvaluationFile(suite, {each.name: files.get(each.name, []) for each in suite.inputs}, protocol)


def _files(tree: YamlTree, suite: Suite) -> dict[str, list[str]]:
    """The paths of each input, from the folder of the file."""
    folder, paths = Path(tree.file).parent, dict[str, list[str]]()
    many = {each.name for each in suite.inputs if each.many}
    for name, value in tree.value.items():
        if name == _SUITE:
            continue
        items = value if isinstance(value, list) and name in many else [value]
        if not items or not all(isinstance(each, str) and each for each in items):
            raise ConfigError("protocol.wrong_value", "this is not the name of a file", place=tree.place(str(name)),
                              expected="a path, from the folder of this file", found=describe_value(value))  # fmt: skip
        paths[str(name)] = [str(folder / each) for each in items]
    return paths


def _require_known(tree: YamlTree, suite: Suite, files: Mapping[str, Any]) -> None:
    names = [_SUITE, _PROTOCOL, *(each.name for each in suite.inputs)]
    for name in files:
        if name not in names:
            raise ConfigError("protocol.unknown_key", f"the {suite.name} suite reads no such file",
                              place=tree.place(name), expected=f"one of {', '.join(names)}", found=name,
                              advice=did_you_mean(name, names))  # fmt: skip
    missing = [each.name for each in suite.inputs if each.required and each.name not in files]
    if missing:
        raise ConfigError("protocol.wrong_value", "files to judge are missing", place=tree.place(""),
                          expected=", ".join(missing), found="none")  # fmt: skip
