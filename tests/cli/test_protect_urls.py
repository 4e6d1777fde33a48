"""What a command must not write over, where it is named by a URL. Nothing is asked of a store for it."""

from __future__ import annotations

import pytest

from goldgate.cli.out_folder import check_overwrite
from goldgate.cli.runner import Job
from goldgate.errors import ConfigError
from tests.cases import cases

SPELLINGS = ["s3", "s3a", "S3"]


@cases("scheme", SPELLINGS)
@cases(
    ("out", "report", "code"),
    [
        (None, "{}://b/runs/gold.json", "report.is_an_input"),
        ("s3://b/out", "{}://b/out/report.html", "report.is_a_result"),
        (None, "{}://b/runs/run-1/report.json", "report.inside_a_run"),
        ("{}://b/runs/out", None, "report.inside_a_run"),
    ],
)
def test_a_url_is_known_by_any_of_its_spellings(scheme: str, out: str | None, report: str | None, code: str) -> None:
    outputs = "s3://b/runs/"
    job = Job("research", {"golden": ["s3://b/runs/gold.json"], "outputs": [outputs]}, folders=[outputs])
    named = [path.format(scheme) if path is not None else None for path in (out, report)]
    with pytest.raises(ConfigError) as caught:
        check_overwrite(job._replace(out=named[0], report=named[1]))
    assert caught.value.code == code


@cases("scheme", SPELLINGS)
def test_what_lies_beside_is_written(scheme: str) -> None:
    job = Job("research", {"outputs": ["s3://b/runs"]}, folders=["s3://b/runs"])
    check_overwrite(job._replace(out=f"{scheme}://b/other", report=f"{scheme}://b/runs/report.json"))
