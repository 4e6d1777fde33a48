"""The documentation is true: its examples run, its output is real, its links lead somewhere, and no name is missing."""

from __future__ import annotations

import ast
import dataclasses
import os
import re
import shutil
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from goldgate.core.gate import Gate, find_gate_target
from goldgate.protocol import protocol_file_type
from goldgate.response.parsed import STEP_MEANINGS, Step
from goldgate.suites import SUITES, load_suite
from goldgate.suites.extraction.events import Violation
from goldgate.suites.extraction.events.match import Mistake
from goldgate.suites.extraction.settings import ExtractionSettings
from goldgate.suites.plan import all_sections, load_protocol

from .documents import DOCS, PAGES, ROOT, Command, blocks, commands, has, name_of, output_fits, refit
from .shell import Shell, workflow_steps

LINKED = ("examples", "evaluate.py", "src", "eval", "scripts")  # what the examples use of the repository
PROTOCOL = "examples/research/protocol.yaml"
TUTORIAL = DOCS / "tutorial.md"  # it begins in an empty folder


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the repository's root: the same paths, and nothing written into the repository."""
    folder = tmp_path / "root"
    folder.mkdir()
    for name in LINKED:
        (folder / name).symlink_to(ROOT / name)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "bin")


@pytest.mark.parametrize("page", [page for page in PAGES if has(page, "python")], ids=name_of)
def test_python_examples_run(page: Path, root: Path) -> None:
    namespace: dict[str, object] = {"__name__": "__example__"}
    for block in blocks(page):
        if block.language == "python":
            code = compile("\n" * block.line + block.text, str(page), "exec")  # errors show the page's own line
            exec(code, namespace)


@pytest.mark.parametrize("page", [page for page in PAGES if has(page, "console")], ids=name_of)
def test_console_examples_print_what_is_shown(page: Path, root: Path, shell: Shell, tmp_path: Path) -> None:
    folder = root
    if page == TUTORIAL:
        folder = tmp_path / "empty"
        folder.mkdir()
        (folder / "claims").symlink_to(ROOT / "examples" / "claims")  # its last part copies them
    for block in blocks(page):
        if block.file is not None:
            (folder / block.file).parent.mkdir(parents=True, exist_ok=True)
            (folder / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "console":
            for command in commands(block.text):
                _check_command(page, command, shell, folder)
        elif block.language == "yaml" and "\njobs:\n" in block.text and page == TUTORIAL:
            for step in workflow_steps(yaml.safe_load(block.text)):
                done = shell.run(step, folder)
                assert done.returncode == 0, f"{step}\n{done.stdout}"


def test_no_command_of_the_tutorial_is_left_out() -> None:
    """A block is a file, a console, or the job; the first one installs goldgate, which is no test's business."""
    text = TUTORIAL.read_text(encoding="utf-8")
    plain = [block for block in blocks(TUTORIAL) if block.file is None and block.language not in ("console", "yaml")]
    assert plain == []
    assert len(re.findall(r"^```$", text, re.MULTILINE)) == len(blocks(TUTORIAL)) + 2
    assert sum(command.line.startswith("goldgate ") for b in blocks(TUTORIAL) for command in commands(b.text)) > 8


_RESEARCH = {
    "outputs": "examples/research/passing", "eval/golden_queries.json": "eval/golden_queries.json",
    "eval/protocol.yaml": PROTOCOL,
}  # fmt: skip
_EXTRACTION = {
    "data/gold.jsonl": "examples/extraction/gold.jsonl", "data/schema.json": "examples/extraction/schema.json",
    "outputs/answers.jsonl": "examples/extraction/model-a.jsonl",
    "release.yaml": "examples/ci/release.yaml", "against-main.yaml": "examples/ci/against-main.yaml",
}  # fmt: skip


@pytest.mark.parametrize(
    ("template", "job", "files"),
    [
        ("github-extraction.yml", "gates", _EXTRACTION),
        ("github-research.yml", "gates", _RESEARCH),
        ("gitlab-ci.yml", "extraction", _EXTRACTION),
        ("gitlab-ci.yml", "research", _RESEARCH),
    ],
)
def test_the_commands_of_ci_templates_run(
    template: str, job: str, files: dict[str, str], tmp_path: Path, shell: Shell
) -> None:
    folder = repository(tmp_path, files)
    document = yaml.safe_load((ROOT / "examples" / "ci" / template).read_text(encoding="utf-8"))
    steps = [*workflow_steps(document)] if "jobs" in document else document[job]["script"]
    assert len(steps) == 2
    for step in steps:
        done = shell.run(step, folder)
        assert done.returncode == 0, done.stdout
    assert (folder / "report" / "junit.xml").exists()  # GitLab shows it


def test_the_template_that_compares_with_main_stops_what_is_worse(tmp_path: Path, shell: Shell) -> None:
    """The step that fetches the report is GitHub's; here the report of the main branch lies where it puts it."""
    folder = repository(tmp_path, _EXTRACTION)
    template = ROOT / "examples" / "ci" / "github-against-main.yml"
    judge = [*workflow_steps(yaml.safe_load(template.read_text(encoding="utf-8")))][-1]
    assert shell.run(judge.replace("$PROTOCOL", "release.yaml"), folder).returncode == 0
    (folder / "report").rename(folder / "main")
    for model, status in (("model-a", 0), ("model-b", 1)):
        (folder / "outputs" / "answers.jsonl").unlink()
        (folder / "outputs" / "answers.jsonl").symlink_to(ROOT / "examples" / "extraction" / f"{model}.jsonl")
        done = shell.run(judge.replace("$PROTOCOL", "against-main.yaml"), folder)
        assert done.returncode == status, done.stdout


def repository(folder: Path, files: dict[str, str]) -> Path:
    """A repository with these files, by their places in ours."""
    for name, source in files.items():
        path = folder / "repository" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(ROOT / source)
    return folder / "repository"


def _check_command(page: Path, command: Command, shell: Shell, folder: Path) -> None:
    if "jq" in command.line.split() and shutil.which("jq") is None:
        return
    done = shell.run(command.line, folder)
    assert done.returncode == command.exit_status, f"$ {command.line}\n{done.stdout}"
    printed = done.stdout.splitlines()
    if command.output and os.environ.get("GOLDGATE_UPDATE") and not output_fits(command.output, printed):
        _update(page, command, refit(command.output, printed))
    elif command.output:
        renew = f"GOLDGATE_UPDATE=1 pytest tests/docs/test_examples.py -k {page.stem} renews what is shown"
        assert output_fits(command.output, printed), f"$ {command.line}\n{done.stdout}\n{renew}"


def _update(page: Path, command: Command, output: list[str]) -> None:
    """Put what was printed in the place of what is shown."""
    shown, printed = ("\n" + "\n".join(lines) + "\n" for lines in (command.output, output))
    text = page.read_text(encoding="utf-8")
    at = text.index(shown, text.index("\n$ " + command.line.split(" ")[0]))
    page.write_text(text[:at] + printed + text[at + len(shown) :], encoding="utf-8")


def test_protocols_in_the_docs_load(root: Path) -> None:
    texts = [block.text for page in PAGES for block in blocks(page) if block.language == "yaml"]
    protocols = [text for text in texts if re.search(r"^(metrics|gates):", text, re.MULTILINE)]
    assert protocols
    for text in protocols:
        (root / "protocol.yaml").write_text(text, encoding="utf-8")
        every = ExtractionSettings(profile="all")
        known = {*load_suite("extraction").known_metrics(every), *_known("research"), *_known("judged")}
        measures = load_suite("extraction").measures(every)
        gates = load_protocol(root / "protocol.yaml").protocol.gates
        assert {name for name in gates if find_gate_target(name, measures) is None} <= known


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        if "://" in target:
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.exists(), target
        if anchor:
            assert anchor in _anchors(path), target


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as they are made for Markdown pages."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


# --- the docs do not lag behind


def _code_words(page: str) -> set[str]:
    """What stands in backticks, outside fenced blocks."""
    text = re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return set(re.findall(r"`([^`\n]+)`", text))


def test_every_metric_is_documented() -> None:
    pages = {"extraction": "metrics.md", "research": "research.md", "fields": "fields.md", "judged": "judging.md"}
    assert pages.keys() == SUITES.keys()
    for suite, page in pages.items():
        assert _known(suite) - _code_words(page) == set(), f"give each its formula in docs/{page}"


def test_every_violation_and_error_name_is_documented() -> None:
    names = {*map(str, Violation), *map(str, Mistake)}
    assert names - _code_words("metrics.md") == set(), "add a row for each to its table in docs/metrics.md"


def test_every_repair_step_is_documented_in_the_words_that_people_are_shown() -> None:
    page = (DOCS / "reading-responses.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", page, re.MULTILINE))
    shown = {step: rows.get(step, "").replace("`", "") for step in Step}
    assert shown == STEP_MEANINGS, "the table of docs/reading-responses.md has other words than STEP_MEANINGS"


def test_every_protocol_key_is_documented_with_its_default() -> None:
    page = (DOCS / "files.md").read_text(encoding="utf-8")
    section = page[page.index("\n## Protocol\n") : page.index("\n## What `--out` writes\n")]
    rows = dict(re.findall(r"^\| `([\w.<>]+)` \| `?([^|`]+?)`? \|", section, re.MULTILINE))
    keys = {**_keys(protocol_file_type(all_sections()), ""), **_keys(Gate, "gates.<metric>.")}
    assert {key: rows.get(key) for key in keys} == keys, "add a row with the default to docs/files.md, Protocol"


def _keys(kind: type[Any], path: str) -> dict[str, str]:
    """The settings below a dataclass, by dotted name, with their defaults as YAML shows them."""
    keys: dict[str, str] = {}
    hints = typing.get_type_hints(kind)
    for field in dataclasses.fields(kind):
        if dataclasses.is_dataclass(hints[field.name]):
            keys.update(_keys(hints[field.name], f"{path}{field.name}."))
        elif field.default is not dataclasses.MISSING:
            keys[path + field.name] = _as_yaml(path + field.name, field.default)
    return keys


def _as_yaml(key: str, default: object) -> str:
    if default is None:
        return "none"
    if isinstance(default, bool):
        return "true" if default else "false"
    if isinstance(default, tuple):
        return f"[{', '.join(default)}]"
    return f'"{default}"' if key == "metrics.version" else str(default)


def test_every_error_code_is_documented() -> None:
    documented = {word for word in _code_words("files.md") if re.fullmatch(r"[\w<>]+\.\w+", word)}
    kinds = ("gold", "predictions", "schema", "protocol", "response")
    documented |= {word.replace("<kind>", kind) for word in documented for kind in kinds}
    endings = {word[word.index(".") :] for word in documented}
    used = set(_error_codes())
    assert {".bad_id", "schema.required", "gold.wrong_offsets"} <= used  # they are found at all
    missing = {code for code in used if code not in (endings if code.startswith(".") else documented)}
    assert missing == set(), "add them to the table of error codes in docs/files.md"


def _error_codes() -> Iterator[str]:
    """The codes of errors and findings; of one that is put together, what follows the kind."""
    for file in (ROOT / "src").rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "Error(" in text or "Problem(" in text else ():
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.args):
                continue
            name, code = node.func.id, node.args[0]
            if name in ("InputError", "ConfigError", "MachineError", "InternalError"):
                if isinstance(code, ast.Constant):
                    yield str(code.value)
                elif isinstance(code, ast.JoinedStr) and isinstance(code.values[-1], ast.Constant):
                    yield str(code.values[-1].value)
            elif name == "GoldProblem" and isinstance(code, ast.Constant):  # a finding of goldgate check
                yield f"gold.{code.value!s}"


def test_every_public_name_is_documented() -> None:
    import goldgate

    names = {name for name in goldgate.__all__ if name != "__version__"}
    assert names - _code_words("python-api.md") == set(), "document them in docs/python-api.md"


def _known(name: str) -> set[str]:
    """The metrics of a suite."""
    suite = load_suite(name)
    return {*suite.known_metrics(suite.settings())}
