"""What `--format latex` prints is LaTeX that compiles, whatever the systems are called."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from goldgate.comparison.compare import compare
from goldgate.comparison.page import describe_comparison
from goldgate.report import render, render_page

DOCUMENT = "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n%s\n\\end{document}\n"
NAMES = [
    ("_ % & # { } \\ ^ ~ $", 'a -- b ?` !` `x\' "y" <z> | * [1]'),
    ("\\end{tabular}\\input{secret}", "%\\newpage"),
    ("naïve Łódź Ærø “x” — … ≥ ≤ →", "đ ŋ Ð × ∑ √ €"),
    ("质押系统", "שלום عربي"),
    ("🙂 👩‍💻", "e\u0301 \u202eevil\u202c \u200b"),
]


@pytest.mark.parametrize("engine", ["pdflatex", "lualatex"])
@pytest.mark.parametrize("names", NAMES, ids=["commands", "ends", "latin", "other scripts", "marks"])
def test_a_comparison_compiles(engine: str, names: tuple[str, str], stored: Path, tmp_path: Path) -> None:
    require(engine)
    found = compare(stored / "a", stored / "b", names=names)
    compiled(engine, render_page(describe_comparison(found.report), "latex"), tmp_path)


@pytest.mark.parametrize("name", ["b", "failing"])
def test_a_report_compiles(name: str, stored: Path, tmp_path: Path) -> None:
    require("pdflatex")
    compiled("pdflatex", render(json.loads((stored / name / "report.json").read_bytes()), "latex"), tmp_path)


def require(engine: str) -> None:
    if shutil.which(engine) is None:
        pytest.skip(f"{engine} is not installed")


def compiled(engine: str, text: str, folder: Path) -> None:
    (folder / "document.tex").write_text(DOCUMENT % text, encoding="utf-8")
    done = subprocess.run(
        [engine, "-halt-on-error", "-interaction=nonstopmode", "-draftmode", "-no-shell-escape", "document.tex"],
        cwd=folder,
        capture_output=True,
    )
    said = [line for line in done.stdout.decode(errors="replace").splitlines() if line.startswith("!")]
    assert (done.returncode, said) == (0, [])
