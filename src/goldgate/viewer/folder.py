"""A result folder in the viewer: its report, its units by number, and the inputs that they were made from.

The index of a folder is kept in the user's cache, never in the folder itself, and loaded as long as records and
report are the same. Inputs are opened in the background: until then, samples are shown without their texts.
"""

from __future__ import annotations

import marshal
import os
import threading
import zlib
from array import array
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG, S_IWGRP, S_IWOTH
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson

from goldgate import __version__
from goldgate.core.gate import Verdict
from goldgate.core.page import Page
from goldgate.core.process import start_background_thread
from goldgate.core.suite import Plan, Suite
from goldgate.core.unit_page import EmptyInputLookup, UnitPage, UnitSummary
from goldgate.errors import GoldgateError, InputError, Place
from goldgate.files.reading import read_failure
from goldgate.files.writing import atomic_file
from goldgate.readers.stored_result import StoredResult, load_result
from goldgate.report import describe_report, name_files, require_complete
from goldgate.runs.sources import origin_of
from goldgate.suites import all_suites
from goldgate.suites.worst_units import Summarize, gate_costs, unit_summaries
from goldgate.verification.inputs import OpenedInputs, open_result_inputs, original_plan
from goldgate.viewer.index import (
    GateExplainer,
    Order,
    Progress,
    UnitIndex,
    ValueUnits,
    build_index,
    describe_record,
    search_records,
    search_words,
)

if TYPE_CHECKING:
    from goldgate.core.contracts import CountedRecord

MAX_CACHE_BYTES = 2 << 30  # of all files together; the ones used longest ago are removed
_MAGIC = b"goldgate view 4\n"  # with another number when the format changes
_ENDING = ".view"

CacheIdentity = list[Any]
Value = TypeVar("Value")


def cache_identity(files: Iterable[Path]) -> CacheIdentity:
    """Path, size, time and inode of each file, and our version: files are unchanged as long as these are equal."""
    identity: CacheIdentity = [__version__]
    for file in files:
        identity.append([os.path.realpath(file), *_state(os.stat(file))])
    return identity


def load_cached(kind: str, of: CacheIdentity, unpack: Callable[[Any], Value]) -> Value | None:
    """The value that the cache has of these files, unpacked; None where it has none that can be used."""
    file = _cache_file(kind, of)
    try:
        data = _read_cache_file(file)
        if not data.startswith(_MAGIC) or zlib.crc32(memoryview(data)[:-4]) != int.from_bytes(data[-4:], "little"):
            return None
        identity, value = marshal.loads(memoryview(data)[len(_MAGIC) : -4])
        if identity != of:
            return None
        with suppress(OSError):
            os.utime(file)  # the ones used longest ago are removed first
        return unpack(value)
    except (OSError, ValueError, LookupError, TypeError, EOFError, GoldgateError):
        return None


def store_cached(kind: str, of: CacheIdentity, value: Any) -> bool:
    """Keep a value for the next time; False where it cannot be written: then it is made again each time.

    It consists of tuples, lists, dicts, texts and numbers; an array comes back as its bytes.
    """
    file = _cache_file(kind, of)
    try:
        os.makedirs(file.parent, mode=0o700, exist_ok=True)  # it has names of samples in it: only for this user
        if not _is_ours(os.stat(file.parent)):
            return False
        data = marshal.dumps((of, value))
        with atomic_file(file, "", make_folder=False) as stream:
            os.fchmod(stream.fileno(), 0o600)
            stream.write(_MAGIC)
            stream.write(data)
            stream.write(zlib.crc32(data, zlib.crc32(_MAGIC)).to_bytes(4, "little"))
        _make_room(file)
    except (OSError, ValueError, GoldgateError):  # a ValueError: too large for marshal
        return False
    return True


def cache_folder() -> Path:
    """goldgate's part of the user's cache, as the XDG rules have it."""
    configured = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(configured) if os.path.isabs(configured) else Path(os.path.expanduser("~"), ".cache")
    return root / "goldgate"


def _cache_file(kind: str, of: CacheIdentity) -> Path:
    """One name for the same paths: a folder that was written again replaces its old index."""
    paths = [part[0] for part in of if isinstance(part, list)]
    digest = sha256("\0".join([kind, *paths]).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return cache_folder() / f"{kind}-{digest}{_ENDING}"


def _read_cache_file(file: Path) -> bytes:
    """The file's bytes; an OSError for a link, a pipe, and what others could have written."""
    with open(os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        status = os.fstat(stream.fileno())
        if not S_ISREG(status.st_mode) or not _is_ours(status):
            raise PermissionError
        return stream.read()


def _is_ours(status: os.stat_result) -> bool:
    """Whether no other user can write it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (S_IWGRP | S_IWOTH)


def _make_room(newest: Path) -> None:
    files = []
    for file in newest.parent.glob(f"*{_ENDING}"):
        with suppress(OSError):
            status = file.stat()
            files.append((file == newest, status.st_mtime_ns, status.st_size, file))
    left = MAX_CACHE_BYTES
    for is_newest, _, size, file in sorted(files, reverse=True):
        left -= size
        if left < 0 and not is_newest:
            with suppress(OSError):
                file.unlink()


_INDEX_KIND = "index"
_MAX_SEARCHES = 8  # whose matches are kept: each has two bits for a unit


def load_index(result: StoredResult, progress: Progress | None = None) -> UnitIndex:
    """The index of a result's records; the first time all of them are read."""
    result.require_records()
    try:
        of = cache_identity((result.records, result.file))
    except OSError as problem:
        raise read_failure(str(result.records), "records", problem) from None
    index = load_cached(_INDEX_KIND, of, _unpack_index)
    if index is not None:
        return index
    index = build_index(result.suite, result.records, explained_gates(result), progress)
    if cache_identity((result.records, result.file)) == of:  # nothing was written while it was read
        facets = {name: {value: tuple(units) for value, units in each.items()} for name, each in index.facets.items()}
        packed = index.offsets, index.by_weight, index.rank, index.wrong, facets, index.left_out
        store_cached(_INDEX_KIND, of, packed)
    return index


def explained_gates(result: StoredResult) -> GateExplainer:
    """Which gates that did not pass a unit costs something, by its record."""
    suite: Suite = result.suite
    plan = original_plan(result)
    settings = suite.settings() if plan is None else plan.settings
    gates = describe_report(result.report).gates or ()
    costs = gate_costs(suite, Plan(settings), [gate for gate in gates if gate.verdict != Verdict.PASS])

    def explained(record: Mapping[str, object]) -> tuple[str, ...]:
        return tuple([metric for metric, cost in costs.items() if cost(cast("CountedRecord", record)) > 0])

    return explained


def _unpack_index(stored: tuple[Any, ...]) -> UnitIndex:
    offsets, by_weight, rank, wrong, facets, left_out = stored
    return UnitIndex(
        array("Q", offsets),
        array("I", by_weight),
        array("I", rank),
        wrong,
        {
            facet: {
                value: ValueUnits(count, bits, None if numbers is None else array("I", numbers))
                for value, (count, bits, numbers) in values.items()
            }
            for facet, values in facets.items()
        },
        left_out,
    )


STILL_OPENING = "the inputs are still being opened: source texts come when the page is loaded again"


class BackgroundInputs:
    """The inputs of a result, opened by a thread of their own. `available` has what is open by now."""

    def __init__(self, result: StoredResult, root: str | None = None) -> None:
        self._result = result
        self._root = root
        self._stack = ExitStack()
        self._done = threading.Event()
        self.available = OpenedInputs(EmptyInputLookup(), [STILL_OPENING])
        start_background_thread(self._open)

    @property
    def is_done(self) -> bool:
        return self._done.is_set()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until all inputs are open, or until the seconds are over."""
        self._done.wait(seconds)

    def close(self) -> None:
        """Close what is open; what is still being opened goes with the process."""
        if self.is_done:
            self._stack.close()

    def _open(self) -> None:
        try:
            self.available = self._stack.enter_context(open_result_inputs(self._result, root=self._root))
        except Exception as problem:  # whatever it is: a page must not wait for ever
            why = problem.message if isinstance(problem, GoldgateError) else type(problem).__name__
            self.available = OpenedInputs(EmptyInputLookup(), [f"the inputs cannot be opened: {why}"])
        finally:
            self._done.set()


@dataclass
class ViewedFolder:
    """A result folder that is open for viewing. Units are read by their number, from files opened at the start."""

    name: str
    result: StoredResult
    index: UnitIndex
    records: int  # the open file
    root: str | None = None  # in place of the folder where the inputs were, if all was moved

    @cached_property
    def page(self) -> Page:
        """The page of the report."""
        with require_complete(self.result.file, "score it again with --out"):
            page = describe_report(self.result.report)
        with suppress(GoldgateError):  # a run.json that cannot be read
            origin = origin_of(self.result)
            page = name_files(page, {each.name: origin.input_paths(each.name) for each in self.result.suite.inputs})
            return page._replace(scored_at=origin.started)
        return page

    @cached_property
    def inputs(self) -> BackgroundInputs:
        """What the units were made from; it is opened when it is first asked for."""
        return BackgroundInputs(self.result, self.root)

    @cached_property
    def _search(self) -> Callable[[tuple[bytes, ...]], dict[Order, int]]:
        return lru_cache(_MAX_SEARCHES)(lambda words: search_records(self.index, words, self.read_at))

    def search(self, text: str, order: Order) -> int | None:
        """The places of units with all words of a text; None where it has none."""
        words = search_words(text)
        return self._search(words)[order] if words else None

    @property
    def unit(self) -> str:
        """The word for a unit, such as sample."""
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

    @cached_property
    def summarize(self) -> Summarize:
        """The function that summarizes a unit for a list."""
        return unit_summaries(self.result.suite, original_plan(self.result) or Plan(self.result.suite.settings()))

    def summary(self, number: int) -> UnitSummary:
        """The summary of a unit for a list."""
        return describe_record(self.summarize, self.record(number), self.inputs.available.lookup)

    def unit_page(self, number: int) -> tuple[UnitSummary, UnitPage]:
        """A unit with all that explains its result."""
        page = describe_record(self.result.suite.unit_page, self.record(number), self.inputs.available.lookup)
        return self.summary(number), page

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
        raise read_failure(str(result.records), "records", problem) from None
    return folder


def _state(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _require_inside(result: StoredResult) -> None:
    """Refuse a folder whose files lie elsewhere: a folder from another author could show what is not in it."""
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
                advice="copy the file into the folder, if you trust its author",
            )
