"""The shapes of import.json and of mapping files, for whoever reads or writes them."""

# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.
from dataclasses import dataclass
from typing import Literal, TypedDict

from goldgate.imports.mapping import Mapping


class MissingPart(TypedDict):
    """What a run's files need and the trace does not give, and why."""

    what: str
    why: str


class ImportNotes(TypedDict):
    """import.json of an imported run. `origin` names the span that each part was found in."""

    format_version: int
    run_id: str
    format: str
    mapping: str
    spans: int
    steps: int
    origin: dict[str, str]
    missing: list[MissingPart]
    problems: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension(Mapping):
    """A mapping file that takes from a ready one what it does not say; also the form of the traces."""

    extends: Literal["otel", "openai-agents", "langsmith", "langgraph"]
    format: Literal["otel", "langsmith", "langgraph", "openai-agents", "records"] = "otel"


CONTRACTS = {
    "import.schema.json": ("Notes of an import", ImportNotes),
    "mapping.schema.json": ("Mapping of traces", Mapping | Extension),
}
