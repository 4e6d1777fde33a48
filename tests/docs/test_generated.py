"""The reference of the commands and the pictures are up to date; GOLDGATE_UPDATE=1 writes them anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from .documents import DOCS, ROOT, name_of
from .generated import GENERATED, PICTURES, make


@pytest.mark.parametrize("file", GENERATED, ids=name_of)
def test_generated_file_is_up_to_date(file: Path) -> None:
    made = make(file)
    if os.environ.get("GOLDGATE_UPDATE"):
        file.write_text(made, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == made, "renew it: GOLDGATE_UPDATE=1 pytest tests/docs/test_generated.py"


@pytest.mark.parametrize("file", [file for file in GENERATED if file.name in PICTURES], ids=name_of)
def test_picture_can_be_shown(file: Path) -> None:
    """It is whole XML, in colour, and begins and ends with a verdict."""
    texts = ["".join(text.itertext()) for text in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")]
    assert "FAIL  goldgate" in "\n".join(texts[:4])
    assert any(text.startswith("FAIL  ") and "gates failed" in text for text in texts[-6:])
    assert not any("\x1b" in text for text in texts)


def test_arithmetic_of_the_page_is_that_of_the_script() -> None:
    """What docs/scale.md works out on paper is what the script prints."""
    script = ROOT / "benchmarks" / "scale_on_paper.py"
    printed = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    assert f"```text\n{printed}```" in (DOCS / "scale.md").read_text(encoding="utf-8")
