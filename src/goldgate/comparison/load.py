"""The results that are compared: folders that `--out` wrote, or predictions, scored first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from goldgate.core.evaluation import render_json
from goldgate.core.suite import Suite
from goldgate.errors import InputError, Place
from goldgate.pipeline import evaluate
from goldgate.protocol.load import ProtocolSource
from goldgate.readers.no_result import REPORT, require_here
from goldgate.readers.stored_result import StoredResult, load_result
from goldgate.suites import all_suites


def load_run(folder: str) -> StoredResult:
    """The result in a folder, whatever suite it is of, with the records of its units."""
    require_here(folder)
    root = Path(folder)
    if not root.is_dir():
        raise InputError(
            "compare.not_a_folder",
            "this is no folder with results",
            place=Place(folder),
            expected="a folder that --out wrote",
            found="a file" if root.exists() else "nothing",
            advice="predictions are compared with --gold" if root.exists() else None,
        )
    result = load_result(root, all_suites(), folder)
    result.require_records()
    return result


def score_predictions(
    suite: Suite, inputs: Mapping[str, Sequence[str]], protocol: ProtocolSource, folder: Path, workers: int = 1
) -> StoredResult:
    """Score predictions; what a comparison needs of the result goes to the folder."""
    folder.mkdir()
    with open(folder / suite.records, "xb") as stream:
        evaluation = evaluate(suite, inputs, protocol, workers=workers, records=stream)
    (folder / REPORT).write_bytes(render_json(evaluation.report))
    return load_result(folder, [suite], ", ".join(inputs["predictions"]))
