"""A cluster of two nodes for all tests, and one for what spoils nodes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cluster.nodes import Cluster


@pytest.fixture(scope="session")
def started() -> Iterator[Cluster]:
    cluster = Cluster(6399, processors=1)
    yield cluster
    cluster.close()


@pytest.fixture
def cluster(started: Cluster) -> Cluster:
    """Two nodes with a processor each; a test may kill the second."""
    if not any(node.is_alive() for node in started.nodes):
        started.nodes.clear()
        started.add()
    return started


@pytest.fixture(scope="session")
def head_only() -> Iterator[Cluster]:
    cluster = Cluster(6400, processors=0)
    yield cluster
    cluster.close()


@pytest.fixture
def spoiled(head_only: Cluster) -> Iterator[Cluster]:
    """A head without processors: whatever is done is done by the node that the test adds."""
    yield head_only
    head_only.drop()
