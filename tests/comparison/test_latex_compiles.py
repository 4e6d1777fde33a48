"""What `--format latex` prints is LaTeX that compiles, whatever the systems are called."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from goldgate.comparison import compare
from goldgate.report import render, render_page
from goldgate.runs.comparison_page import describe_comparison

pytestmark = pytest.mark.slow  # test_command.py reads what is printed

DOCUMENT = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n%s\n\\end{document}\n"
NAMES = [
    ("_ % & # { } \\ ^ ~ $", 'a -- b ?` !` `x\' "y" <z> | * [1]'),
    ("\\end{tabular}\\input{secret}", "%\\newpage"),
    ("naïve Łódź Ærø “x” — … ≥ ≤ →", "đ ŋ Ð × ∑ √ €"),
    ("质押系统", "שלום عربي"),
    ("🙂 👩‍💻", "e\u0301 \u202eevil\u202c \u200b"),
]


def engine_param(name: str) -> Any:
    missing = shutil.which(name) is None
    return pytest.param(name, marks=pytest.mark.skipif(missing, reason=f"{name} is not installed"))


@pytest.mark.parametrize("engine", [engine_param("pdflatex"), engine_param("lualatex")])
@pytest.mark.parametrize("names", NAMES, ids=["commands", "ends", "latin", "other scripts", "marks"])
def test_a_comparison_compiles(engine: str, names: tuple[str, str], stored: Path, tmp_path: Path) -> None:
    found = compare(stored / "a", stored / "b", names=names)
    compiled(engine, render_page(describe_comparison(found.report), "latex"), tmp_path)


@pytest.mark.parametrize("engine", [engine_param("pdflatex")])
@pytest.mark.parametrize("name", ["b", "failing"])
def test_a_report_compiles(engine: str, name: str, stored: Path, tmp_path: Path) -> None:
    compiled(engine, render(json.loads((stored / name / "report.json").read_bytes()), "latex"), tmp_path)


def compiled(engine: str, text: str, folder: Path) -> None:
    (folder / "document.tex").write_text(DOCUMENT % text, encoding="utf-8")
    done = subprocess.run(
        [engine, "-halt-on-error", "-interaction=nonstopmode", "-draftmode", "-no-shell-escape", "document.tex"],
        cwd=folder,
        capture_output=True,
    )
    said = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("!")]
    assert (done.returncode, said) == (0, [])
