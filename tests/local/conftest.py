"""A tiny checkpoint and a little gold."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.local.tiny import make_checkpoint


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_checkpoint(tmp_path_factory.mktemp("checkpoint"))


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    records = [{"id": f"d{n}", "text": f"Strike number {n}." + " More." * (n % 3), "events": []} for n in range(5)]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    (tmp_path / "schema.json").write_text('{"event_types": {"Strike": {"roles": ["Union"]}}}')
    return path
