"""A result folder that is looked at: its report, its units by number, and what they were made from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import orjson

from goldgate.core.page import Page
from goldgate.core.unit_page import UnitPage, UnitSummary
from goldgate.errors import InputError, Place
from goldgate.files.text_file import cannot_read
from goldgate.readers.stored_result import StoredResult, load_result
from goldgate.report import describe
from goldgate.results.units import unit_page
from goldgate.suites import all_suites
from goldgate.viewer.index import Index, Progress
from goldgate.viewer.kept_index import load_index
from goldgate.viewer.opening import OpeningInputs
from goldgate.viewer.search import Searches


@dataclass
class ViewedFolder:
    """Nothing is read but what was opened at the start, by the number of a unit."""

    name: str
    result: StoredResult
    index: Index
    records: int  # the open file
    root: str | None = None  # in place of the folder where the inputs were, if all was moved

    @cached_property
    def page(self) -> Page:
        """The report."""
        try:
            return describe(self.result.report)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            raise InputError(
                "report.malformed",
                "this report is not complete",
                place=Place(str(self.result.file)),
                advice="score it again with --out",
            ) from None

    @cached_property
    def inputs(self) -> OpeningInputs:
        """What the units were made from; it is opened when it is first asked for."""
        return OpeningInputs(self.result, self.root)

    @cached_property
    def searches(self) -> Searches:
        return Searches(self.index)

    @property
    def unit(self) -> str:
        """What a unit is called."""
        return self.result.suite.unit

    def read_at(self, offset: int, length: int) -> bytes:
        """Bytes of the records; what was shortened since it was opened is an InputError."""
        data = os.pread(self.records, length, offset)
        if len(data) != length:
            raise self.changed()
        return data

    def record(self, number: int) -> Mapping[str, Any]:
        """The record of a unit."""
        begin, end = self.index.offsets[number : number + 2]
        try:
            record = orjson.loads(self.read_at(begin, end - begin))
        except ValueError:
            raise self.changed() from None
        if not isinstance(record, dict):
            raise self.changed()
        return record

    def summary(self, number: int) -> UnitSummary:
        """A unit in a list."""
        return self.result.suite.summary(self.record(number))

    def unit_page(self, number: int) -> tuple[UnitSummary, UnitPage]:
        """A unit with all that explains its result."""
        record, suite = self.record(number), self.result.suite
        return suite.summary(record), unit_page(suite, record, self.inputs.given)

    def close(self) -> None:
        os.close(self.records)
        if "inputs" in self.__dict__:
            self.inputs.close()

    def changed(self) -> InputError:
        """The error for records that are not what was opened."""
        return InputError(
            "view.changed",
            "the records were changed since they were opened",
            place=Place(str(self.result.records)),
            advice="start goldgate view again",
        )


def open_folder(path: str, name: str, progress: Progress | None = None, root: str | None = None) -> ViewedFolder:
    """A folder that --out wrote; the first time, its records are read once from end to end."""
    result = load_result(path, all_suites())
    _require_inside(result)
    result.require_records()
    try:
        records = os.open(result.records, os.O_RDONLY | os.O_CLOEXEC)
        try:
            before = _state(os.fstat(records))
            folder = ViewedFolder(name, result, load_index(result, progress), records, root)
            if _state(os.stat(result.records)) != before:  # the index may be that of other records
                raise folder.changed()
            _ = folder.page
        except BaseException:
            os.close(records)
            raise
    except OSError as problem:
        raise cannot_read(str(result.records), "records", problem) from None
    return folder


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _require_inside(result: StoredResult) -> None:
    """Refuse a folder whose files lie elsewhere: a folder from somebody else could show what is not in it."""
    folder = os.path.realpath(result.folder)
    for file in (result.file, result.records):
        real = os.path.realpath(file)
        if os.path.dirname(real) != folder:
            raise InputError(
                "view.leads_out",
                "this file is a link that leads out of its folder",
                place=Place(str(file)),
                expected="a file in the folder itself",
                found=f"a link to {real}",
                advice="copy the file into the folder, if you trust whoever made it",
            )
