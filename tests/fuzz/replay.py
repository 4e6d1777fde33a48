"""One target on stored bytes: shows again what was found, with or without atheris.

python -m tests.fuzz.replay TARGET FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fuzz.targets import TARGETS

if __name__ == "__main__":
    TARGETS[sys.argv[1]].check(Path(sys.argv[2]).read_bytes())
    print("nothing is wrong with it any more")
