"""What users read is plain English: phrases that readers stumbled over do not come back in messages, help or docs."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click

from goldgate.cli.main import COMMANDS, goldgate
from goldgate.suites import SUITES

from .documents import DOCS, ROOT, name_of

# Phrase, and what to write instead.
PHRASES = {
    r"carried out": "the command failed; done",
    r"\bnobody\b|\bwhoever\b|\bsomebody\b": "say who: the caller, the worker, no process",
    r"\bstands? (?:in|on|at|for|beside|before|behind|under)\b": "is in, is part of, means",
    r"\bas (?:it|they) (?:stands?|stood)\b": "as it is, without repair",
    r"(?<!\bthere )\b(?:is|are) no (?!longer\b|more\b|one\b)[a-z]": "is not a",
    r"\bthere is none\b": "say what is missing: no thought block",
    r"\ba (?:record|line|file|object|hash) a (?:line|step|type|run)\b|\ba line each\b": "one record per line",
    r"where is what": "documentation",
    r"to look at:": "open:",
    r"of the printed report": "output format",
    r"did not decode": "not readable as JSON",
    r"\bwhat decides\b": "the verdict, gates and warnings",
    r"\blikewise\b": "in the same way",
    r"manieth|by halves|\bcame of\b": "its position; completely; became",
    r"nothing was judged": "no gates set; scores only",
    r"read shows why": "run goldgate read FILE to see why",
}
# Names that hide what they hold: `matches`, `rows`, `options`, `text` say it.
PARTICIPLES = frozenset("found known named listed shown given wanted said told looked placed".split())
PATTERNS = {re.compile(pattern, re.IGNORECASE): better for pattern, better in PHRASES.items()}
ANY_PHRASE = re.compile("|".join(PHRASES), re.IGNORECASE)  # one search instead of one for each
PAGES = [*DOCS.glob("*.md"), *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "action.yml"))]
EXAMPLES = [*(ROOT / "examples").rglob("README.md"), *(ROOT / "examples").rglob("*.yml")]
PROMPT = "The document stands between"  # the text of a prompt: its digest is part of results


@cache
def nodes_of(source: str) -> list[ast.AST]:
    """All nodes of a module, parsed once for all tests."""
    return [*ast.walk(ast.parse(source))]


def texts_of(file: Path) -> Iterator[tuple[int, str]]:
    """The lines and values of the texts in a module, without docstrings: messages, labels, options."""
    nodes = nodes_of(file.read_text(encoding="utf-8"))
    docstrings = {
        id(node.body[0].value)
        for node in nodes
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.lineno, node.value


def participles(source: str) -> Iterator[str]:
    """Where functions bind a participle; a parameter `found` is what an error says was found."""
    bound = re.compile(rf"\b(?:{'|'.join(PARTICIPLES)})\b")
    if bound.search(source) is None:
        return
    functions = [node for node in nodes_of(source) if isinstance(node, ast.FunctionDef)]
    for node in (node for function in functions for node in ast.walk(function)):
        if isinstance(node, ast.Name) and node.id in PARTICIPLES and isinstance(node.ctx, ast.Store):
            yield f"{node.lineno}: {node.id}"


def flaws(where: str, text: str) -> Iterator[str]:
    if ANY_PHRASE.search(text) is None:
        return
    for pattern, better in PATTERNS.items():
        if found := pattern.search(text.replace(PROMPT, "")):
            yield f"{where}: {found[0]!r}: write: {better}"


def test_messages_have_no_phrase_that_readers_stumbled_over() -> None:
    modules = sorted((ROOT / "src" / "goldgate").rglob("*.py"))
    assert len(modules) > 100
    assert [
        flaw
        for module in modules
        for line, text in texts_of(module)
        for flaw in flaws(f"{name_of(module)}:{line}", text)
    ] == []


def test_names_and_docstrings_need_no_neighbour() -> None:
    needy = re.compile(r'"""Of |\bso many\b|\b_?MOST_[A-Z]')  # a limit is MAX_
    for module in sorted((ROOT / "src" / "goldgate").rglob("*.py")):
        source = module.read_text(encoding="utf-8")
        assert [*participles(source)] == [], name_of(module)
        assert [line for line in source.splitlines() if needy.search(line)] == [], name_of(module)


def test_help_and_docs_have_no_phrase_that_readers_stumbled_over() -> None:
    group = click.Context(goldgate, info_name="goldgate")
    commands = {name: goldgate.get_command(group, name) for name in (*SUITES, *COMMANDS)}
    found = [flaw for name, command in commands.items() for flaw in flaws(name, command.help or "")]  # type: ignore[union-attr]  # each is one
    for page in sorted((*PAGES, *EXAMPLES)):
        for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
            found += flaws(f"{name_of(page)}:{number}", line)
    assert found == []
