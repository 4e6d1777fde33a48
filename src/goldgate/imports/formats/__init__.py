"""The formats of traces that are read. A new one is a file here, its mapping beside it, and a line in the list."""

from __future__ import annotations

from goldgate.imports.formats.langsmith import LANGGRAPH, LANGSMITH
from goldgate.imports.formats.openai_agents import OPENAI_AGENTS
from goldgate.imports.formats.otel import OTEL
from goldgate.imports.formats.records import RECORDS
from goldgate.imports.span import Format

# In the order in which a file is tried.
FORMATS: dict[str, Format] = {format.name: format for format in (OTEL, OPENAI_AGENTS, LANGSMITH, LANGGRAPH, RECORDS)}
