"""The loop in miniature learns: what the reward prefers is what the policy ends with."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

LOOP = Path(__file__).parents[2] / "examples" / "rewards" / "loop.py"


def test_the_policy_learns_to_give_all() -> None:
    shown = subprocess.run([sys.executable, str(LOOP)], capture_output=True, text=True, check=True, timeout=120).stdout
    means = [float(mean) for mean in re.findall(r"mean reward ([\d.]+)", shown)]
    assert means[0] < 0.6 < 0.95 < means[-1]
    assert shown.endswith("the policy now mostly gives all\n")
