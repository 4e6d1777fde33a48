"""A stored comparison, made again from the results or predictions that it compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from goldgate.comparison.compare import Comparison, compare_systems
from goldgate.comparison.systems import SystemSource
from goldgate.core.suite import Input
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.pipe import opener
from goldgate.files.text_file import cannot_read, read_bytes
from goldgate.readers.stored_result import MOST_BYTES
from goldgate.report import render_page
from goldgate.results.differences import NOTHING, Difference, compare_json, compare_records, compare_text
from goldgate.results.inputs import PROTOCOL, Paths, find_path, used_inputs
from goldgate.results.origin import COMPARISON, load_json, load_origin
from goldgate.results.pictures import comparison_page
from goldgate.results.verification import Verification

MARKDOWN, HTML, CHANGED = "comparison.md", "comparison.html", "changed.jsonl"
SYSTEMS = Input("systems", "The systems that are compared.", metavar="DIR", many=True)
_INPUTS = (SYSTEMS, Input("gold", "The gold.", many=True), Input("schema", "The event schema."), PROTOCOL)
_RESULTS = "the results that it compares: they are taken as they are (verify each of them)"
_RUN = "run.json: it says when and where, which nobody can work out again"


def verify_comparison(file: Path, given: Paths, root: str | None = None, workers: int = 1) -> Verification:
    """Compare the same systems again, and the files that come of it with those that are stored."""
    data, stored = load_json(file, COMPARISON)
    origin = load_origin(file.parent)
    paths = {
        each.name: [*given.get(each.name, ())] or [find_path(origin, each, p, root) for p in origin.named(each.name)]
        for each in _INPUTS
    }
    sources = _sources(stored, paths[SYSTEMS.name], file)
    again = compare_systems(
        sources,
        gold=paths["gold"],
        schema=paths["schema"],
        protocol=next(iter(paths[PROTOCOL.name]), None),
        suite=str(stored.get("suite")),
        against=stored.get("against"),
        common=bool(stored.get("left_out")) or stored.get("same_gold") is False,
        workers=workers,
    )
    found = [
        compare_json(file.name, data, again.to_json().encode(), last="systems"),
        _compare_page(file.parent / MARKDOWN, "markdown", again),
        _compare_page(file.parent / HTML, "html", again),
        _compare_changed(file.parent / CHANGED, again),
    ]
    report = again.report
    return Verification(
        of="comparison",
        subject=str(report["suite"]),
        compared=[file.name, MARKDOWN, HTML, CHANGED],
        differences=[difference for difference in found if difference is not None],
        inputs=used_inputs(dict(_digests(stored)), dict(_digests(report)), _files(sources, paths)),
        not_compared=[_RUN] if paths["gold"] else [_RUN, _RESULTS],
    )


def _sources(stored: Any, paths: Sequence[str], file: Path) -> list[SystemSource]:
    """Every system with as many of the paths as it has runs."""
    try:
        runs = [(str(system["name"]), len(system["runs"])) for system in stored["systems"]]
        _ = dict(_digests(stored))
        if not isinstance(stored.get("against"), str):
            raise TypeError("against")
    except (KeyError, TypeError, AttributeError):
        raise InputError("comparison.malformed", "this comparison is not complete", place=Place(str(file))) from None
    if sum(count for _, count in runs) != len(paths):
        raise ConfigError(
            "verify.input_unknown",
            "nobody says where the systems of this comparison are",
            place=Place(str(file)),
            expected=f"{sum(count for _, count in runs)} folders or files, in the order of the comparison",
            found=str(len(paths)),
            advice="add --systems DIR...",
        )
    rest = iter(paths)
    return [SystemSource(name, tuple(next(rest) for _ in range(count))) for name, count in runs]


def _files(sources: Sequence[SystemSource], paths: Paths) -> dict[str, Sequence[str]]:
    return {**paths, **{f"system {source.name}": source.paths for source in sources}}


def _digests(report: Any) -> Iterator[tuple[str, list[str]]]:
    """What a comparison says of its inputs: the gold, and what each system made."""
    yield from _items(report.get("gold"))
    for system in report["systems"]:
        made = [digest for run in system["runs"] for _, found in _items(run.get("inputs")) for digest in found]
        yield f"system {system['name']}", made


def _items(digests: Any) -> list[tuple[str, list[str]]]:
    found = digests.items() if isinstance(digests, dict) else ()
    return [(kind, listed) for kind, listed in found if isinstance(listed, list)]


def _compare_page(file: Path, format: str, again: Comparison) -> Difference | None:
    if not file.exists():
        return Difference(file.name, NOTHING, "a file")
    wanted = render_page(comparison_page(again.report), format).encode("utf-8", "backslashreplace")
    return compare_text(file.name, read_bytes(file, COMPARISON, most=MOST_BYTES), wanted)


def _compare_changed(file: Path, again: Comparison) -> Difference | None:
    if not file.exists():
        return Difference(file.name, NOTHING, "a file")
    try:
        with open(file, "rb", opener=opener) as stored:
            return compare_records(file.name, stored, again.changed_lines())
    except OSError as problem:
        raise cannot_read(str(file), COMPARISON, problem) from None
