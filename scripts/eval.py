"""Judge stored runs of a research agent: the same as `goldgate research`."""

import sys

if __name__ == "__main__" and not sys.flags.safe_path:
    del sys.path[0]  # this folder: a file that happens to be named like a library's would run

from pathlib import Path

try:
    import goldgate  # noqa: F401  # installed?
except ModuleNotFoundError:  # no: run from this checkout
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from goldgate.cli.start import start
from goldgate.cli.suite_command import suite_command

if __name__ == "__main__":
    sys.exit(start(suite_command("research"), "scripts/eval.py"))
