"""What needs an extra says so where it is missing, and nothing else needs it."""

from __future__ import annotations

import subprocess
import sys


def test_a_scorer_of_inspect_says_what_to_install() -> None:
    code = "import sys; sys.modules['inspect_ai'] = None; import goldgate.inspect_scorer"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "goldgate inside Inspect needs inspect-ai" in shown.stderr
    assert "pip install inspect-ai" in shown.stderr


def test_rewards_need_no_trainer() -> None:
    code = "import sys; sys.modules['trl'] = sys.modules['torch'] = None; import goldgate\n"
    code += "assert goldgate.rewards.event_reward(metric='type_f1').__name__ == 'goldgate_type_f1'"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_a_cluster_without_ray_says_what_to_install() -> None:
    code = "import sys; sys.modules['ray'] = None; from goldgate.cli.main import main; main()"
    names = {"gold": "gold.jsonl", "predictions": "model-a.jsonl", "schema": "schema.json"}
    inputs = [f"--{option}=examples/extraction/{name}" for option, name in names.items()]
    line = [sys.executable, "-c", code, "extraction", *inputs, "--engine", "ray"]
    shown = subprocess.run(line, capture_output=True, text=True, check=False)
    assert shown.returncode == 2
    assert "--engine ray needs the extra `ray`, which is not installed" in shown.stderr
    assert "pip install -e '.[ray]'" in shown.stderr
