"""What is there in place of a stored result, and what to do: the words of an error."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISDIR
from typing import NamedTuple

from goldgate.errors import ConfigError, InputError, Place, did_you_mean
from goldgate.files.url import is_url, shown_url

REPORT, BASELINE = "report.json", "baseline.json"
EXPECTED = f"a folder that --out wrote, with {REPORT}"
_CHECK = "check the name, and the folder that it is named from"
_SCORE = "judge something with --out first: it writes such a folder"
_SHOWN = 3  # of the results in a folder


def require_here(path: str | Path) -> None:
    """Refuse a URL: stored results are read again and again, in places."""
    if is_url(path):
        raise ConfigError(
            "report.elsewhere",
            "stored results are read from a disk, not from a URL",
            place=Place(shown_url(str(path))),
            advice="copy the folder to this machine, for example with aws s3 cp --recursive, and name it",
        )


def no_result(path: str | Path, named: str) -> InputError | None:
    """The error for a path that is neither a file nor a folder with a report; None if it may be one."""
    given = str(path)
    is_folder = os.path.isdir(given)
    if os.path.lexists(os.path.join(given, REPORT) if is_folder else given):
        return None
    found, advice = what_is_there(given)
    return InputError(
        "report.missing",
        f"there is no {REPORT} in this folder" if is_folder else "there is no such folder, and no such file",
        place=Place(named),
        expected=EXPECTED,
        found=found,
        advice=advice,
    )


class Instead(NamedTuple):
    """What is there in place of a folder that was meant, and what to do."""

    found: str
    advice: str


def what_is_there(path: str) -> Instead:
    """In place of a folder with results: what there is, and what to do."""
    folder, name = os.path.split(os.path.normpath(path))
    try:
        if not _is_folder(path):
            near = sorted(entry.name for entry in os.scandir(folder or ".") if entry.is_dir())
            return Instead("nothing", did_you_mean(name, near) or _CHECK)
        inside = sorted(entry.name for entry in os.scandir(path))
    except (FileNotFoundError, ValueError):
        return Instead("nothing", _CHECK)
    except OSError as problem:
        why = problem.strerror or type(problem).__name__
        return Instead(f"nothing that can be read: {why}", "check the name, and whether you may read it")
    if BASELINE in inside:
        return Instead("a baseline", "a gate compares with a baseline; here, name the folder that it was made of")
    results = [name for name in inside if os.path.isfile(os.path.join(path, name, REPORT))]
    if results:
        more = f" and {len(results) - _SHOWN} more" if len(results) > _SHOWN else ""
        return Instead(f"a folder that holds {', '.join(results[:_SHOWN])}{more}", f"name those: {path.rstrip('/')}/*")
    return Instead("a folder without it" if inside else "an empty folder", _SCORE)


def _is_folder(path: str) -> bool:
    """Whether it is one. What keeps us from seeing it, such as a right that is missing, is an OSError."""
    try:
        return S_ISDIR(os.stat(path).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
