"""Run folders on disk: all of them, or none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import orjson

from goldgate.core.evaluation import render_json
from goldgate.errors import ConfigError, Place
from goldgate.files.atomic_write import UNFINISHED, unwritable
from goldgate.imports.build import ImportedRun
from goldgate.suites.research.run.files import CHUNKS, EVENTS, IMPORT, MANIFEST_LINES, OUTPUT

FORMAT_VERSION = 1  # of import.json
_ADVICE = "--out needs the name of a folder that can be made, with room for the runs"


def require_free(path: str) -> None:
    """Refuse a file, and a folder with something in it, before any work is done."""
    if not path:
        raise ConfigError("out.unwritable", "--out needs the name of a folder", found="an empty name")
    if not os.path.lexists(path):
        return
    if not os.path.isdir(path):
        raise ConfigError("out.is_a_file", "--out names a file", place=Place(path), expected="a folder", found="a file")
    with os.scandir(path) as entries:
        is_empty = next(entries, None) is None
    if os.path.samefile(path, os.curdir):  # it is replaced as a whole, and whoever stands in it would see nothing
        raise ConfigError(
            "out.unwritable", "--out is the current folder", place=Place(path), expected="a folder in it, or another"
        )
    if not is_empty:
        raise ConfigError(
            "out.not_empty",
            "the folder for the runs is not empty: runs of another import would be judged with these",
            place=Place(path),
            expected="an empty folder, or one that is not there yet",
            advice="choose another folder for --out, or remove this one",
        )


@contextmanager
def new_folder(path: str) -> Iterator[str]:
    """A folder to write into, which gets its name when it is complete, and is not there otherwise."""
    path = os.path.realpath(path)  # a link to an empty folder stays one
    unfinished = f"{path}.{os.getpid()}{UNFINISHED}"
    try:
        os.makedirs(unfinished)
        try:
            yield unfinished
            os.replace(unfinished, path)  # also in place of an empty folder
        except BaseException:
            shutil.rmtree(unfinished, ignore_errors=True)
            raise
    except OSError as problem:
        raise unwritable(path, problem, _ADVICE, "the folder of the runs cannot be written") from None


def write_run(folder: str, run: ImportedRun, notes: dict[str, Any]) -> None:
    """The files of one run; those that have nothing to hold are not there."""
    os.mkdir(folder)
    _write(folder, OUTPUT, [render_json(run.output)])
    for name, records in ((EVENTS, run.events), (MANIFEST_LINES, run.manifests), (CHUNKS, run.chunks)):
        if records:
            _write(folder, name, (orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE) for record in records))
    _write(folder, IMPORT, [render_json({"format_version": FORMAT_VERSION, **notes})])


def _write(folder: str, name: str, parts: Iterable[bytes]) -> None:
    with open(os.path.join(folder, name), "xb") as stream:
        stream.writelines(parts)
