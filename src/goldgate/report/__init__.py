"""Reports rendered: a suite describes its report as a page, and each format lays out any page.

A new format NAME is a file with a function `render_NAME` from a page to text, and its name here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, cast

from goldgate.errors import InputError, Place

if TYPE_CHECKING:
    from pathlib import Path

    from goldgate.core.contracts import ErrorReport, SuiteReport
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.page import Page


# The command line lists these names in its help, so nothing is imported before one is used.
PAGE_FORMATS = ("text", "markdown", "html")
VERDICT_FORMATS = ("junit", "github")  # for CI systems: only pages with a verdict, which a comparison lacks
_PAGE_RENDERERS = {
    **{name: f"{name}:render_{name}" for name in PAGE_FORMATS},
    **{name: f"verdicts:render_{name}" for name in VERDICT_FORMATS},
    "latex": "latex:render_latex",  # of a comparison
}


def describe_report(report: SuiteReport | ErrorReport) -> Page:
    """A report as a page: as its suite describes it, or why there are no numbers."""
    error = report.get("error")
    if error is not None:
        from goldgate.core.report_page import error_page

        return error_page(report["suite"], error)
    from goldgate.core.report_page import match_gate_digits
    from goldgate.suites import load_suite

    suite, numbers = load_suite(report["suite"]), cast("SuiteReport", report)
    return match_gate_digits(suite.describe(numbers)._replace(pictures=suite.pictures(numbers)))


@contextmanager
def require_complete(file: Path, advice: str = "recompute it with --out") -> Iterator[None]:
    """Turn what a changed or incomplete report raises while it is described into an InputError with its place."""
    try:
        yield
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        place = Place(str(file))
        raise InputError("report.malformed", "this report is not complete", place=place, advice=advice) from None


def name_files(page: Page, paths: Mapping[str, Sequence[str]]) -> Page:
    """A report's page with the names of the files that its inputs came from, what was judged first.

    Only names: with a folder, or the time, report.html would differ between two machines that score the same files, and
    `goldgate verify` compares its bytes. The viewer adds the time, which it takes from run.json.
    """
    from goldgate.files.address import file_name
    from goldgate.suites import load_suite

    needed = [each for each in load_suite(page.suite).inputs if each.is_path and each.required]
    kinds = [each.name for each in sorted(needed, key=lambda each: not each.judged)]
    names = {kind: sorted(filter(None, map(file_name, paths.get(kind, ())))) for kind in kinds}
    return page._replace(files={kind: tuple(each) for kind, each in names.items() if each})


def render_page(page: Page, format: str = "text", *, columns: int = 80, colour: bool = False) -> str:
    """A page in a format. How wide it is, and in colour or not, only concerns those for a terminal."""
    if format not in _PAGE_RENDERERS:
        raise ValueError(f"there is no format {format!r}")
    module, _, function = _PAGE_RENDERERS[format].partition(":")
    render_as = getattr(import_module(f"goldgate.report.{module}"), function)
    rendered: str = render_as(page, columns, colour) if format == "text" else render_as(page)
    return rendered


def render(
    evaluation: Evaluation | SuiteReport | ErrorReport | dict[str, Any],
    format: Literal["text", "markdown", "html", "json", "junit", "github"] = "text",
    *,
    columns: int = 80,
    colour: bool = False,
) -> str:
    """An evaluation, or its report, as text, Markdown, HTML, JSON, JUnit XML or annotations of GitHub."""
    if format not in RENDERERS:
        raise ValueError(f"there is no format {format!r}; there are {', '.join(RENDERERS)}")
    from goldgate.core.evaluation import Evaluation, render_json

    report: Any = evaluation.report if isinstance(evaluation, Evaluation) else evaluation
    if format == "json":
        return render_json(report).decode()
    if isinstance(evaluation, Evaluation):
        report = evaluation.located_report()
    return render_page(describe_report(report), format, columns=columns, colour=colour)


_NAMES = ("json", *PAGE_FORMATS, *VERDICT_FORMATS)
RENDERERS: dict[str, Callable[..., str]] = {name: partial(render, format=name) for name in _NAMES}  # type: ignore[arg-type]  # the names of the formats
