"""URLs whose library wants more than they say, and those that look like a chain of URLs."""

from __future__ import annotations

import pytest
from fsspec import AbstractFileSystem, register_implementation
from fsspec.registry import _registry

from goldgate.errors import ConfigError
from goldgate.files.connection import connect


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
