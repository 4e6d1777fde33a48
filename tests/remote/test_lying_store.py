"""Stores that answer from another version of a file, list without end, or send a byte now and then."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fsspec import get_filesystem_class

import goldgate
from goldgate.errors import InputError
from goldgate.files import connection, remote
from goldgate.files.reading import RandomAccess
from goldgate.files.remote import open_remote as opened
from tests.remote.web import Site, serving

BUCKET = "lying"
PIECE = 64 << 10
SWAPPED = {"gold.jsonl": (b"value 7", b"value 8"), "predictions.jsonl": (b"another", b"nothing")}


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PIECE", PIECE)


@pytest.fixture
def store(local: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The files on a server that is one of S3 as far as reading goes."""
    files = {f"{BUCKET}/{path.name}": path.read_bytes() for path in local.iterdir()}
    with serving(Site(files=files)) as site:
        monkeypatch.setenv("AWS_ENDPOINT_URL", site.address)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "nothing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        get_filesystem_class("s3").clear_instance_cache()  # these keep the address of their server
        yield site
        get_filesystem_class("s3").clear_instance_cache()


def swap(site: Site, prefix: str = "") -> None:
    """Answers after the first are from files of the same size with other values."""
    for name, (old, new) in SWAPPED.items():
        data = site.files[prefix + name]
        site.other[prefix + name] = data.replace(old, new)
        assert len(site.other[prefix + name]) == len(data)


def reads(file: RandomAccess) -> dict[str, Callable[[], object]]:
    return {
        "ranges in order": lambda: file.read(0, file.size()),
        "ranges apart": lambda: file.read_each([10, 200_000], [10, 10]),
        "digest": file.sha256,
    }


def test_a_range_of_another_version_is_an_error(site: Site, store: Site) -> None:
    for server, url in ((site, site.url("gold.jsonl")), (store, f"s3://{BUCKET}/gold.jsonl")):
        for name, read in reads(opened(url, "gold")).items():
            server.version += 1
            with pytest.raises(InputError) as caught:
                read()
            assert (caught.value.code, caught.value.found) == ("gold.changed", "it was written again"), (url, name)
            server.version -= 1


@pytest.mark.parametrize("workers", [1, 2])
def test_what_is_scored_is_what_was_opened(site: Site, store: Site, workers: int) -> None:
    for server, prefix, folder in ((site, "", site.address), (store, f"{BUCKET}/", f"s3://{BUCKET}")):
        swap(server, prefix)
        inputs = [f"{folder}/{name}" for name in ("gold.jsonl", "predictions.jsonl", "schema.json")]
        with pytest.raises(InputError) as caught:
            goldgate.evaluate_files(*inputs, workers=workers)
        assert caught.value.code.endswith(".changed"), folder


def test_a_server_that_marks_no_versions_is_read_once(local: Path, site: Site) -> None:
    site.etags = False
    swap(site)
    file = opened(site.url("gold.jsonl"), "gold")
    for _ in range(2):
        assert file.read(0, file.size()) == (local / "gold.jsonl").read_bytes()


def test_a_listing_that_begins_again_ends(store: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (
        "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>"
        "<Contents><Key>runs/{}</Key><Size>1</Size></Contents></ListBucketResult>"
    )
    store.page = page.format("a").encode()
    for most, found in ((remote.MAX_ENTRIES, "again and again"), (0, "more than 0 files and folders")):
        monkeypatch.setattr(remote, "MAX_ENTRIES", most)
        with pytest.raises(InputError) as caught:
            remote.scan_remote(f"s3://{BUCKET}/runs", "outputs")
        assert caught.value.code == "outputs.unreadable"
        assert found in str(caught.value.found)
    assert len(store.served) < 5


def test_a_trickle_of_bytes_ends(site: Site, store: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    urls = {site.url("gold.jsonl"): site, f"s3://{BUCKET}/gold.jsonl": store}
    files = {url: opened(url, "gold") for url in urls}
    monkeypatch.setattr(connection, "PATIENCE_SECONDS", 0.3)
    monkeypatch.setattr(connection, "SLOWEST", 1e9)
    for url, file in files.items():
        urls[url].trickle = 0.01
        began = time.monotonic()
        with pytest.raises(InputError) as caught:
            file.read(0, 1000)
        assert caught.value.code == "gold.unreachable", url
        assert time.monotonic() - began < 60, url
    site.ranges = False  # so that it is copied
    with pytest.raises(InputError) as caught:
        opened(site.url("gold.jsonl"), "gold")
    assert caught.value.code == "gold.unreachable"
