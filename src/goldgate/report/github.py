"""A judged page as annotations of GitHub Actions, and what fits on the summary page of a step.

The runner obeys lines that begin with `::`. Whatever comes from data is made safe to show first (it then holds no `::`,
no `##`, no line break) and then escaped as the runner unescapes it: no name can end a command or begin another.
"""

from __future__ import annotations

from goldgate.core.gate import Verdict
from goldgate.core.page import Page, counted
from goldgate.report.escape import named
from goldgate.report.outcomes import outcomes

MOST_ANNOTATIONS = 10  # of a kind in a step; GitHub drops the others without a word
MOST_SUMMARY_BYTES = 1 << 20  # of a step; GitHub drops a larger summary as a whole
_LEVELS = {"failed": "error", "error": "error", "warning": "warning"}
_CUT = "\n\n… cut here: GitHub shows one megabyte. `report.md` has all of it.\n"


def render_github(page: Page) -> str:
    """An `error` for each gate that failed, a `warning` for each that only warns, a `notice` with the verdict and for
    what stands out; of each kind at most as many as are shown, of which the last says how many there are more."""
    found = outcomes(page)
    title = f"goldgate {page.suite}"
    by_level: dict[str, list[str]] = {"error": [], "warning": [], "notice": []}
    for each in found:
        if each.kind in _LEVELS:
            about = [each.reason] if each.kind == "failed" else [each.reason, *each.details]
            word, text = each.word, f"{each.name}: {'; '.join(about)}"
            if each.kind == "error":
                word, text = f"{Verdict.SYSTEM_ERROR} {each.word}", "; ".join(about)
            by_level[_LEVELS[each.kind]].append(_command(_LEVELS[each.kind], f"{title}: {word}", text))
    if page.verdict == Verdict.PASS:
        by_level["notice"].append(_command("notice", f"{title}: PASS", _passed(page)))
    by_level["notice"] += [_command("notice", f"{title}: what stands out", text) for text in page.stands_out]
    lines = [line for level, lines in by_level.items() for line in _few(level, title, lines)]
    return "".join(f"{line}\n" for line in lines)


def step_summary(markdown: str, used: int) -> str:
    """The report for the summary page, cut where a step with so many bytes on it already has no room for more."""
    room = MOST_SUMMARY_BYTES - used
    whole = markdown.encode("utf-8", "backslashreplace")
    if len(whole) <= room:
        return whole.decode()
    kept = whole[: max(0, room - len(_CUT.encode()))].decode(errors="ignore")
    return kept[: kept.rfind("\n") + 1] + _CUT if "\n" in kept else ""


def _passed(page: Page) -> str:
    passed = [each for each in outcomes(page) if each.kind == "passed"]
    names = ", ".join(each.name for each in passed)
    return f"{page.subject}: {counted(len(passed), 'gate')} passed: {names}"


def _few(level: str, title: str, lines: list[str]) -> list[str]:
    if len(lines) <= MOST_ANNOTATIONS:
        return lines
    kept = lines[: MOST_ANNOTATIONS - 1]
    return [*kept, _command(level, title, f"and {len(lines) - len(kept)} more of these; the report has all")]


def _command(level: str, title: str, text: str) -> str:
    return f"::{level} title={_property(named(title))}::{_data(named(text))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
