"""The engine on two nodes: results in order, errors as they were raised, and nothing lost when a node is."""

from __future__ import annotations

import json
import sys
from functools import partial
from pathlib import Path

import pytest

from goldgate.engines.ray_engine import RayEngine
from goldgate.errors import InputError, MachineError, Place
from goldgate.files.reading import read_text_file
from tests.cluster.nodes import PATIENCE, Cluster, wait_for
from tests.cluster.work import FirstIsSlow, Killed, Traced, without_memory


def test_results_come_in_the_order_of_the_shards(cluster: Cluster) -> None:
    with RayEngine(cluster.address) as engine:
        assert list(engine.map(json.loads, map(str, range(500)))) == list(range(500))
        assert list(engine.map(str, range(5))) == list("01234")  # other work, the same engine
        assert list(engine.map(str, [])) == []


def test_first_error_in_the_order_of_the_shards_is_ours_with_its_place(cluster: Cluster) -> None:
    work = partial(read_text_file, kind="gold")
    with RayEngine(cluster.address) as engine:
        with pytest.raises(InputError) as caught:
            list(engine.map(work, [sys.executable + str(number) for number in range(9)]))
        assert caught.value.code == "gold.missing"
        assert caught.value.place == Place(sys.executable + "0")
        assert list(engine.map(str, [1])) == ["1"]  # it can still be used


@pytest.mark.parametrize(("call", "expected"), [("cancel", "does not exist"), ("wait", "odd")])
def test_call_of_ray_that_fails_ends_a_map_and_not_the_engine(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, expected: str
) -> None:
    """In the process that speaks with the cluster; an error of the work is what is reported, if there is one."""
    (tmp_path / "sitecustomize.py").write_text(
        f"import ray\nhere = ray.{call}\ndef odd(*_, **__):\n    ray.{call} = here\n    raise TypeError('odd')\n"
        f"ray.{call} = odd\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    work = partial(read_text_file, kind="gold")
    with RayEngine(cluster.address) as engine:
        with pytest.raises((InputError, TypeError), match=expected):
            list(engine.map(work, [sys.executable + str(number) for number in range(9)]))
        assert list(engine.map(str, range(5))) == list("01234")


def test_error_that_cannot_travel_is_named(cluster: Cluster) -> None:
    with RayEngine(cluster.address) as engine, pytest.raises(RuntimeError, match="Odd: deep"):
        list(engine.map(eval, ["(_ for _ in ()).throw(type('Odd', (Exception,), {})('deep'))"]))


def test_killed_node_costs_nothing_but_time(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    killed = tmp_path / "killed"
    work, node = Traced(tmp_path / "traces", 2 * PATIENCE, until=killed), cluster.nodes[0]
    with RayEngine(cluster.address) as engine:
        results = engine.map(work, range(16))
        found = [next(results)]
        wait_for(lambda: work.is_under_way(node.raylet))
        node.kill()
        killed.touch()
        found += results
    assert found == list(range(16))
    assert len(work.tries()) > 16  # what was lost was done again


def test_slow_first_shard_keeps_nobody_waiting(cluster: Cluster, tmp_path: Path) -> None:
    with RayEngine(cluster.address) as engine:
        first, *rest = engine.map(FirstIsSlow(tmp_path, 20), range(25))
    assert first > 20
    assert rest == list(range(1, 25))


def test_worker_that_is_killed_once_costs_nothing_but_time(cluster: Cluster, tmp_path: Path) -> None:
    with RayEngine(cluster.address) as engine:
        assert list(engine.map(Killed(tmp_path, 1), range(8))) == list(range(8))


def test_work_that_always_kills_its_worker_is_an_error(cluster: Cluster, tmp_path: Path) -> None:
    with RayEngine(cluster.address) as engine, pytest.raises(MachineError) as caught:
        list(engine.map(Killed(tmp_path, 99), range(8)))
    assert caught.value.code == "ray.work_lost"
    assert len(list(tmp_path.iterdir())) == 5


def test_worker_without_memory_says_so(cluster: Cluster) -> None:
    with RayEngine(cluster.address) as engine, pytest.raises(MemoryError):
        list(engine.map(without_memory, [1]))


def test_no_processor_is_an_error_after_some_time(spoiled: Cluster) -> None:
    with RayEngine(spoiled.address, patience=3) as engine, pytest.raises(MachineError) as caught:
        list(engine.map(str, [1]))
    assert caught.value.code == "ray.no_processors"


def test_map_that_nobody_reads_to_its_end_gives_way_to_the_next(cluster: Cluster) -> None:
    with RayEngine(cluster.address) as engine:
        assert engine.workers == 2
        first = engine.map(str, range(3))
        assert [next(first), next(first), next(first)] == ["0", "1", "2"]  # its end is not asked for
        second = engine.map(bytes, [1_000_000] * 50)  # more than a socket holds
        assert len(next(second)) == 1_000_000
        assert list(engine.map(str, range(5))) == list("01234")
        with pytest.raises(RuntimeError, match="another map began"):
            next(second)
