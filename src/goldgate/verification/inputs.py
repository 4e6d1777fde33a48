"""The inputs of a stored result: where the files are now, which of them changed, and opened for viewing samples."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from goldgate.core.suite import ANSWERS, Input, Plan, Suite
from goldgate.core.unit_page import EmptyInputLookup, InputLookup
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.address import STANDARD_INPUT
from goldgate.files.reading import read_failure
from goldgate.readers.stored_result import StoredResult, digests_of
from goldgate.runs.sources import RunOrigin, origin_of
from goldgate.suites.plan import load_plan

PROTOCOL = Input("protocol", "The protocol.", required=False)
InputPaths = Mapping[str, Sequence[str]]  # by the name of the input


@dataclass(frozen=True, slots=True)
class UsedInput:
    """An input with the digests that the report has of it, and those that it has now."""

    kind: str
    files: tuple[str, ...]
    stored: tuple[str, ...]
    now: tuple[str, ...]

    @property
    def changed(self) -> bool:
        return self.stored != self.now

    def as_json(self) -> dict[str, object]:
        files, stored, now = list(self.files), list(self.stored), list(self.now)
        return {"input": self.kind, "files": files, "stored": stored, "now": now, "changed": self.changed}


def locate_inputs(result: StoredResult, input_paths: InputPaths, root: str | None = None) -> dict[str, list[str]]:
    """The paths of every input of the result's suite, and of the protocol.

    `input_paths` come first; then what run.json names, relative to the folder where the command ran, or to `root` in
    place of that folder; then a file of the same name beside the report.
    """
    inputs, origin = (*result.suite.inputs, PROTOCOL), origin_of(result)
    unknown = [each for each in inputs if not input_paths.get(each.name) and _is_unknown(result, each, origin)]
    if unknown:
        raise _unknown_input_error(result, unknown, origin)
    return {each.name: [*map(str, input_paths.get(each.name) or locate_input(result, each, root))] for each in inputs}


def locate_input(result: StoredResult, each: Input, root: str | None = None) -> list[str]:
    """The paths of one input, from run.json."""
    origin = origin_of(result)
    if _is_unknown(result, each, origin):
        raise _unknown_input_error(result, [each], origin)
    paths = origin.input_paths(each.name)
    return [find_path(origin, each, path, root) for path in paths] if each.is_path else paths


def used_inputs(stored: Mapping[str, object], now: Mapping[str, object], paths: InputPaths) -> list[UsedInput]:
    """Every input that either report names, with its digests in both."""
    used = (
        UsedInput(kind, tuple(paths.get(kind, ())), digests_of(stored.get(kind)), digests_of(now.get(kind)))
        for kind in {**stored, **now}
        if kind != ANSWERS  # they are those of the predictions
    )
    return [each for each in used if each.stored or each.now]


def changed_files(suite: Suite, stored: Mapping[str, object], paths: InputPaths) -> list[UsedInput]:
    """The inputs whose files have other bytes than the report says; most folders have no digest of their own."""
    inputs = []
    for kind, files in paths.items():
        digests = {file: suite.input_digest(kind, file) for file in files}
        if all(digests[file] or os.path.isfile(file) for file in files):
            now = tuple(sorted(digests[file] or _sha256(file, kind) for file in files))
            inputs.append(UsedInput(kind, tuple(files), tuple(sorted(digests_of(stored.get(kind)))), now))
    return [each for each in inputs if each.changed]


def original_plan(result: StoredResult, protocol: str | None = None) -> Plan | None:
    """The plan that a result was made with; None where its protocol is not there, or is not the same any more."""
    return _plan(result, protocol, None, [])


def find_path(origin: RunOrigin, each: Input, path: str, root: str | None = None) -> str:
    """Where a file or folder that run.json names is now; InputError if it is nowhere."""
    candidates = [] if path == STANDARD_INPUT else [*_candidates(origin, path, root)]
    for candidate in candidates:
        if candidate.is_file() or candidate.is_dir():
            return _relative_path(candidate)
    raise InputError(
        "verify.input_missing",
        f"the {each.name} that the report was made from came from standard input"
        if path == STANDARD_INPUT
        else f"an input of the report is missing: {each.name}",
        place=Place(str(candidates[0]) if candidates else None),
        advice=f"give its new place: --{each.name} {each.metavar}, or --root DIR if everything was moved",
    )


def _relative_path(path: Path) -> str:
    """The path as someone in this folder would write it."""
    try:
        return str(path.relative_to(Path.cwd()))
    except (OSError, ValueError):
        return str(path)


def _candidates(origin: RunOrigin, path: str, root: str | None) -> Iterator[Path]:
    began = origin.ran_in
    if root is None:
        yield began / path
    elif not os.path.isabs(path):
        yield Path(root) / path
    else:
        moved = Path(path).is_relative_to(began) and began.is_absolute()
        yield Path(root) / Path(path).relative_to(began) if moved else Path(path)
    yield origin.folder / Path(path).name


def _is_unknown(result: StoredResult, each: Input, origin: RunOrigin) -> bool:
    needed = each.required or digests_of(result.report["inputs"].get(each.name))
    return bool(needed) and not origin.input_paths(each.name)


def _unknown_input_error(result: StoredResult, inputs: Sequence[Input], origin: RunOrigin) -> ConfigError:
    why = "run.json does not name it" if origin.run is not None else "there is no run.json that names it"
    return ConfigError(
        "verify.input_unknown",
        f"the place of an input is not known: {', '.join(each.name for each in inputs)} ({why})",
        place=Place(str(result.file)),
        advice="add " + " ".join(f"--{each.name} {each.metavar}" for each in inputs),
    )


def _sha256(file: str, kind: str) -> str:
    try:
        with open(file, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        raise read_failure(file, kind, problem) from None


class OpenedInputs(NamedTuple):
    """Where the parts of a sample are looked up, and what is not shown: a note for each input."""

    lookup: InputLookup
    notes: list[str]


@contextmanager
def open_result_inputs(result: StoredResult, root: str | None = None) -> Iterator[OpenedInputs]:
    """The inputs of a result, as far as they are there and have the bytes that the report says.

    `root` stands for the folder where the command ran.
    """
    notes: list[str] = []
    paths, plan = _paths(result, root, notes), _plan(result, None, root, notes)
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(result.suite.open_inputs(paths, plan))
        except GoldgateError as error:
            opened = EmptyInputLookup()
            notes.append(_hidden_input_note("inputs", str(error)))
        yield OpenedInputs(opened, notes)


def _paths(result: StoredResult, root: str | None, notes: list[str]) -> dict[str, list[str]]:
    """Where each input is, without those of which nothing may be shown."""
    paths: dict[str, list[str]] = {}
    for each in result.suite.inputs:
        try:
            files = locate_input(result, each, root)
            changed = changed_files(result.suite, result.report["inputs"], {each.name: files})
        except GoldgateError as error:
            notes.append(_hidden_input_note(each.name, error.message))
            continue
        if changed:
            notes.append(_hidden_input_note(each.name, "it has changed since"))
        elif files:
            paths[each.name] = files
    return paths


def _plan(result: StoredResult, protocol: str | None, root: str | None, notes: list[str]) -> Plan | None:
    """The plan of the result; None where its protocol is not there, or is not the same any more."""
    digests = digests_of(result.report["inputs"].get(PROTOCOL.name))
    try:
        if digests and protocol is None:
            protocol = next(iter(locate_input(result, PROTOCOL, root)), None)
        plan = load_plan(result.suite, protocol if digests else None)
    except GoldgateError as error:
        notes.append(_hidden_input_note(PROTOCOL.name, error.message))
        return None
    if digests and plan.sha256 not in digests:
        notes.append(_hidden_input_note(PROTOCOL.name, "it has changed since"))
        return None
    return plan


def _hidden_input_note(name: str, why: str) -> str:
    return f"{name}: not shown; {why}"
