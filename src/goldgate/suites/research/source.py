"""Opens the inputs of the suite: run directories are listed, judged in shards, then counted as trials together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from decimal import Decimal
from typing import Any, NamedTuple

from goldgate.core.finding import limit_length
from goldgate.core.suite import Inputs, Mapper, Measure, Plan, Source, Work
from goldgate.core.unit_page import InputLookup
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.address import is_url, resolved_path
from goldgate.files.reading import is_outside
from goldgate.files.writing import escape_name
from goldgate.readers.stored_result import describe_path
from goldgate.suites.research.contracts import RUN_LIES_DEEPER
from goldgate.suites.research.golden import Corpus, Golden, check_corpus_apart, load_corpus, load_golden
from goldgate.suites.research.measures import Trial, research_measures, trial_record
from goldgate.suites.research.outcome import ResearchOutcome, RunCollection, choose_readings, collect_runs, iter_trials
from goldgate.suites.research.run import RunResult, RunSettings, judge_run
from goldgate.suites.research.run.copies import ContentDigests
from goldgate.suites.research.run.evidence import EvidenceDemands
from goldgate.suites.research.run.files import RUN_FILES, ReadLimits, list_folder
from goldgate.suites.research.suite import ResearchSettings
from goldgate.suites.research.support import ClaimLabels, CountedLabels, count_claim_labels, open_claim_labels

SHARD_RUNS = 32
_LINK_OUTSIDE = "a link that leaves the outputs directory"
_SHOWN_NAMES = 5


class RunDirectory(NamedTuple):
    """A directory to judge; `refused` says why it must not be entered."""

    name: str
    refused: str | None = None


class OutputsListing(NamedTuple):
    """What lies in the outputs folder, sorted: the order on disk changes nothing."""

    root: str  # the real path
    directories: list[RunDirectory]
    ignored: list[tuple[str, str]]  # name, reason


def list_outputs(outputs: str, own: frozenset[str] = frozenset()) -> OutputsListing:
    """The directories of the outputs folder. `own` are names of files that we wrote there ourselves."""
    root = outputs.rstrip("/") if is_url(outputs) else os.path.realpath(outputs)
    directories: list[RunDirectory] = []
    ignored: list[tuple[str, str]] = []
    try:
        for entry in list_folder(outputs if is_url(outputs) else root):
            is_link = entry.is_symlink()
            refused = _LINK_OUTSIDE if is_link and is_outside(root, entry.path) else None
            folder, name = os.path.split(os.path.realpath(entry.path)) if is_link else ("", "")
            if is_link and not os.path.exists(entry.path):
                ignored.append((escape_name(entry.name), "a link that leads nowhere"))
            elif entry.is_dir() and folder == root:  # as `latest` does: no trial of its own
                reason = f"a link to {escape_name(name)}, which counts under its own name"
                ignored.append((escape_name(entry.name), reason))
            elif entry.is_dir():
                directories.append(RunDirectory(entry.name, refused))
            elif refused or entry.name not in own:
                ignored.append((escape_name(entry.name), refused or "not a directory"))
    except FileNotFoundError:
        advice = describe_path(outputs).advice
        raise _outputs_error(outputs, "outputs.missing", "the outputs directory does not exist", advice) from None
    except NotADirectoryError:
        raise _outputs_error(outputs, "outputs.not_a_directory", "the outputs must be a directory") from None
    except OSError as problem:
        raise _outputs_error(
            outputs, "outputs.unreadable", f"the outputs directory cannot be read: {problem.strerror}"
        ) from None
    return OutputsListing(root, sorted(directories), sorted(ignored))


def no_runs_error(outputs: str, ignored: Sequence[tuple[str, str]]) -> InputError:
    """The error for outputs of which everything is ignored; it says what is there instead of runs."""
    names = {path.removesuffix("/") for path, _ in ignored}
    runs = [reason.removeprefix(RUN_LIES_DEEPER) for _, reason in ignored if reason.startswith(RUN_LIES_DEEPER)]
    if RUN_FILES & names:
        actual, advice = "the files of one run", "name the folder above it: the one that holds all runs"
    elif runs:
        folder = os.path.dirname(runs[0])
        depth = "some folders" if "/" in folder else "one folder"
        actual, advice = f"runs {depth} deeper, in {folder}", f"name that folder: {os.path.join(outputs, folder)}"
    elif names:
        first = ", ".join(sorted(names)[:_SHOWN_NAMES]) + (", …" if len(names) > _SHOWN_NAMES else "")
        actual = f"no run, but {first}"
        advice = "these are not the files of a run; docs/research.md says what a run leaves behind"
    else:
        actual, advice = "an empty directory", "run the agent first, or name the folder with its runs"
    return InputError(
        "outputs.no_runs",
        "there are no runs: nothing was measured",
        place=Place(outputs),
        expected=f"a directory for each run, with {', '.join(sorted(RUN_FILES))} in it (--outputs)",
        found=actual,
        advice=advice,
    )


def run_shards(directories: list[RunDirectory]) -> Iterator[list[RunDirectory]]:
    """The directories in their order, cut into pieces."""
    for begin in range(0, len(directories), SHARD_RUNS):
        yield directories[begin : begin + SHARD_RUNS]


def _removed_run_error(name: str) -> InputError:
    """A run that was listed and is not there would be judged as one that left nothing behind."""
    return InputError(
        "outputs.changed",
        "a run was removed while the runs were being read, or a node of the cluster does not see it",
        place=Place(escape_name(name)),
        expected="the same folder under the same path on every node, until the end",
        advice="run the command again when no process changes the folder; put it where all nodes see it",
    )


def _outputs_error(outputs: str, code: str, message: str, advice: str | None = None) -> InputError:
    return InputError(
        code,
        message,
        place=Place(outputs),
        expected="a directory with a directory for each run (--outputs)",
        advice=advice,
    )


MEGABYTE = 1_000_000
MAX_MEGABYTES = Decimal(10**9)  # megabytes; a limit above it is none
MAX_TRIALS = 10_000


class ResearchWork(Work[list[RunDirectory], Any]):
    """Judges the run directories of a shard. What is counted are trials, which take all of them."""

    def __init__(
        self, root: str, golden: Golden, settings: RunSettings, measures: Sequence[Measure[Trial]] = ()
    ) -> None:
        self.root = root
        self.golden = golden
        self.settings = settings
        self.measures = measures

    def __reduce__(self) -> tuple[object, ...]:
        golden = self.golden
        # It goes along with every shard: the golden queries, which may be many, are read again, if not from a pipe.
        path_or_queries = (golden.path, golden.sha256) if os.path.isfile(golden.path) else golden
        return _research_work, (self.root, path_or_queries, self.settings, self.measures)

    def score(self, shard: list[RunDirectory]) -> list[RunResult]:
        for name, refused in () if is_url(self.root) else shard:
            if refused is None and not os.path.lexists(os.path.join(self.root, name)):
                raise _removed_run_error(name)
        return [judge_run(self.root, name, self.golden, self.settings, refused) for name, refused in shard]

    def record(self, facts: Trial) -> Mapping[str, Any]:
        return trial_record(facts)

    def unit_id(self, facts: Trial) -> str:
        asked = f"query {limit_length(facts.query.objective)!r}" if facts.query is not None else "no query"
        return asked if facts.run is None else f"{facts.run.name}, {asked}"

    def multiplicity(self, facts: Trial) -> int:
        return facts.times


def _research_work(
    root: str, golden: Golden | tuple[str, str], settings: RunSettings, measures: Sequence[Measure[Trial]]
) -> ResearchWork:
    """The work as it was pickled; golden queries may be the path and the digest of their file."""
    if isinstance(golden, tuple):
        path, sha256 = golden
        golden = load_golden(path)
        if golden.sha256 != sha256:
            raise InputError("golden.changed", "the golden file changed while it was being read", place=Place(path))
    return ResearchWork(root, golden, settings, measures)


class ResearchSource(Source[list[RunDirectory], Any]):
    """Run directories and the golden queries that they are judged by."""

    needs_all = True

    def __init__(
        self,
        outputs: str,
        listing: OutputsListing,
        queries: Golden,
        plan: Plan,
        corpus: Corpus | None,
        labels: ClaimLabels | None = None,
    ) -> None:
        anchors = queries.anchors | (corpus.hashes if corpus is not None else frozenset())
        self._outputs = outputs
        self._listing = listing
        self._queries = queries
        self._plan = plan
        self._corpus = corpus
        self._labels = labels
        self._counted: CountedLabels | None = None
        settings = run_settings(plan, anchors)._replace(with_claim_ids=labels is not None)
        self._work = ResearchWork(listing.root, queries, settings, research_measures(plan.settings))
        self._collected = RunCollection()
        self.units = len(listing.directories)

    def work(self) -> ResearchWork:
        return self._work

    def shards(self) -> Iterator[list[RunDirectory]]:
        return run_shards(self._listing.directories)

    def finalize(self, results: Iterator[RunResult], engine: Mapper) -> Iterator[Trial]:
        limited_results = _limit_bytes(results, self._plan.settings.max_total_megabytes, self._outputs)
        self._collected = collect_runs(
            limited_results,
            self._queries,
            self._listing.ignored,
            lambda names: _read_contents(names, self._listing, engine, self._work),
            _protocol_trials(self._plan),
            merge_clones=self._plan.settings.copies == "merge",
        )
        if not self._collected.runs:
            raise no_runs_error(self._outputs, self._collected.ignored)
        if self._labels is not None:
            self._counted = count_claim_labels(self._labels, self._collected.runs, self._collected.every_copy())
            self._collected.labels = self._counted.by_run
        choose_readings(self._collected, self._queries, self._work.measures)
        return iter_trials(self._collected, self._queries)

    def finish(self) -> ResearchOutcome:
        return ResearchOutcome(
            self._collected, self._queries, self._plan.settings, self.units, self._corpus, self._counted
        )

    def place(self, unit: str) -> Place:
        names = (escape_name(directory.name) for directory in self._listing.directories)
        return Place(max((name for name in names if unit.startswith(f"{name}, ")), key=len, default=None))

    def lookup(self) -> InputLookup:
        from goldgate.suites.research.explain import RunInputs  # which needs this module

        book = None if self._labels is None else self._labels.book
        return RunInputs(self._listing, self._queries, self._work.settings, book)


@contextmanager
def open_research_source(
    inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
) -> Iterator[ResearchSource]:
    """The inputs of the suite, opened. Files that the command writes among the runs are left out."""
    outputs, corpus = inputs["outputs"][0], next(iter(inputs.get("corpus") or ()), None)
    queries = load_golden(inputs["golden"][0])
    sources = load_corpus(corpus) if corpus is not None else None
    if corpus is not None:
        check_corpus_apart(corpus, outputs)
    own = frozenset(os.path.basename(path) for path in written if is_directly_in(path, outputs))
    with ExitStack() as stack:
        labels = open_claim_labels(stack, inputs, plan)
        yield ResearchSource(outputs, list_outputs(outputs, own), queries, plan, sources, labels)


def is_directly_in(path: str, folder: str) -> bool:
    """Whether a path is directly in a folder."""
    return resolved_path(os.path.dirname(path) or ".") == resolved_path(folder)


def run_settings(plan: Plan, anchors: frozenset[str] = frozenset()) -> RunSettings:
    """What a protocol sets for reading a run."""
    research: ResearchSettings = plan.settings
    if research.require_anchored and not anchors:
        raise ConfigError(
            "protocol.no_anchor",
            "the protocol demands anchored evidence, and there is nothing to anchor it to",
            place=plan.place("research.require_anchored"),
            expected="--corpus, or artifact_hashes in the golden queries",
        )
    demands = EvidenceDemands(
        research.require == "quote_and_span",
        research.require_verbatim,
        research.require_anchored,
        research.provenance == "chunk",
    )
    limits = ReadLimits(_bytes(research.max_file_megabytes), _bytes(research.max_run_megabytes))
    return RunSettings(demands, limits, anchors, research.manifests == "required", research.manifest == "complete")


def _bytes(megabytes: Decimal) -> int:
    return int(min(megabytes, MAX_MEGABYTES) * MEGABYTE)


def _read_contents(
    names: list[str], listing: OutputsListing, engine: Mapper, work: ResearchWork
) -> dict[str, ContentDigests]:
    """The contents of runs that look alike: they are read again, because there are few of them."""
    alike = set(names)
    entries = [entry for entry in listing.directories if escape_name(entry.name) in alike]
    with_content = ResearchWork(work.root, work.golden, work.settings._replace(with_content=True))
    results = (result for shard in engine.map(with_content.score, run_shards(entries)) for result in shard)
    contents = {result.name: result.facts and result.facts.content for result in results}
    return {name: content for name, content in contents.items() if content is not None}


def _limit_bytes(results: Iterable[RunResult], megabytes: Decimal, outputs: str) -> Iterator[RunResult]:
    """The results as they come; an error, at the same run for any number of workers, where they are too much."""
    limit, read = _bytes(megabytes), 0
    for result in results:
        if result.facts is not None:
            read += result.facts.bytes_read
        if read > limit:
            raise InputError(
                "outputs.too_large",
                "the outputs are too large",
                place=Place(outputs),
                expected=f"at most {limit:,} bytes in all runs together",
                found=f"{read:,} bytes up to the run {result.name}",
                advice="are there files of nothing but zeros? Otherwise raise research.max_total_megabytes",
            )
        yield result


def _protocol_trials(plan: Plan) -> int | None:
    """How many trials the protocol wants of every query."""
    trials: Decimal | None = plan.settings.trials
    if trials is None:
        return None
    if trials != int(trials) or not 1 <= trials <= MAX_TRIALS:
        raise ConfigError(
            "protocol.wrong_value",
            "this number of trials is not allowed",
            place=plan.place("research.trials"),
            expected=f"an integer from 1 to {MAX_TRIALS:,}",
            found=str(trials),
        )
    return int(trials)
