"""Stores on loopback: a web server, and S3 by moto. Nothing here reaches another machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.remote.samples import write_all
from tests.remote.stores import BUCKET, s3_server
from tests.remote.web import Site, serving


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    from goldgate.files import connection

    monkeypatch.setattr(connection, "PAUSE_SECONDS", 0.01)


@pytest.fixture
def local(tmp_path: Path) -> Path:
    """A folder with gold, predictions, schema and protocol."""
    return write_all(tmp_path / "local")


@pytest.fixture
def site(local: Path) -> Iterator[Site]:
    """The same files on a web server."""
    with serving(Site(files={path.name: path.read_bytes() for path in local.iterdir()})) as site:
        yield site


@pytest.fixture(scope="session")
def _s3_client() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as environment, s3_server(environment) as client:
        yield client


@pytest.fixture
def s3(_s3_client: Any, local: Path) -> Iterator[Any]:
    """A client of a bucket that holds the files of `local`, and nothing else."""
    for path in local.iterdir():
        _s3_client.put_object(Bucket=BUCKET, Key=f"in/{path.name}", Body=path.read_bytes())
    yield _s3_client
    for found in _s3_client.list_objects_v2(Bucket=BUCKET).get("Contents", ()):
        _s3_client.delete_object(Bucket=BUCKET, Key=found["Key"])
