"""The example notebook runs in a real kernel, and its cells end in what a reader came for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat

ROOT = Path(__file__).resolve().parents[2]

EXAMPLES = ROOT / "examples"


def test_the_example_notebook_runs_and_shows_pages() -> None:
    notebook: Any = nbformat.read(EXAMPLES / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # what a reader sees is what their version prints
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(EXAMPLES)}}).execute()
    shown = [
        (cell.source, output.data.get("text/html", ""))
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "execute_result"
    ]
    pages = {source.splitlines()[-1]: html for source, html in shown if 'class="goldgate-output"' in html}
    assert len(shown) == 6
    assert len(pages) == 3
    assert "goldgate extraction" in pages["evaluation"]
    assert "model-a, model-b on 80 samples" in pages["comparison"]
    assert "Source text" in next(html for source, html in pages.items() if source.startswith("scorer.score"))
