"""What is a URL, what of it may be shown, and what is refused. None of this needs an extra."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from goldgate.errors import ConfigError
from goldgate.files.address import check_url, hide_secrets, is_url, normalize_url, public_url
from goldgate.files.connection import read_error
from tests.cases import cases, error_from


@cases(
    ("text", "expected"),
    [
        ("s3://bucket/gold.jsonl", True),
        ("hf://datasets/owner/name@main/gold.jsonl", True),
        ("simplecache::s3://bucket/gold.jsonl", True),
        ("HTTPS://host/gold.jsonl", True),
        ("gold.jsonl", False),
        ("/data/s3:/gold.jsonl", False),
        ("data/a://b", False),
        ("-", False),
        (" https://host/gold.jsonl", True),
        ("https:/host/gold.jsonl", True),
    ],
)
def test_a_url_is_told_from_a_path(text: str, expected: bool) -> None:
    assert is_url(text) is expected
    assert not is_url(Path(text))


@cases(
    ("url", "shown"),
    [
        ("s3://bucket/a/gold.jsonl", "s3://bucket/a/gold.jsonl"),
        ("https://host:81/a.jsonl?sig=abc&x=1#part", "https://host:81/a.jsonl?[hidden]"),
        ("https://user:pass@host/a.jsonl", "https://[hidden]@host/a.jsonl"),
        ("hf://datasets/owner/name@main/gold.jsonl", "hf://datasets/owner/name@main/gold.jsonl"),
        ("what?.jsonl", "what?.jsonl"),
        ("https://host/a.jsonl?sig=ab'c\"d<e f", "https://host/a.jsonl?[hidden]"),
        ("https://host/a.jsonl#token=abc", "https://host/a.jsonl#[hidden]"),
        ("https://host/a.jsonl#?sig=abc", "https://host/a.jsonl#[hidden]"),
        ("s3://bucket/a#b.jsonl", "s3://bucket/a#b.jsonl"),
        ("s3://arn:aws:s3:eu-west-1:1:accesspoint/a/b", "s3://arn:aws:s3:eu-west-1:1:accesspoint/a/b"),
        ("https:/host/a.jsonl?sig=abc", "https:/host/a.jsonl?[hidden]"),
        (" https://host/a.jsonl?sig=abc", " https://host/a.jsonl?[hidden]"),
        ("https://us er:pa'ss@host/a.jsonl", "https://[hidden]@host/a.jsonl"),
        ("https://user:pa/ss@host/a.jsonl", "https://[hidden]"),
        ("https://[::1]:81/a.jsonl", "https://[::1]:81/a.jsonl"),
        ("https:/host/a.jsonl?sig=abc&next=http://other", "https:/host/a.jsonl?[hidden]"),
        ("https:///user:pass@host/a.jsonl", "https:///[hidden]@host/a.jsonl"),
        ("s3://key:pa/ss@bucket/a.jsonl", "s3://[hidden]"),
        ("sftp://host:22/a@b.jsonl", "sftp://host:22/a@b.jsonl"),
    ],
)
def test_secrets_of_a_url_are_not_shown(url: str, shown: str) -> None:
    assert public_url(url) == shown


def test_secrets_of_urls_in_a_text_are_not_shown() -> None:
    text = "403, message='no', url='https://me:pw@host/x?token=abc' and s3://b/c"
    assert hide_secrets(text) == "403, message='no', url='https://[hidden]@host/x?[hidden]' and s3://b/c"
    assert hide_secrets("no answer from https://host/x#token=abc") == "no answer from https://host/x#[hidden]"


def test_urls_of_one_object_have_one_spelling() -> None:
    assert {normalize_url(f"{scheme}://b/a{end}") for scheme in ("s3", "S3") for end in ("", "/")} == {"s3://b/a"}
    apart = ["gs://b/a", "https://b/a", "s3://B/a", "s3://b/A", "a/b", "a/b/"]
    assert [*map(normalize_url, apart)] == apart


@cases(
    "url",
    [
        "s3://arn:aws:s3:eu-west-1:1:accesspoint/a/b",
        "S3://bucket/a::b",
        "https://host:81/a?b=c",
        "https://[::1]/a",
        "http://127.0.0.1:81/a",
        "http://[::1]/a",
        "http://localhost/a",
    ],
)
def test_what_can_be_used_is(url: str) -> None:
    assert check_url(url) == url


@cases(
    ("url", "code"),
    [
        ("s3://key:secret@bucket/gold.jsonl", "url.has_password"),
        ("https://token@host/gold.jsonl", "url.has_password"),
        ("zip://a.jsonl::s3://bucket/a.zip", "url.unknown_kind"),
        ("simplecache::s3://bucket/gold.jsonl?x=secret", "url.unknown_kind"),
        ("file:///data/gold.jsonl", "url.unknown_kind"),
        ("s3a://bucket/gold.jsonl", "url.unknown_kind"),
        ("ftp://user:secret@host/gold.jsonl", "url.unknown_kind"),
        ("http://host/gold.jsonl?x=secret", "url.unknown_kind"),
        ("http://127.0.0.1.host/gold.jsonl", "url.unknown_kind"),
        ("http://token@127.0.0.1/gold.jsonl", "url.has_password"),
        ("s3://", "url.invalid"),
        ("https://[half/gold.jsonl", "url.invalid"),
        ("https://user:secret/x@host/gold.jsonl", "url.invalid"),
        ("https:///user:secret@host/gold.jsonl", "url.invalid"),
        ("s3://key:secret/x@bucket/gold.jsonl", "url.has_password"),
        ("https://host:99999/gold.jsonl", "url.invalid"),
        ("https:/host/gold.jsonl?x=secret", "url.invalid"),
        (" https://host/gold.jsonl?x=secret", "url.invalid"),
        ("https://host/gold.jsonl ", "url.invalid"),
    ],
)
def test_what_is_not_used_is_refused_without_its_secrets(url: str, code: str) -> None:
    error = error_from(ConfigError, check_url, url)
    assert error.code == code
    assert "secret" not in str(error)
    assert "token@" not in str(error)


def test_a_secret_of_the_environment_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    error = read_error(RuntimeError("cannot sign with wJalrXUtnFEMI"), "s3://b/c", "gold")
    assert "wJalr" not in str(error)


@cases(
    ("missing", "url", "extra"),
    [
        ("fsspec", "s3://bucket/gold.jsonl", "remote-s3"),
        ("fsspec", "https://host/gold.jsonl", "remote-https"),
        ("fsspec", "gs://bucket/gold.jsonl", "remote-gs"),
    ],
)
def test_a_missing_extra_is_named(missing: str, url: str, extra: str) -> None:
    code = f"""
import sys
sys.modules[{missing!r}] = None
from goldgate.errors import ConfigError
from goldgate.readers.records import open_records
try:
    open_records({url!r}, "gold")
except ConfigError as error:
    print(error.code, error)
"""
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True).stdout
    assert shown.startswith("extra.missing")
    assert f"needs the extra `{extra}`" in shown
