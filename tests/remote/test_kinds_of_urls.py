"""URLs that fsspec knows and nobody tried here: what cannot be opened is an error, and it names what is missing."""

from __future__ import annotations

import pytest
from fsspec import AbstractFileSystem, register_implementation

from goldgate.errors import ConfigError
from goldgate.files.connection import connect


@pytest.mark.parametrize(
    ("url", "code", "found"),
    [
        ("sftp://host.invalid/gold.jsonl", "url.no_library", "paramiko"),
        ("ftp://127.0.0.1:9/gold.jsonl", "url.unusable", "refused"),
        ("github://owner/gold.jsonl", "url.unusable", "'org' and 'repo'"),
        ("zip://gold.zip/gold.jsonl", "url.unusable", "directory"),
        ("nonsense://host/gold.jsonl", "url.unknown_kind", "None"),
    ],
)
def test_what_cannot_be_connected_to_is_an_error(url: str, code: str, found: str) -> None:
    with pytest.raises(ConfigError) as caught:
        connect(url)
    assert caught.value.code == code
    assert found in str(caught.value.found)


def test_a_kind_that_wants_settings_is_not_called_unknown() -> None:
    class Picky(AbstractFileSystem):  # type: ignore[misc]  # fsspec has no types
        def __init__(self, **options: object) -> None:
            raise ValueError("an account is missing")

    register_implementation("picky", Picky, clobber=True)
    with pytest.raises(ConfigError) as caught:
        connect("picky://host/gold.jsonl")
    assert (caught.value.code, caught.value.found) == ("url.unusable", "ValueError: an account is missing")


def test_an_address_of_the_newer_kind_is_not_taken_for_a_chain() -> None:
    assert connect("http://[::1]:81/gold.jsonl").path == "http://[::1]:81/gold.jsonl"
