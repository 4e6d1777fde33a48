"""What is done on a node of a Ray cluster: some shards in one task, each with its answer.

Errors are answers too: Ray would wrap them, and tell of them in its log.
"""

from __future__ import annotations

import pickle
import socket
import time
from collections.abc import Sequence
from typing import Any

from goldgate.engines import worker
from goldgate.engines.build import difference_of, this_build
from goldgate.engines.shared_parts import part_file
from goldgate.engines.travel import Unpacked, unpack
from goldgate.errors import ConfigError

Answer = tuple[bytes, bytes]  # worker.RESULT or worker.ERROR, and it packed

_unpacked: dict[str, Unpacked] = {}  # the work that this process has done last, by its key


def carry_out(
    build: Sequence[str], key: str, sent: Sequence[Any], shards: Sequence[bytes]
) -> tuple[float, list[Answer]]:
    """The seconds it took, and the answers of the shards in order, up to the first error.

    `sent` has a reference to the work and those of the pieces of its copies, as `ray_driver` put them.
    """
    began = time.perf_counter()
    try:
        _require_same(build)
        unpacked = _unpacked_once(key, sent)
    except Exception as problem:
        return 0.0, [_error(problem)]
    answers: list[Answer] = []
    for shard in shards:
        answers.append(_answer(unpacked, shard))
        if answers[-1][0] == worker.ERROR:
            break
    try:
        part_file.finish()
    except OSError as problem:
        answers = [_error(problem)]
    return time.perf_counter() - began, answers


def _answer(unpacked: Unpacked, shard: bytes) -> Answer:
    try:
        try:
            result = pickle.dumps(unpacked.work(pickle.loads(shard)), pickle.HIGHEST_PROTOCOL)
        finally:
            for file in unpacked.files:
                file.require_unchanged()  # if it did change, that is the cause of whatever else was found
    except Exception as problem:
        return _error(problem)
    return worker.RESULT, result


def _error(problem: Exception) -> Answer:
    return worker.ERROR, worker.packed_error(problem)


def _unpacked_once(key: str, sent: Sequence[Any]) -> Unpacked:
    if key not in _unpacked:
        import ray

        packed, pieces = ray.get(sent[0])
        for earlier in _unpacked.values():
            for file in earlier.files:
                file.close()
        _unpacked.clear()
        _unpacked[key] = unpack(packed, lambda copy, number: ray.get(pieces[copy][number]))
    return _unpacked[key]


def _require_same(build: Sequence[str]) -> None:
    """Another build may count otherwise, and the report would not be that of one process."""
    difference = difference_of(build, this_build())
    if difference is not None:
        raise ConfigError(
            "ray.other_build",
            "a node of the cluster has another goldgate, or another Python, than this machine",
            expected="the same on every node",
            found=f"{difference}, on {socket.gethostname()}",
            advice="install the same version of goldgate with the same requirements on every node",
        )
