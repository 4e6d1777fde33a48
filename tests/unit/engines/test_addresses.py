"""Addresses of a Ray cluster that are refused before anything is started. None of this needs Ray."""

from __future__ import annotations

import pytest

from goldgate.engines import EngineName, start_engine
from goldgate.errors import ConfigError
from tests.cases import cases, error_from


@cases(
    ("engine", "address", "code"),
    [
        ("ray", "", "ray.no_address"),
        ("ray", " ", "ray.no_address"),
        ("ray", "ray://me:secret@head:10001", "ray.client_address"),
        ("processes", "head:6379", "ray.not_chosen"),
    ],
)
def test_an_address_that_is_of_no_use_is_refused_without_its_secrets(
    engine: EngineName, address: str, code: str
) -> None:
    error = error_from(ConfigError, start_engine, 1, "json", engine, address)
    assert error.code == code
    assert "secret" not in str(error)


def test_the_address_of_the_environment_is_looked_at_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAY_ADDRESS", "ray://head:10001")
    assert error_from(ConfigError, start_engine, 1, "json", "ray").code == "ray.client_address"
