"""Where a stored result or comparison came from, as run.json beside it says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.errors import InputError, Place, describe
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import decode_text, read_bytes
from goldgate.readers.stored_result import MOST_BYTES, StoredResult

RUN = "run.json"
COMPARISON, COMPARISON_FILE = "comparison", "comparison.json"


@dataclass(frozen=True, slots=True)
class Origin:
    """What run.json says of where a result came from, as far as it can be read. `folder` is where it lies now."""

    folder: Path
    run: Mapping[str, Any] | None

    @property
    def ran_in(self) -> Path:
        """The folder that the command ran in."""
        ran_in = (self.run or {}).get("folder")
        return Path(ran_in) if type(ran_in) is str else Path()

    def named(self, kind: str) -> list[str]:
        """The paths of an input."""
        inputs = (self.run or {}).get("inputs")
        paths = inputs.get(kind) if isinstance(inputs, dict) else None
        return [path for path in paths if type(path) is str] if isinstance(paths, list) else []


def origin_of(result: StoredResult) -> Origin:
    """Of a result; of a report that was named alone, nothing is known."""
    return load_origin(result.folder) if result.is_folder else Origin(result.folder, None)


def load_origin(folder: Path) -> Origin:
    """What run.json of a folder says, if it is there."""
    file = folder / RUN
    if not file.exists():
        return Origin(folder, None)
    run = load_json(file, "run").value
    if not isinstance(run, dict):
        raise InputError("run.malformed", "not as goldgate wrote it", place=Place(str(file)), found=describe(run))
    return Origin(folder, run)


class StoredJson(NamedTuple):
    """A JSON file as it stands, and its value."""

    data: bytes
    value: Any


def load_json(file: Path, kind: str) -> StoredJson:
    """A JSON file, read strictly."""
    data = read_bytes(file, kind, most=MOST_BYTES)
    return StoredJson(data, parse_json(decode_text(data, str(file), kind), str(file), kind))
