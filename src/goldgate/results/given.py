"""What a stored result was made from, opened for looking at its samples; and what of it cannot be shown, and why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from goldgate.core.plan import Plan
from goldgate.core.unit_page import Given, NothingGiven
from goldgate.errors import GoldgateError
from goldgate.readers.stored_result import StoredResult, digests, load_result
from goldgate.results.inputs import PROTOCOL, Paths, changed_files, locate_one
from goldgate.suites import all_suites
from goldgate.suites.plan import load_plan


class OpenedGiven(NamedTuple):
    """Where the parts of a sample are looked up, and what is not shown: a note for each input."""

    given: Given
    notes: list[str]


@contextmanager
def open_given(
    folder: str | Path | StoredResult, given: Paths | None = None, root: str | None = None
) -> Iterator[OpenedGiven]:
    """The inputs of a result, as far as they are there and have the bytes that the report says.

    `given` says where inputs are now, and `root` which folder stands for the one where the command ran.
    """
    result = folder if isinstance(folder, StoredResult) else load_result(folder, all_suites())
    notes: list[str] = []
    paths = _paths(result, given or {}, root, notes)
    plan = _plan(result, given or {}, root, notes)
    with ExitStack() as stack:
        try:
            opened = stack.enter_context(result.suite.given(paths, plan))
        except GoldgateError as error:
            opened = NothingGiven()
            notes.append(_not_shown("inputs", str(error)))
        yield OpenedGiven(opened, notes)


def _paths(result: StoredResult, given: Paths, root: str | None, notes: list[str]) -> dict[str, list[str]]:
    """Where each input is, without those of which nothing may be shown."""
    paths: dict[str, list[str]] = {}
    for each in result.suite.inputs:
        try:
            found = [str(path) for path in given.get(each.name) or locate_one(result, each, root)]
            changed = changed_files(result.suite, result.report["inputs"], {each.name: found})
        except GoldgateError as error:
            notes.append(_not_shown(each.name, error.message))
            continue
        if changed:
            notes.append(_not_shown(each.name, "it has changed since"))
        elif found:
            paths[each.name] = found
    return paths


def _plan(result: StoredResult, given: Paths, root: str | None, notes: list[str]) -> Plan | None:
    """The plan of the result; None where its protocol is not there, or is not the same any more."""
    wanted = digests(result.report["inputs"].get(PROTOCOL.name))
    try:
        named = given.get(PROTOCOL.name) or locate_one(result, PROTOCOL, root) if wanted else ()
        plan = load_plan(result.suite, next(iter(named), None))
    except GoldgateError as error:
        notes.append(_not_shown(PROTOCOL.name, error.message))
        return None
    if wanted and plan.sha256 not in wanted:
        notes.append(_not_shown(PROTOCOL.name, "it has changed since"))
        return None
    return plan


def _not_shown(name: str, why: str) -> str:
    return f"{name}: not shown; {why}"
