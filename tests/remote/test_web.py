"""Inputs from a web server: read by ranges, the same report as from a disk, a clear end whatever it does."""

from __future__ import annotations

import gzip
import logging
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from fsspec import AbstractFileSystem, register_implementation
from fsspec.registry import _registry

import goldgate
from goldgate.core.evaluation import render_json
from goldgate.errors import ConfigError, InputError
from goldgate.files import connection, remote
from goldgate.files.connection import connect
from goldgate.files.reading import RandomAccess
from goldgate.files.remote import open_remote as opened
from tests.remote.web import SECRET, Site

PIECE = 64 << 10


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PIECE", PIECE)
    monkeypatch.setattr(remote, "NEAR", 100)


def judge(gold: str, predictions: str, schema: str, protocol: str, workers: int = 1) -> bytes:
    report = goldgate.evaluate_files(gold, predictions, schema, protocol, workers=workers).report
    return render_json(report)


def locally(local: Path, predictions: str = "predictions.jsonl") -> bytes:
    gold, schema, protocol = (str(local / name) for name in ("gold.jsonl", "schema.json", "protocol.yaml"))
    return judge(gold, str(local / predictions), schema, protocol)


def remotely(site: Site, predictions: str = "predictions.jsonl", workers: int = 1, query: str = "") -> bytes:
    gold, schema, protocol = (site.url(name) + query for name in ("gold.jsonl", "schema.json", "protocol.yaml"))
    return judge(gold, site.url(predictions) + query, schema, protocol, workers)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("predictions", ["predictions.jsonl", "backwards.jsonl"])
@pytest.mark.usefixtures("_small_pieces")
def test_report_is_that_of_local_files(local: Path, site: Site, workers: int, predictions: str) -> None:
    assert remotely(site, predictions, workers) == locally(local, predictions)


@pytest.mark.usefixtures("_small_pieces")
def test_a_large_file_is_asked_for_by_ranges(local: Path, site: Site) -> None:
    remotely(site)
    asked = [wanted for name, wanted in site.served if name == "gold.jsonl"]
    assert asked
    assert "" not in asked


def test_a_signed_url_works_on_this_machine(local: Path, site: Site) -> None:
    assert remotely(site, workers=2, query=f"?{SECRET}") == locally(local)


@pytest.mark.usefixtures("_small_pieces")
@pytest.mark.parametrize("says_size", [True, False])
def test_a_server_without_ranges_is_copied_and_that_is_said(
    local: Path, site: Site, caplog: pytest.LogCaptureFixture, says_size: bool
) -> None:
    site.ranges, site.says_size = False, says_size
    with caplog.at_level(logging.WARNING, "goldgate"):
        assert remotely(site, query=f"?{SECRET}") == locally(local)
    assert f"{site.url('gold.jsonl')}?[hidden]: copied to the temporary folder for this run" in caplog.text
    assert "its server does not give parts of a file" in caplog.text
    assert SECRET not in caplog.text


def test_a_small_file_needs_no_ranges_and_no_copy(local: Path, site: Site, caplog: pytest.LogCaptureFixture) -> None:
    site.ranges = False
    assert remotely(site) == locally(local)
    assert not caplog.text


def test_what_is_packed_is_unpacked_and_that_is_said(local: Path, site: Site, caplog: pytest.LogCaptureFixture) -> None:
    packed = gzip.compress(site.files["gold.jsonl"], mtime=0)
    site.files["gold.jsonl"] = packed
    (local / "gold.jsonl").write_bytes(packed)
    assert remotely(site, workers=2) == locally(local)
    assert "gold.jsonl: copied to the temporary folder for this run, because it is packed" in caplog.text


@pytest.mark.parametrize(("status", "code"), [(404, "missing"), (403, "denied"), (401, "denied"), (503, "unreachable")])
def test_a_refusal_is_an_error_of_its_own(site: Site, status: int, code: str) -> None:
    site.status = status
    with pytest.raises(InputError) as caught:
        opened(site.url("gold.jsonl") + f"?{SECRET}", "gold")
    assert caught.value.code == f"gold.{code}"
    assert caught.value.place.file == site.url("gold.jsonl") + "?[hidden]"
    assert SECRET not in str(caught.value)
    assert caught.value.advice


def test_a_server_that_is_not_there_is_an_error(site: Site) -> None:
    with pytest.raises(InputError) as caught:
        opened("http://127.0.0.1:9/gold.jsonl", "gold")
    assert caught.value.code == "gold.unreachable"


@pytest.fixture
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "READ_SECONDS", 0.2)


@pytest.mark.usefixtures("_impatient")
def test_a_server_that_never_answers_is_given_up(site: Site) -> None:
    file = opened(site.url("gold.jsonl"), "gold")
    site.stall = 2.0
    with pytest.raises(InputError) as caught:
        file.read(0, 10)
    assert caught.value.code == "gold.unreachable"


@pytest.mark.usefixtures("_small_pieces")
def test_a_connection_that_is_cut_is_tried_again_a_few_times(local: Path, site: Site) -> None:
    file = opened(site.url("gold.jsonl"), "gold")
    site.cut = connection.TRIES - 1
    assert file.read(100_000, 1000) == site.files["gold.jsonl"][100_000:101_000]
    before = len(site.served)
    site.cut = 1000
    with pytest.raises(InputError) as caught:
        file.read(200_000, 1000)
    assert caught.value.code == "gold.unreachable"
    assert len(site.served) - before == connection.TRIES


def changed_by_etag(site: Site) -> None:
    site.files["gold.jsonl"] = site.files["gold.jsonl"].replace(b"value 7", b"value 8")
    site.version += 1


def changed_by_size(site: Site) -> None:
    site.files["gold.jsonl"] += b"\n"


def removed(site: Site) -> None:
    del site.files["gold.jsonl"]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("change", [changed_by_etag, changed_by_size, removed])
def test_a_file_that_changes_in_the_middle_stops_the_run(site: Site, workers: int, change: object) -> None:
    done: list[int] = []

    def progress(units: int, _: int) -> None:
        if not done:
            change(site)  # type: ignore[operator]
        done.append(units)

    urls = [site.url(name) for name in ("gold.jsonl", "predictions.jsonl", "schema.json")]
    with pytest.raises(InputError) as caught:
        goldgate.evaluate_files(*urls, workers=workers, progress=progress)
    assert caught.value.code == "gold.changed"
    assert caught.value.place.file == site.url("gold.jsonl")


@pytest.mark.usefixtures("_small_pieces")
def test_places_far_apart_are_read_without_what_lies_between(site: Site) -> None:
    file: RandomAccess = opened(site.url("gold.jsonl"), "gold")
    site.served.clear()
    data = site.files["gold.jsonl"]
    offsets, lengths = [90_000, 10, 90_050, 0], [40, 10, 10, 5]
    wanted = [data[at : at + length] for at, length in zip(offsets, lengths, strict=True)]
    assert file.read_each(offsets, lengths) == wanted
    assert sorted(site.served) == [("gold.jsonl", "bytes=0-19"), ("gold.jsonl", "bytes=90000-90059")]


def test_a_signed_url_is_not_sent_to_other_machines(site: Site) -> None:
    with pytest.raises(ConfigError) as caught:
        pickle.dumps(opened(site.url("gold.jsonl") + f"?{SECRET}", "gold"))
    assert caught.value.code == "url.signed"
    assert SECRET not in str(caught.value)


def test_a_library_that_is_missing_beside_fsspec_is_named() -> None:
    code = (
        "import sys; sys.modules['gcsfs'] = None\n"
        "from goldgate.readers.records import open_records\n"
        "open_records('gs://bucket/gold.jsonl', 'gold')"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stderr
    assert "gs://bucket/gold.jsonl needs the extra `remote-gs`, which is not installed" in shown


def test_a_file_that_travels_is_opened_where_it_arrives(site: Site) -> None:
    sent = pickle.loads(pickle.dumps(opened(site.url("gold.jsonl"), "gold")))
    assert sent.read(5, 20) == site.files["gold.jsonl"][5:25]
    sent.require_unchanged()


def test_a_kind_that_wants_settings_is_not_called_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    class Picky(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
        def __init__(self, **options: object) -> None:
            raise ValueError("an account is missing")

    monkeypatch.delitem(_registry, "gs", raising=False)
    register_implementation("gs", Picky, clobber=True)
    with pytest.raises(ConfigError) as caught:
        connect("gs://host/gold.jsonl")
    assert (caught.value.code, caught.value.found) == ("url.unusable", "ValueError: an account is missing")


def test_an_address_of_the_newer_kind_is_not_taken_for_a_chain() -> None:
    assert connect("http://[::1]:81/gold.jsonl").path == "http://[::1]:81/gold.jsonl"
