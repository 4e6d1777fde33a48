"""Every page can be found: from the README, from the index by question, and commands from their table."""

from __future__ import annotations

import re

import click

from goldgate.cli.main import goldgate
from tests.cases import cases

from .documents import DOCS, ROOT

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
    commands = set(goldgate.list_commands(click.Context(goldgate)))
    assert shown == commands, "add a row to the table on top of docs/commands.md"
