"""Nodes that are not like the machine that evaluates: they lack a file, or goldgate, or have another one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import goldgate
from goldgate.engines.ray_engine import RayEngine
from goldgate.errors import ConfigError, InputError, MachineError
from tests.chaos.runs import make_data
from tests.cluster.nodes import Cluster
from tests.cluster.test_reports import files_of, given, judge, on, report_of
from tests.cluster.work import Traced


def test_files_that_a_node_does_not_see(spoiled: Cluster, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    spoiled.add(inside=["unshare", "--mount", "sh", "-c", f'mount -t tmpfs none "{hidden}" && exec "$@"', "-"])
    with pytest.raises(InputError) as caught:
        report_of(make_data(hidden), spoiled)
    assert caught.value.code == "gold.not_on_node"
    assert "No such file" in str(caught.value.found)

    # The results' folder may be one of the machine's own: then records travel with the results.
    seen = tmp_path / "seen"
    seen.mkdir()
    inputs = given(make_data(seen))
    assert judge("extraction", inputs, "--out", str(tmp_path / "one")).returncode == 0
    assert judge("extraction", inputs, "--out", str(hidden / "ray"), *on(spoiled)).returncode == 0
    assert files_of(hidden / "ray") == files_of(tmp_path / "one")


def test_node_whose_memory_is_full_is_an_error(
    spoiled: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To Ray's own watch, that is: for it a node is full from the first byte on."""
    monkeypatch.setenv("RAY_task_oom_retry_delay_base_ms", "10")
    spoiled.add({"RAY_memory_usage_threshold": "0", "RAY_memory_monitor_refresh_ms": "50"})
    with RayEngine(spoiled.address) as engine, pytest.raises(MachineError) as caught:
        list(engine.map(Traced(tmp_path, 60), [1]))
    assert caught.value.code == "ray.out_of_memory"


@pytest.mark.parametrize("lost", ["raylet", "gcs_server"])
def test_lost_head_is_an_error(tmp_path: Path, lost: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_gcs_rpc_server_reconnect_timeout_s", "5")  # Ray itself waits for a minute
    cluster = Cluster(6401 if lost == "raylet" else 6402, processors=1)
    try:
        with RayEngine(cluster.address) as engine:
            results = engine.map(Traced(tmp_path, 0.2), range(10_000))
            next(results)
            cluster.kill_of_head(lost)
            with pytest.raises(MachineError) as caught:
                list(results)
    finally:
        cluster.close()
    assert caught.value.code in ("ray.lost", "ray.work_lost")


@pytest.mark.parametrize("code", ["ray.other_build", "ray.no_goldgate"])
def test_node_with_another_goldgate_or_none_is_an_error(spoiled: Cluster, tmp_path: Path, code: str) -> None:
    package = tmp_path / "goldgate"
    if code == "ray.other_build":
        shutil.copytree(Path(goldgate.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
        version = package / "__init__.py"
        version.write_text(version.read_text().replace(goldgate.__version__, "0.0.7"))
    else:
        package.mkdir()
        (package / "__init__.py").touch()
    spoiled.add({"PYTHONPATH": str(tmp_path)})
    with RayEngine(spoiled.address) as engine, pytest.raises(ConfigError) as caught:
        list(engine.map(str, range(9)))
    assert caught.value.code == code
    assert ("0.0.7" if code == "ray.other_build" else "goldgate.engines") in str(caught.value.found)
