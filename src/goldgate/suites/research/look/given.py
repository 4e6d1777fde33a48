"""What a run's record was made from: its golden query, and the files of its folder, read and checked once more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from goldgate.core.finding import cut
from goldgate.core.plan import Plan
from goldgate.core.suite import Inputs
from goldgate.files.storable import storable_name
from goldgate.suites.research.corpus import load_corpus
from goldgate.suites.research.golden import Golden, Query, load_golden
from goldgate.suites.research.look.run import LookedAtRun, look_at_run
from goldgate.suites.research.run.facts import Settings
from goldgate.suites.research.settings import ResearchSettings
from goldgate.suites.research.shards import Listing, list_outputs
from goldgate.suites.research.source import run_settings


class ResearchGiven:
    """`golden` is the Query, `outputs` the LookedAtRun; a folder whose files have changed is left out."""

    def __init__(self, listing: Listing | None, golden: Golden | None, settings: Settings) -> None:
        self._listing = listing
        self._golden = golden
        self._settings = settings
        self._folders = {storable_name(entry.name): entry for entry in listing.directories} if listing else {}
        self._queries = {cut(query.objective): query for query in golden.queries} if golden else {}

    def of(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        query = self._query(record)
        if query is not None:
            found["golden"] = query
        run = self._run(record)
        if run is not None:
            found["outputs"] = run
        return found

    def _query(self, record: Mapping[str, Any]) -> Query | None:
        number = record.get("query")
        if self._golden is not None and type(number) is int and number < len(self._golden.queries):
            return self._golden.queries[number]
        return self._queries.get(record["objective"]) if record["run"] is None else None

    def _run(self, record: Mapping[str, Any]) -> LookedAtRun | None:
        entry = self._folders.get(record["run"])
        if self._listing is None or entry is None or entry.refused is not None or not record.get("sha256"):
            return None
        run = look_at_run(self._listing.root, entry.name, self._golden, self._settings)
        return run if run is not None and run.sha256 == record["sha256"] else None


@contextmanager
def open_given(inputs: Inputs, plan: Plan | None) -> Iterator[ResearchGiven]:
    """The inputs that are named. Without the plan or the corpus, evidence may be checked otherwise than it was."""
    golden, outputs, corpus = (next(iter(inputs.get(name) or ()), None) for name in ("golden", "outputs", "corpus"))
    known = None if golden is None else load_golden(golden)
    anchors = (known.anchors if known else frozenset()) | (load_corpus(corpus).hashes if corpus else frozenset())
    settings = run_settings(plan or Plan(ResearchSettings()), anchors)
    yield ResearchGiven(None if outputs is None else list_outputs(outputs), known, settings)
