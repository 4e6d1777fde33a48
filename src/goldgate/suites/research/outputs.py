"""The outputs folder: its run directories, split into shards, and the work on one shard."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from goldgate.errors import InputError, Place
from goldgate.files.address import is_url
from goldgate.files.reading import is_outside
from goldgate.files.remote.remote_folder import scan_remote
from goldgate.files.writing import escape_name
from goldgate.readers.stored_result import describe_path
from goldgate.suites.research.golden import Golden, load_golden
from goldgate.suites.research.run.facts import RunResult, RunSettings, judge_run
from goldgate.suites.research.run.files import RUN_FILES

SHARD_RUNS = 32
_SHOWN_NAMES = 5


class RunDirectory(NamedTuple):
    """A directory to judge; `refused` says why it must not be entered."""

    name: str
    refused: str | None = None


class OutputsListing(NamedTuple):
    """What lies in the outputs folder, sorted: the order on disk changes nothing."""

    root: str  # the real path
    directories: list[RunDirectory]
    ignored_entries: list[tuple[str, str]]  # name, reason


def list_outputs(outputs: str, own: frozenset[str] = frozenset()) -> OutputsListing:
    """The directories of the outputs folder. `own` are names of files that we wrote there ourselves."""
    if is_url(outputs):
        return _list_remote(outputs, own)
    root = os.path.realpath(outputs)
    directories: list[RunDirectory] = []
    ignored_entries: list[tuple[str, str]] = []
    try:
        with os.scandir(root) as entries:
            for entry in entries:
                if entry.is_symlink() and not os.path.exists(entry.path):
                    ignored_entries.append((entry.name, "a link that leads nowhere"))
                elif entry.is_symlink() and is_outside(root, entry.path):
                    if os.path.isdir(entry.path):
                        directories.append(RunDirectory(entry.name, "a link that leaves the outputs directory"))
                    else:
                        ignored_entries.append((entry.name, "a link that leaves the outputs directory"))
                elif entry.is_dir():
                    linked = _linked_run(root, entry)
                    if linked is None:
                        directories.append(RunDirectory(entry.name))
                    else:
                        reason = f"a link to {escape_name(linked)}, which counts under its own name"
                        ignored_entries.append((entry.name, reason))
                elif entry.name not in own:
                    ignored_entries.append((entry.name, "not a directory"))
    except FileNotFoundError:
        advice = describe_path(outputs).advice
        raise _outputs_error(outputs, "outputs.missing", "the outputs directory does not exist", advice) from None
    except NotADirectoryError:
        raise _outputs_error(outputs, "outputs.not_a_directory", "the outputs must be a directory") from None
    except OSError as problem:
        raise _outputs_error(
            outputs, "outputs.unreadable", f"the outputs directory cannot be read: {problem.strerror}"
        ) from None
    ignored_entries = [(escape_name(name), reason) for name, reason in ignored_entries]
    return OutputsListing(root, sorted(directories), sorted(ignored_entries))


def _list_remote(outputs: str, own: frozenset[str]) -> OutputsListing:
    entries = scan_remote(outputs, "outputs")
    ignored_entries = [(escape_name(entry.name), "not a directory") for entry in entries if entry.is_file()]
    return OutputsListing(
        outputs.rstrip("/"),
        [RunDirectory(entry.name) for entry in entries if entry.is_dir()],
        [entry for entry in ignored_entries if entry[0] not in own],
    )


def no_runs_error(outputs: str, listing: OutputsListing) -> InputError:
    """Nothing was measured; the error says what is there instead."""
    names = {entry.name for entry in listing.directories} | {name for name, _ in listing.ignored_entries}
    if RUN_FILES & names:
        actual, advice = "the files of one run", "name the folder above it: the one that holds all runs"
    elif deeper := _folder_of_runs(listing):
        actual, advice = f"runs one folder deeper, in {deeper}", f"name that folder: {os.path.join(outputs, deeper)}"
    elif names:
        first = ", ".join(sorted(names)[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
        actual = f"no run, but {first}"
        advice = "these are not the files of a run; docs/research.md says what a run leaves behind"
    else:
        actual, advice = "an empty directory", "run the agent first, or name the folder with its runs"
    return InputError(
        "outputs.no_runs",
        "there are no runs: nothing was measured",
        place=Place(outputs),
        expected=f"a directory for each run, with {', '.join(sorted(RUN_FILES))} in it (--outputs)",
        found=actual,
        advice=advice,
    )


def _folder_of_runs(listing: OutputsListing) -> str | None:
    """The first directory whose own directories have files of a run."""
    for entry in listing.directories[:_SHOWN_NAMES] if listing.directories else ():
        if entry.refused is not None:
            continue
        try:
            with os.scandir(os.path.join(listing.root, entry.name)) as inner:
                folders = sorted(folder.path for folder in inner if folder.is_dir(follow_symlinks=False))
            if any(not RUN_FILES.isdisjoint(os.listdir(folder)) for folder in folders[:_SHOWN_NAMES]):
                return escape_name(entry.name)
        except OSError:
            continue
    return None


def run_shards(directories: list[RunDirectory]) -> Iterator[list[RunDirectory]]:
    """The directories in their order, cut into pieces."""
    for begin in range(0, len(directories), SHARD_RUNS):
        yield directories[begin : begin + SHARD_RUNS]


class RunJudge:
    """Judges shards of run directories. It can be sent to another process."""

    def __init__(self, root: str, golden: Golden, settings: RunSettings, *, with_content: bool = False) -> None:
        self.root = root
        self.golden = golden
        self.settings = settings
        self.with_content = with_content

    def __reduce__(self) -> tuple[object, ...]:
        rest = self.settings, self.with_content
        if not os.path.isfile(self.golden.path):  # it came through a pipe, which cannot be read twice
            return (_run_judge, (self.root, self.golden, *rest))
        # It goes along with every shard: the golden queries, which may be many, are read again instead.
        return (_run_judge_from_path, (self.root, self.golden.path, self.golden.sha256, *rest))

    def __call__(self, shard: list[RunDirectory]) -> list[RunResult]:
        for name, refused in () if is_url(self.root) else shard:
            if refused is None and not os.path.lexists(os.path.join(self.root, name)):
                raise _removed_run_error(name)
        return [
            judge_run(self.root, name, self.golden, self.settings, refused=refused, with_content=self.with_content)
            for name, refused in shard
        ]


def _linked_run(root: str, entry: os.DirEntry[str]) -> str | None:
    """The name of the directory beside it that a link leads to, as `latest` does: no trial of its own."""
    if not entry.is_symlink():
        return None
    folder, name = os.path.split(os.path.realpath(entry.path))
    return name if folder == root else None


def _removed_run_error(name: str) -> InputError:
    """A run that was listed and is not there would be judged as one that left nothing behind."""
    return InputError(
        "outputs.changed",
        "a run was removed while the runs were being read, or a node of the cluster does not see it",
        place=Place(escape_name(name)),
        expected="the same folder under the same path on every node, until the end",
        advice="run the command again when no process changes the folder; put it where all nodes see it",
    )


def _run_judge(root: str, golden: Golden, settings: RunSettings, with_content: bool) -> RunJudge:
    return RunJudge(root, golden, settings, with_content=with_content)


def _run_judge_from_path(root: str, path: str, sha256: str, settings: RunSettings, with_content: bool) -> RunJudge:
    golden = load_golden(path)
    if golden.sha256 != sha256:
        raise InputError("golden.changed", "the golden file changed while it was being read", place=Place(path))
    return _run_judge(root, golden, settings, with_content)


def _outputs_error(outputs: str, code: str, message: str, advice: str | None = None) -> InputError:
    return InputError(
        code,
        message,
        place=Place(outputs),
        expected="a directory with a directory for each run (--outputs)",
        advice=advice,
    )
