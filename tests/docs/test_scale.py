"""What docs/scale.md works out on paper is what the script prints."""

from __future__ import annotations

import subprocess
import sys

from .documents import DOCS, ROOT


def test_arithmetic_of_the_page_is_that_of_the_script() -> None:
    script = ROOT / "benchmarks" / "scale_on_paper.py"
    printed = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True).stdout
    assert f"```text\n{printed}```" in (DOCS / "scale.md").read_text(encoding="utf-8")
