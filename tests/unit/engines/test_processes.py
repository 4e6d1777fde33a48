"""Worker processes: results and errors come back in order, open files travel along, and nobody stays behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from goldgate.engines import start_engine
from goldgate.errors import InputError, MachineError, Place
from goldgate.files.reading import read_text_file
from goldgate.readers.id_index import open_store
from goldgate.readers.records import OFFSET_BITS
from tests.cases import error_from

# Workers cannot import this file, so the work in here is done by functions from elsewhere.


def mapped(work: Callable[[Any], Any], shards: Iterable[Any], workers: int = 2) -> list[Any]:
    with start_engine(workers, "goldgate.readers.records") as engine:
        return list(engine.map(work, shards))


def test_first_error_in_the_order_of_the_shards_is_raised_with_its_place() -> None:
    error = error_from(
        InputError, mapped, partial(read_text_file, kind="gold"), [sys.executable + str(number) for number in range(9)]
    )
    assert error.code == "gold.missing"
    assert error.place == Place(sys.executable + "0")


def test_error_that_cannot_travel_is_named_and_has_the_traceback_of_its_worker() -> None:
    with pytest.raises(RuntimeError, match="Odd: deep") as caught:
        mapped(eval, ["(_ for _ in ()).throw(type('Odd', (Exception,), {})('deep'))"])
    assert "processes.py" in str(caught.value.__cause__)


def test_hundreds_of_open_files_travel_along(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.jsonl" for number in range(450)]
    for number, path in enumerate(paths):
        path.write_bytes(b"\n" * number + b"{}")
    store = open_store(paths, "gold")
    for path in paths:
        path.unlink()  # what was opened is read all the same
    shards = [(number << OFFSET_BITS) + number for number in range(len(paths))]
    assert [place.line for place in mapped(store.place, shards)] == [number + 1 for number in range(len(paths))]
    store.close()


def test_workers_that_cannot_be_started_are_an_error_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert error_from(MachineError, mapped, json.loads, ["1"]).code == "machine.processes"


def test_workers_end_with_whoever_started_them() -> None:
    """The first process is killed while a worker is at work: the pipe that it held tells the worker."""
    code = "from goldgate.engines import start_engine; import sys, os\n"
    code += "with start_engine(1, 'json') as engine:\n"
    code += "    for pid in engine.map(eval, [\"__import__('os').getpid()\", \"__import__('time').sleep(600)\"]):\n"
    code += "        print(pid, flush=True); os.kill(os.getpid(), 9)\n"
    first = subprocess.run([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, check=False)
    assert first.returncode == -9
    worker = int(first.stdout)
    for _ in range(3_000):
        if not _runs(worker):
            return
        time.sleep(0.02)
    raise AssertionError("the worker is still there")


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # one that ended and was not yet waited for does not count
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return True
