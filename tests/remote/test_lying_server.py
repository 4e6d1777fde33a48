"""A web server that does not keep to what it said: no more is read than was asked for, and the error says so."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from goldgate.errors import InputError
from goldgate.files import remote
from goldgate.files.reading import MAX_BYTES, read_text_file
from goldgate.files.remote import open_remote as opened
from tests.remote.web import ENDLESS, Site

FEW = ENDLESS // 4  # bytes, of which most are in the buffers of the system


@pytest.fixture
def _small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "PIECE", 64 << 10)


@contextmanager
def refused(code: str, found: str = "") -> Iterator[None]:
    with pytest.raises(InputError) as caught:
        yield
    assert caught.value.code == code
    assert found in str(caught.value.found)


def test_an_answer_that_does_not_end_is_given_up_at_the_size_of_the_file(site: Site) -> None:
    file = opened(site.url("gold.jsonl"), "gold")
    site.endless = True
    with refused("gold.no_ranges"):
        file.read(0, 10)
    assert site.sent < FEW


@pytest.mark.usefixtures("_small_pieces")
def test_a_range_that_does_not_end_is_given_up(site: Site) -> None:
    file = opened(site.url("gold.jsonl"), "gold")
    site.endless = True
    with refused("gold.no_ranges"):
        file.read_each([10, 200_000], [10, 10])
    assert site.sent < FEW


@pytest.mark.usefixtures("_small_pieces")
def test_a_copy_ends_at_the_size_of_the_file(site: Site) -> None:
    site.ranges, site.endless = False, True
    with refused("gold.changed"):
        opened(site.url("gold.jsonl"), "gold")
    assert site.sent < FEW


def test_a_small_file_of_no_known_size_is_not_copied_without_end(site: Site) -> None:
    site.says_size, site.endless = False, True
    with refused("protocol.too_large"):
        read_text_file(site.url("protocol.yaml"), "protocol")
    assert site.sent < MAX_BYTES + FEW


@pytest.mark.usefixtures("_small_pieces")
def test_another_part_than_asked_for_is_the_fault_of_the_server(site: Site) -> None:
    file = opened(site.url("gold.jsonl"), "gold")
    site.shift = 10
    for read in (lambda: file.read(100_000, 50), lambda: file.read_each([150_000, 10_000], [50, 50])):
        with refused("gold.no_ranges"):
            read()


@pytest.mark.usefixtures("_small_pieces")
def test_a_server_whose_parts_are_others_is_read_whole(local: Path, site: Site) -> None:
    site.shift = 1
    file = opened(site.url("gold.jsonl"), "gold")
    assert file.read(0, file.size()) == (local / "gold.jsonl").read_bytes()


def test_a_file_that_is_said_to_be_empty_and_is_not(site: Site) -> None:
    site.denies = True
    with refused("predictions.changed", "more bytes came"):
        opened(site.url("predictions.jsonl"), "predictions")


@pytest.mark.parametrize("status", [204, 205, 300, 304])
def test_an_answer_without_a_file_is_not_an_empty_file(site: Site, status: int) -> None:
    site.status = status
    with refused("predictions.unreadable", f"the server answered {status}"):
        opened(site.url("predictions.jsonl"), "predictions")


@pytest.mark.parametrize(
    ("garbage", "found"),
    [
        (b"\x00\xff\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "not HTTP"),
        (b"HTTP/1.1 302 Found\r\nLocation: file:///etc/hosts\r\nContent-Length: 0\r\n\r\n", "NonHttpUrlRedirect"),
    ],
)
def test_what_is_no_answer_is_not_taken_for_one(site: Site, garbage: bytes, found: str) -> None:
    site.garbage = garbage
    with refused("gold.unreadable", found):
        opened(site.url("gold.jsonl"), "gold")
