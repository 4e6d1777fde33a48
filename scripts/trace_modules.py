"""Print the modules that one prediction passes on its way to a report.

A module counts if one of its functions is called while `goldgate extraction --out` judges a gold file of one record.
What module and class bodies do is left out: they run when a module is imported, whether or not it is needed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import FrameType
from typing import Any

GOLD = {
    "id": "1",
    "text": "Rebels attacked Aleppo on Monday.",
    "events": [{"event_type": "Attack", "trigger": "attacked", "arguments": [{"role": "Place", "argument": "Aleppo"}]}],
}
ANSWER = (
    "<think>An attack on Aleppo.</think>"
    '[{"event_type": "Attack", "arguments": [{"role": "Place", "argument": "Aleppo"},]}]'  # a comma too many
)
SCHEMA = {"event_types": {"Attack": {"roles": ["Place", "Attacker"]}}}


def main() -> int:
    from goldgate.cli.main import goldgate

    modules: set[str] = set()

    def note(frame: FrameType, event: str, _argument: Any) -> None:
        name = frame.f_globals.get("__name__", "")
        is_ours = name.split(".")[0] == "goldgate" and name not in modules
        if event == "call" and is_ours and frame.f_code.co_flags & CO_OPTIMIZED and not _is_importing(frame):
            modules.add(name)

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "gold.jsonl").write_text(json.dumps(GOLD) + "\n")
        (root / "answers.jsonl").write_text(json.dumps({"id": "1", "response": ANSWER}) + "\n")
        (root / "schema.json").write_text(json.dumps(SCHEMA))
        options = {"gold": "gold.jsonl", "predictions": "answers.jsonl", "schema": "schema.json", "out": "out"}
        arguments = [text for name, file in options.items() for text in (f"--{name}", str(root / file))]
        sys.setprofile(note)
        try:
            goldgate(["extraction", "--brief", *arguments], standalone_mode=False)
        except SystemExit as ended:
            if ended.code:
                raise
        finally:
            sys.setprofile(None)
    print(*sorted(modules), sep="\n")
    print(len(modules), "modules")
    return 0


def _is_importing(frame: FrameType | None) -> bool:
    """Whether a module body is behind this call."""
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame is not None and frame.f_globals["__name__"] != "__main__"


if __name__ == "__main__":
    raise SystemExit(main())
