"""Verify whatever is stored there: a result, the sums of its records, a comparison, a baseline record."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from goldgate.baseline.record import KIND as BASELINE
from goldgate.baseline.reference import require_one_kind
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.text_file import read_bytes
from goldgate.readers.no_result import REPORT, no_result, require_here, what_is_there
from goldgate.readers.stored_result import MOST_BYTES, load_result, parse_report
from goldgate.results.baseline import verify_baseline
from goldgate.results.comparison import verify_comparison
from goldgate.results.inputs import Paths, locate
from goldgate.results.origin import COMPARISON, COMPARISON_FILE
from goldgate.results.recompute import verify_result
from goldgate.results.records_check import verify_records
from goldgate.results.verification import Verification
from goldgate.suites import all_suites

BASELINE_FILE = "baseline.json"
_FILES = (REPORT, COMPARISON_FILE, BASELINE_FILE)


def verify(
    path: str,
    given: Paths,
    *,
    root: str | None = None,
    only_records: bool = False,
    reports: Sequence[str] = (),
    workers: int = 1,
) -> Verification:
    """What is in this folder or file, made again. `given` says where inputs are now, `reports` those of a baseline."""
    require_here(path)
    file = _file(Path(path))
    kind = _kind(file)
    if kind == BASELINE:
        return verify_baseline(file, reports)
    if kind == COMPARISON:
        return verify_comparison(file, given, root, workers)
    result = load_result(path, all_suites())
    _require_inputs_of(result.suite, given)
    if only_records:
        return verify_records(result, next(iter(given.get("protocol", ())), None))
    return verify_result(result, locate(result, given, root), workers)


def _file(path: Path) -> Path:
    """The file that says what is stored there."""
    is_folder = os.path.isdir(path)  # a path has a method for it, which fails where a right is missing
    missing = None if is_folder else no_result(path, str(path))
    if missing is not None:
        raise missing
    if not is_folder:
        return path
    require_one_kind(path, str(path))
    for name in _FILES:
        if os.path.exists(path / name):
            return path / name
    found, advice = what_is_there(str(path))
    raise InputError(
        "verify.nothing_there",
        "there is nothing to verify in this folder",
        place=Place(str(path)),
        expected=" or ".join(_FILES),
        found=found,
        advice=advice,
    )


def _kind(file: Path) -> str | None:
    value = parse_report(read_bytes(file, "report", most=MOST_BYTES), str(file))
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if type(kind) is str else None


def _require_inputs_of(suite: Any, given: Paths) -> None:
    known = {each.name for each in suite.inputs} | {"protocol"}
    for name, paths in given.items():
        if paths and name not in known:
            raise ConfigError(
                "verify.not_an_input",
                f"a report of the {suite.name} suite has no {name}",
                expected=", ".join(f"--{each}" for each in sorted(known)),
                found=f"--{name}",
            )
