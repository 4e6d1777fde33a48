"""Where stored runs are: the systems that a user names, and what run.json says about the origin of a result.

out/b                 a run, named after its folder; or several, where the folder holds seed-1, seed-2, …
NAME=out/b            the same under another name
NAME=one,two          two runs of one system
NAME=out/b-*          all runs that match; patterns are expanded here, whatever the shell does
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from goldgate.core.gate import Verdict
from goldgate.errors import ConfigError, InputError, Place, describe_value
from goldgate.files.parsing import parse_json
from goldgate.files.reading import decode_text, read_bytes
from goldgate.files.writing import escape_surrogates
from goldgate.readers.stored_result import (
    EXPECTED_RESULT,
    MAX_REPORT_BYTES,
    REPORT,
    PathContent,
    StoredResult,
    describe_path,
    require_local,
    require_type,
)
from goldgate.runs.contracts import ComparisonReport

_SEEDS = "seed-*"
_ENDINGS = (".gz", ".jsonl", ".json", ".ndjson")
_PATTERN = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class SystemSource:
    """A system's name and the paths of its runs, as they were given."""

    name: str
    paths: tuple[str, ...]


def find_systems(arguments: Sequence[str], *, alone: bool = False) -> list[SystemSource]:
    """The systems in the order given, every name once. `alone`: one system will do."""
    systems = [_parse_argument(argument) for argument in arguments]
    if len(systems) < 2 and not alone:
        raise ConfigError(
            "compare.one_system",
            "a comparison needs two systems or more",
            expected="two result folders, or two predictions files with --gold",
            found=f"{len(systems)}",
            advice=f"name a second {'file' if os.path.isfile(arguments[0]) else 'system'} to compare with"
            if len(arguments) == 1
            else "several runs of one system are compared with another: B=out/b-1,out/b-2",
        )
    return [
        SystemSource(escape_surrogates(name), tuple(paths))
        for name, (_, paths) in zip(_distinct_names(systems), systems, strict=True)
    ]


def require_results(sources: Iterable[SystemSource]) -> None:
    """Every path is a folder that --out wrote; else the error says what it is, and what may be meant."""
    for path in (path for source in sources for path in source.paths):
        require_local(path)
        if os.path.isfile(os.path.join(path, REPORT)):
            continue
        actual, advice = _what_is_there(path)
        raise InputError(
            "compare.not_a_folder",
            "this folder has no results",
            place=Place(path),
            expected=EXPECTED_RESULT,
            found=actual,
            advice=advice,
        )


def require_predictions(sources: Iterable[SystemSource]) -> None:
    """No path is a folder: with --gold, predictions are compared."""
    for path in (path for source in sources for path in source.paths):
        if os.path.isdir(path):
            stored = os.path.exists(os.path.join(path, REPORT))
            raise InputError(
                "predictions.is_a_directory",
                "with --gold, predictions files are compared, and this is a folder",
                place=Place(path),
                expected="a file of predictions",
                found="a folder with results" if stored else "a folder",
                advice="score the others with --out too, and compare the folders without --gold" if stored else None,
            )


def _what_is_there(path: str) -> PathContent:
    """What is at a path that is not a folder with results; for a file, also how to compare it."""
    if os.path.isfile(path):
        if os.path.basename(path) == REPORT:
            return PathContent("a file", f"name its folder: {os.path.dirname(path) or '.'}")
        return PathContent("a file", "are these predictions? add --gold FILE")
    return describe_path(path)


def _parse_argument(argument: str) -> tuple[str | None, list[str]]:
    """The name that an argument gives, if any, and its paths."""
    if os.path.exists(argument):
        return None, _runs(argument)
    require_local(argument)
    name, equals, rest = argument.partition("=")
    if not equals:
        return None, _expand_path(argument)
    if not name:
        raise ConfigError("compare.bad_name", "a system needs a name before the =", found=argument)
    return name, [path for part in rest.split(",") for path in _expand_path(part)]


def _expand_path(path: str) -> list[str]:
    """The path; of a pattern all that fit it, sorted."""
    require_local(path)
    if os.path.exists(path) or not _PATTERN.intersection(path):
        return _runs(path)
    fitting = sorted(glob.glob(path))
    if not fitting:
        raise InputError(
            "compare.no_match",
            "nothing fits this pattern",
            place=Place(path),
            expected="result folders, or with --gold predictions files",
            advice="several runs of one system are written NAME='PATTERN'",
        )
    return [run for each in fitting for run in _runs(each)]


def _runs(path: str) -> list[str]:
    """A folder without a report that holds seed-1, seed-2, …, as asking with several seeds leaves it, is their runs."""
    if os.path.isdir(path) and not os.path.exists(os.path.join(path, REPORT)):
        seeds = sorted(glob.glob(os.path.join(glob.escape(path), _SEEDS)), key=lambda name: (len(name), name))
        with_report = [folder for folder in seeds if os.path.exists(os.path.join(folder, REPORT))]
        return with_report or [path]
    return [path]


def _stem(path: str) -> str:
    """The last name of a path, without the endings of its format."""
    name = os.path.basename(os.path.normpath(path))
    if name in (".", ".."):
        name = os.path.basename(os.path.realpath(path))
    if not os.path.isdir(path):
        for ending in _ENDINGS:
            name = name.removesuffix(ending)
    return name or path


def _name_of_paths(paths: Sequence[str]) -> str:
    """A name for the paths: of one its own, of several that of the folder that holds them."""
    if len(paths) == 1:
        return _stem(paths[0])
    return _stem(os.path.dirname(os.path.normpath(paths[0])) or ".")


def _distinct_names(systems: Sequence[tuple[str | None, list[str]]]) -> list[str]:
    """Names that occur twice get their parent folder before them, or else a number behind them; given ones are kept."""
    names = [own or _name_of_paths(paths) for own, paths in systems]
    longer = [
        f"{_stem(os.path.dirname(os.path.abspath(paths[0])))}/{name}" if own is None and names.count(name) > 1 else name
        for name, (own, paths) in zip(names, systems, strict=True)
    ]
    if len({*longer}) == len(longer):
        return longer
    seen: Counter[str] = Counter()
    for at, (name, (own, _)) in enumerate(zip(names, systems, strict=True)):
        seen[name] += 1
        if seen[name] > 1 and own is not None:
            message, advice = "two systems have the same name", "give them different names"
            raise ConfigError("compare.names", message, found=name, advice=advice)
        names[at] = name if seen[name] == 1 else f"{name} ({seen[name]})"
    return names


RUN_FILE = "run.json"
SHOWN_DIGEST = 12  # hex digits
COMPARISON, COMPARISON_FILE = "comparison", "comparison.json"


@dataclass(frozen=True, slots=True)
class RunOrigin:
    """What run.json says of where a result came from, as far as it can be read. `folder` is where it lies now."""

    folder: Path
    run: Mapping[str, Any] | None

    @property
    def ran_in(self) -> Path:
        """The folder that the command ran in."""
        ran_in = (self.run or {}).get("folder")
        return Path(ran_in) if type(ran_in) is str else Path()

    @property
    def started(self) -> str:
        """When the command ran, as `2026-11-17 03:34 UTC`; empty where that is not known."""
        try:
            started = datetime.fromisoformat((self.run or {})["started"]).astimezone(UTC)
        except (KeyError, TypeError, ValueError, OverflowError):
            return ""
        return f"{started:%Y-%m-%d %H:%M} UTC"

    def page_digest(self, name: str) -> str | None:
        """The sha256 of a page that was written with run.json."""
        pages = (self.run or {}).get("pages")
        digest = pages.get(name) if isinstance(pages, dict) else None
        return digest if type(digest) is str else None

    def input_paths(self, kind: str) -> list[str]:
        """The paths of an input."""
        inputs = (self.run or {}).get("inputs")
        paths = inputs.get(kind) if isinstance(inputs, dict) else None
        return [path for path in paths if type(path) is str] if isinstance(paths, list) else []


def origin_of(result: StoredResult) -> RunOrigin:
    """The origin of a result; empty for a report under another name, which need not belong to its folder."""
    return load_origin(result.folder) if result.file.name == REPORT else RunOrigin(result.folder, None)


def load_origin(folder: Path) -> RunOrigin:
    """What run.json of a folder says, if it is there."""
    file = folder / RUN_FILE
    if not file.exists():
        return RunOrigin(folder, None)
    run = load_json(file, "run")
    if not isinstance(run, dict):
        raise InputError("run.malformed", "not as goldgate wrote it", place=Place(str(file)), found=describe_value(run))
    return RunOrigin(folder, run)


def load_comparison(file: Path) -> ComparisonReport:
    """A stored comparison.json; an InputError if it is missing or incomplete."""
    value = load_json(file, COMPARISON)
    if isinstance(value, dict) and value.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this comparison has no numbers: it ended in SYSTEM_ERROR", place=Place(str(file))
        )
    require_type(value, ComparisonReport, COMPARISON, str(file))
    return cast(ComparisonReport, value)


def load_json(file: Path, kind: str) -> Any:
    """The value of a JSON file, read strictly."""
    return parse_json(decode_text(read_bytes(file, kind, most=MAX_REPORT_BYTES), str(file), kind), str(file), kind)


def short_digests(digests: Iterable[str]) -> str:
    """The beginnings of digests, for messages."""
    return ", ".join(digest[:SHOWN_DIGEST] for digest in digests) or "none"
