"""The digests of inputs are the same, whoever makes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldgate.engines import start_engine
from goldgate.readers import joined_suite
from goldgate.readers.joined_suite import open_joined


@pytest.mark.parametrize("files", [1, 3, 9])
def test_digests_are_the_same_made_by_workers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int) -> None:
    paths = []
    for number in range(files):
        paths.append(tmp_path / f"{number}.jsonl")
        paths[-1].write_bytes(b'{"id": "%d"}\n' % number)
    with open_joined(paths, paths) as one:
        expected = one.digests()
    monkeypatch.setattr(joined_suite, "WORTH_BYTES", 0)
    with (
        start_engine(2, "goldgate.readers.joined_suite") as engine,
        open_joined(paths, paths, engine=engine) as several,
    ):
        assert several.digests() == expected
    assert [digest["samples"] for digest in expected["gold"]] == [1] * files
