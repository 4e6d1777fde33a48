"""Score stored answers of an event extraction model: the same as `goldgate extraction`."""

import sys
from pathlib import Path

try:
    import goldgate  # noqa: F401  # installed?
except ModuleNotFoundError:  # no: run from this checkout
    sys.path.insert(0, str(Path(__file__).resolve().parent / "src"))

from goldgate.cli.extraction import extraction_command
from goldgate.cli.start import start

if __name__ == "__main__":
    sys.exit(start(extraction_command, "evaluate.py"))
