"""The reference lists what there is: codes, keys, contracts, folders, layers."""

from __future__ import annotations

import ast
import io
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import goldgate
from goldgate.cli.main import goldgate as program
from goldgate.cli.prepare import all_schemas
from goldgate.readers.dialects import DIALECTS
from goldgate.readers.layouts import FILE_LAYOUTS, RECORD_LAYOUTS
from goldgate.suites.research.run.evidence import FAILURES
from goldgate.suites.research.suite import ALARMS
from tests.cases import cases

from .documents import DOCS, ROOT

SOURCE = ROOT / "src" / "goldgate"
EXTRACTION, RESEARCH = SOURCE / "suites" / "extraction", SOURCE / "suites" / "research"


def listed(page: str, heading: str) -> set[str]:
    """What stands in backticks in the first columns of the tables under a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    start = text.index(f"\n{heading}\n") + len(heading) + 2
    level = heading.split(" ")[0]
    end = re.compile(rf"^#{{1,{len(level)}}} ", re.MULTILINE).search(text, start)
    rows = re.findall(r"^\|([^|]+)\|", text[start : end.start() if end else None], re.MULTILINE)
    return {word for row in rows for word in re.findall(r"`([^`]+)`", row)}


def calls(folder: Path, *names: str) -> Iterator[ast.Call]:
    """Every call of a function or method of one of these names."""
    for file in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in names) else ():
            if isinstance(node, ast.Call):
                called = getattr(node.func, "id", getattr(node.func, "attr", None))
                if called in names:
                    yield node


def words(node: ast.expr) -> Iterator[str]:
    """The text of an argument, or both where it is one or the other."""
    if isinstance(node, ast.IfExp):
        yield from words(node.body)
        yield from words(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


# --- what stands out, and findings


def remark_codes(folder: Path) -> set[str]:
    return {code for call in calls(folder, "remark") for code in words(call.args[0])}


def test_what_can_stand_out_is_documented() -> None:
    everywhere = remark_codes(SOURCE / "core")
    assert "no_gates" in everywhere  # they are found at all
    in_extraction = listed("metrics.md", "## What stands out")
    in_research = listed("research.md", "### What stands out")
    missing = (everywhere | remark_codes(EXTRACTION)) - in_extraction
    assert missing == set(), "add a row for each to What stands out in docs/metrics.md"
    sources = (RESEARCH, SOURCE / "readers" / "label_checks.py", SOURCE / "stats" / "label_counts.py")
    of_research = {code for source in sources for code in remark_codes(source)} | {*ALARMS}
    assert {"trusted_sampling", "uneven_judge"} <= of_research
    assert of_research == in_research, "the left set is the code's, the right one What stands out in docs/research.md"


def finding_codes(folder: Path) -> set[str]:
    """The first words of findings; of files that are refused, the second."""
    first = ("Finding", "_finding", "add", "_break", "_RefusedError")
    codes = {code for call in calls(folder, *first) if call.args for code in words(call.args[0])}
    return codes | {code for call in calls(folder, "_refuse") if len(call.args) > 1 for code in words(call.args[1])}


def test_every_finding_is_documented() -> None:
    in_research = finding_codes(RESEARCH) - finding_codes(RESEARCH / "imports")
    assert {"missing_run", "torn_log", "pin_mismatch", "too_large"} <= in_research
    missing = in_research - listed("research.md", "### Findings") - {*FAILURES}
    assert missing == set(), "add a row for each to Findings in docs/research.md"
    assert {*FAILURES} <= listed("research.md", "## Evidence, checked")
    assert finding_codes(EXTRACTION / "scorer.py") <= listed("files.md", "### report.json")


# --- reports, records, contracts


def reports() -> dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]:
    """A report of each suite, and its records."""
    of_samples, of_runs = io.BytesIO(), io.BytesIO()
    examples = ROOT / "examples" / "extraction"
    paths = [examples / name for name in ("gold.jsonl", "model-b.jsonl", "schema.json", "protocol-fail.yaml")]
    extraction = goldgate.evaluate_files(*paths, records=of_samples).report
    golden, outputs = ROOT / "eval" / "golden_queries.json", ROOT / "examples" / "research" / "failing"
    research = goldgate.evaluate_outputs(golden, outputs, records=of_runs).report
    of_each = {"extraction": (extraction, of_samples), "research": (research, of_runs)}
    lines = {suite: records.getvalue().splitlines() for suite, (_, records) in of_each.items()}
    return {suite: (report, [*map(json.loads, lines[suite])]) for suite, (report, _) in of_each.items()}


def test_every_key_of_a_report_is_documented() -> None:
    documented = listed("files.md", "### report.json")
    for report, _ in reports().values():
        keys = {*report, *(f"metrics.{name}" for name, found in report["metrics"].items() if isinstance(found, dict))}
        assert keys - documented == set(), "add a row for each to report.json in docs/files.md"


@cases(("suite", "heading"), [("extraction", "### samples.jsonl"), ("research", "### runs.jsonl")])
def test_every_key_of_a_record_is_documented(suite: str, heading: str) -> None:
    text = (DOCS / "files.md").read_text(encoding="utf-8")
    section = text[text.index(f"\n{heading}\n") :].split("\n### ", 2)[1]
    _, records = reports()[suite]
    keys = {key for record in records for key in record}
    levels = {"structural", "verbatim", "chain", "anchored"}
    missing = keys - levels - set(re.findall(r"[`\"](\w+)[`\"]", section))
    assert missing == set(), f"name each under {heading} in docs/files.md"


def test_every_contract_is_documented() -> None:
    text = (DOCS / "files.md").read_text(encoding="utf-8")
    section = text[text.index("\n### Contracts\n") :].split("\n## ", 1)[0]
    shown = set(re.findall(r"`([\w.]+\.schema\.json)`", section))
    assert shown == {*all_schemas()}, "the left set is Contracts in docs/files.md"


def test_every_dialect_and_layout_is_documented() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|", (DOCS / "datasets.md").read_text(encoding="utf-8"), re.MULTILINE)
    layouts = {layout.name for layout in RECORD_LAYOUTS} | {layout.name for layout in FILE_LAYOUTS}
    names = layouts | {dialect.name for dialect in DIALECTS}
    assert names - {*rows} == set(), "add a row for each to its table in docs/datasets.md"


# --- the house


def test_every_folder_has_its_sentence_in_the_architecture() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    folders = {path.parent.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")} - {"."}
    assert "suites/extraction/events" in folders
    missing = {folder for folder in folders if f"`{folder}/`" not in text}
    assert missing == set(), "add a row for each to Packages in docs/architecture.md"


def test_the_layers_in_the_architecture_are_those_that_are_checked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    shown = text[text.index("<!-- layers -->\n```\n") :].split("```")[1].strip().splitlines()
    checked = [layer.replace("goldgate.", "") for layer in layers]
    assert shown == checked, "docs/architecture.md shows other layers than pyproject.toml has for import-linter"


def test_every_decision_is_listed() -> None:
    text = (DOCS / "decisions" / "README.md").read_text(encoding="utf-8")
    files = {path.name for path in (DOCS / "decisions").glob("0*.md")}
    assert set(re.findall(r"\]\((0[\w-]+\.md)\)", text)) == files, "add it to docs/decisions/README.md"


@cases("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_path_on_the_page_exists(page: str) -> None:
    """What looks like a file or a folder in backticks is one, seen from the root, the sources or anywhere in them."""
    named = re.findall(r"`([\w./-]+(?:\.py|\.md|\.yaml|/))`", (ROOT / page).read_text(encoding="utf-8"))
    assert len(named) > 3
    assert {path for path in named if not _exists(path)} == set(), f"{page} names files that are not there"


def _exists(path: str) -> bool:
    found = any((base / path).exists() for base in (ROOT, SOURCE))
    return found or next(SOURCE.rglob(path.rstrip("/")), None) is not None


# --- every page can be found: from the README, from the index by question, and commands from their table

PAGES = sorted({path.name for path in DOCS.glob("*.md")} - {"README.md"})


def linked(page: str) -> set[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    return {target.removeprefix("docs/") for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)}


@cases("page", ["README.md", "docs/README.md"])
def test_every_page_is_linked(page: str) -> None:
    assert set(PAGES) - linked(page) == set(), f"link each in {page}"


def test_every_page_is_in_the_menu_of_the_site() -> None:
    """`make docs` would fail without it; that needs more than the locked requirements."""
    menu = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    pages = {path.name if path.parent == DOCS else f"{path.parent.name}/*" for path in DOCS.rglob("*.md")}
    missing = {page for page in pages if not re.search(rf" {re.escape(page)}(?: #|$)", menu, re.MULTILINE)}
    assert missing == set(), "add each to nav in mkdocs.yml"


def test_the_readme_leads_to_the_index_and_stays_short() -> None:
    assert "README.md" in linked("README.md")
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def test_every_command_is_in_the_table_of_commands() -> None:
    table = (DOCS / "commands.md").read_text(encoding="utf-8").split("\n## ")[0]
    shown = set(re.findall(r"^\|[^|]*\| \[`goldgate ([\w-]+)`\]", table, re.MULTILINE))
    commands = set(program.list_commands(click.Context(program)))
    assert shown == commands, "add a row to the table on top of docs/commands.md"
