"""`goldgate generate`: ask a model about every gold document, keep every answer; `evaluate_api.py` scores them too."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import click

from goldgate.cli.generation_options import (
    CHECKPOINT,
    COMMON,
    ENDPOINT,
    SCORING,
    STOPPING,
    Choices,
    options,
    read_choices,
)
from goldgate.cli.generation_text import dry_run_text, resume_command, stopped_line, summary_text
from goldgate.cli.guarded import guarded
from goldgate.cli.many_values import ManyValues
from goldgate.cli.out_folder import REPORT_JSON, OutFolder
from goldgate.cli.printing import say, show_error
from goldgate.cli.progress import ProgressLine
from goldgate.cli.run import Job, carry_out
from goldgate.cli.start import EXIT_INTERRUPTED, tell
from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR, GoldgateError

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.task import Task
    from goldgate.generation.artifacts import SeedSummary
    from goldgate.generation.journal import Journal
    from goldgate.generation.run import Outcome, Prepared
    from goldgate.generation.stopping import StopRule
    from goldgate.pipeline import Finished

PREDICTIONS, ASKED = "predictions.jsonl", "asked.jsonl"
SEEDS = ("seeds.json", "seeds.md")
# No file of a run whose command line may hold a key (run.json keeps it), or whose folder belongs to somebody else.
NO_REPORT = (
    "key.", "base_url.", "journal.locked", "journal.not_a_journal", "out.not_ours", "out.in_use", "shards.in_use",
)  # fmt: skip


@click.command("generate", cls=ManyValues, short_help="Ask a model about every gold document and keep the answers.")
@options(COMMON, ENDPOINT, CHECKPOINT)
@click.pass_context
def generate_command(context: click.Context, /, **given: Any) -> None:
    """Ask a model about every gold document and keep every answer.

    Writes journal.jsonl (every answer as it arrives), predictions.jsonl (for `goldgate extraction`) and
    generation.json (what was asked, what is missing, what it cost) to --out. The same command again asks
    only for what is missing. Exit status: 0 every document is answered, 2 it is not, or it could not be
    carried out.
    """
    context.exit(_Run(given).carry_out(score=False))


@click.command("evaluate_api", cls=ManyValues)
@options(COMMON, ENDPOINT, SCORING, STOPPING)
@click.pass_context
def evaluate_api_command(context: click.Context, /, **given: Any) -> None:
    """Ask an OpenAI-compatible endpoint about every gold document, keep every answer, score and judge them.

    The same command again asks only for what is missing. Exit status: 0 all gates passed, 1 a gate failed,
    2 it could not be carried out, or answers are missing (see --allow-missing).
    """
    context.exit(_Run(given).carry_out(score=True))


@click.command("evaluate", cls=ManyValues)
@options(COMMON, CHECKPOINT, SCORING)
@click.pass_context
def evaluate_checkpoint_command(context: click.Context, /, **given: Any) -> None:
    """Let a checkpoint on disk answer about every gold document, keep every answer, score and judge them.

    Without --checkpoint, evaluate.py scores stored answers: see evaluate.py --help. The same command again
    asks only for what is missing. Exit status: 0 all gates passed, 1 a gate failed, 2 it could not be carried
    out, or answers are missing (see --allow-missing).
    """
    context.exit(_Run(given).carry_out(score=True))


class _Run:
    """One command: its options, and what is done in which order."""

    def __init__(self, given: dict[str, Any]) -> None:
        self.given = given
        self.quiet = bool(given["quiet"])
        self.chosen = read_choices(given)
        self.options = self.chosen.options

    def carry_out(self, *, score: bool) -> int:
        """Prepare, ask, score; the result is the exit status. A shard is only asked: it is no result by itself."""
        score = score and self.options.shard is None
        prepared = guarded(lambda: _prepare(self.chosen, self.given))
        if isinstance(prepared, GoldgateError):
            reported = score and not _in_use(self.options.out) and self._may_be_stored()
            return self._report_error(prepared) if reported else self._fail(prepared)
        with ExitStack() as held:  # the folder is ours until the last file is written
            held.callback(prepared.task.close)
            if self.given["dry_run"]:
                return self._dry_run(prepared)
            outcome = guarded(lambda: self._generate(prepared, held, score=score))
            if isinstance(outcome, GoldgateError):
                return self._report_error(outcome) if score else self._fail(outcome)
            return self._after(prepared, outcome, score=score)

    def _generate(self, prepared: Prepared, held: ExitStack, *, score: bool) -> Outcome:
        from goldgate.cli.watch import WatchLine
        from goldgate.generation.counts import Listener
        from goldgate.generation.merge import merge, shards_held
        from goldgate.generation.run import generate, open_journal, stopped_error

        merging = self.given["merge"]
        if not merging:
            prepared.answerer.get_ready()
        held.enter_context(shards_held(self.options.out))
        if score and merging:
            self._check_folders()
        if merging:
            return merge(prepared, Listener((lambda _: None) if self.quiet else tell))
        journal: Journal = held.enter_context(open_journal(prepared))
        if score:  # before anything is paid for
            self._check_folders()
        line = WatchLine(quiet=self.quiet, currency=prepared.settings.currency)
        try:
            outcome = generate(prepared, journal, Listener(line.say, line, line.every))
        finally:
            line.clear()
        if outcome.ending.reason == "stopped":
            self._say_cost(outcome)
            raise stopped_error(outcome.ending, prepared.answerer)
        return outcome

    def _after(self, prepared: Prepared, outcome: Outcome, *, score: bool) -> int:
        ending = outcome.ending
        if ending.reason == "interrupted":
            if score and any((folder / REPORT_JSON).exists() for folder in self.options.folders()):
                tell("the report that is there is an earlier run's")
            self._say_cost(outcome)
            tell("interrupted; everything answered is in the journal. To go on:")
            tell(f"  {resume_command()}")
            return 128 + ending.signal if ending.signal is not None else EXIT_INTERRUPTED
        if ending.reason == "decided" and outcome.stopped is not None:
            tell(stopped_line(outcome.stopped))
        if ending.reason == "budget":
            tell(f"stopped: {ending.message}")
        if score:
            status = self._score(prepared, outcome)
            self._say_cost(outcome)
            return status
        missing = sum(len(summary.unanswered) for summary in outcome.summaries)
        status = EXIT_PASSED
        if missing and not self.given["allow_missing"]:
            total = sum(summary.documents for summary in outcome.summaries)
            command = "the same command without --merge" if self.given["merge"] else "the same command"
            tell(f"{missing} of {total} answers are missing; {command} asks for them again")
            status = EXIT_SYSTEM_ERROR
        return status if self.quiet else say(summary_text(self.options, outcome.summary), status)

    def _score(self, prepared: Prepared, outcome: Outcome) -> int:
        """A report for each seed. Of several, what they come to together is printed, and where each report is."""
        from goldgate.generation.run import write_summary

        problem = guarded(self._discard_seeds)
        if isinstance(problem, GoldgateError):
            return self._fail(problem)
        evaluations: dict[int | None, Evaluation] = {}
        statuses: list[int] = []
        for number, summary in enumerate(outcome.summaries):
            keep: list[Evaluation] = []
            statuses.append(self._score_seed(prepared, outcome, summary, keep.append))
            if keep:
                outcome.summary["seeds"][number]["bounds"] = keep[0].report["generation"]["bounds"]
                evaluations[summary.seed] = keep[0]
        problem = guarded(lambda: write_summary(prepared, outcome.summary))
        if isinstance(problem, GoldgateError):
            return self._fail(problem)
        if len(statuses) > 1:
            problem = guarded(lambda: self._show_seeds(evaluations, statuses))
            if isinstance(problem, GoldgateError):
                return self._fail(problem)
        return max(statuses)

    def _score_seed(
        self, prepared: Prepared, outcome: Outcome, summary: SeedSummary, keep: Callable[[Evaluation], None]
    ) -> int:
        from goldgate.generation.score import missing_error, score
        from goldgate.pipeline import evaluate as evaluate_suite
        from goldgate.suites.extraction.suite import SUITE

        folder, task = self.options.folder(summary.seed), self.chosen.task
        gold = task.gold if outcome.stopped is None else [str(folder / ASKED)]
        dialect = [task.dialect] if task.dialect is not None and outcome.stopped is None else []  # asked.jsonl is ours
        progress = ProgressLine("sample", quiet=self.quiet)

        schema = [] if task.schema is None else [task.schema]

        def evaluate(records: IO[bytes] | None, finished: Finished | None) -> Evaluation:
            def evaluate_predictions(predictions: list[Path], records: IO[bytes] | None) -> Evaluation:
                is_first = records is not None  # the other is for the bounds
                inputs = {"gold": gold, "predictions": predictions, "schema": schema, "dialect": dialect}
                return evaluate_suite(
                    SUITE, inputs, self.chosen.protocol,
                    workers=self.given["workers"], records=records,
                    progress=progress if is_first else None, finished=finished if is_first else None,
                )  # fmt: skip

            predictions, currency = folder / PREDICTIONS, prepared.settings.currency
            try:
                evaluation = score(
                    evaluate_predictions, predictions, outcome.ladder, summary, currency, records, outcome.stopped
                )
            finally:
                progress.clear()
            keep(evaluation)
            if not summary.complete and not self.given["allow_missing"]:
                again = "without --merge" if self.given["merge"] else "again"
                raise missing_error(evaluation, prepared.task, summary, predictions, again)
            return evaluation

        job = self._job(folder)
        job.inputs["gold"] = [*gold]
        if dialect:
            job.inputs["dialect"] = dialect
        return carry_out(job._replace(silent=not job.quiet and len(self.options.seeds) > 1), evaluate)

    def _job(self, folder: Path) -> Job:
        inputs = self._inputs() | {"predictions": [str(folder / PREDICTIONS)]}
        return Job(
            "extraction",
            inputs,
            out=str(folder),
            format=self.given["format"],
            quiet=self.quiet,
            workers=self.given["workers"],
            generating=True,
        )

    def _report_error(self, error: GoldgateError) -> int:
        """The report of a run that could not be carried out, for every seed; shown once."""
        if self.given["dry_run"] or error.code.startswith(NO_REPORT):
            return self._fail(error)

        def fail(_: IO[bytes] | None, finished: Finished | None) -> Evaluation:
            raise error

        guarded(self._discard_seeds)  # what they sum up is about to be replaced
        *others, last = self.options.folders()
        for folder in others:
            with redirect_stderr(StringIO()):
                carry_out(self._job(folder)._replace(quiet=True), fail)
        return carry_out(self._job(last), fail)

    def _may_be_stored(self) -> bool:
        """Whether the command line holds no key, as far as the answerer can tell."""
        return not isinstance(guarded(self.chosen.answerer.get_ready), GoldgateError)

    def _show_seeds(self, evaluations: dict[int | None, Evaluation], statuses: list[int]) -> None:
        """Write and print what all seeds come to, if each has a verdict; then say where their reports are."""
        from goldgate.comparison.runs import summarize_folders
        from goldgate.core.evaluation import render_json
        from goldgate.generation.files import write_whole
        from goldgate.generation.seeds import summarize
        from goldgate.report.generation import seeds_markdown, seeds_text

        shown: str | bytes = ""
        if EXIT_SYSTEM_ERROR not in statuses:
            spreads = summarize_folders([str(self.options.folder(seed)) for seed in evaluations])
            seeds = summarize({seed or 0: evaluation for seed, evaluation in evaluations.items()}, spreads)
            write_whole(self.options.out / SEEDS[0], render_json(seeds))
            write_whole(self.options.out / SEEDS[1], seeds_markdown(seeds).encode())
            match self.given["format"]:
                case "json":
                    shown = render_json(seeds)
                case "markdown":
                    shown = seeds_markdown(seeds)
                case _:
                    shown = seeds_text(seeds)
        if not self.quiet:
            say(shown, EXIT_PASSED)
            tell(self._reports_text(evaluations, statuses))

    def _reports_text(self, evaluations: dict[int | None, Evaluation], statuses: list[int]) -> str:
        lines = ["The reports of the single seeds:"]
        for seed, status in zip(self.options.seeds, statuses, strict=True):
            verdict = "SYSTEM_ERROR" if status == EXIT_SYSTEM_ERROR else evaluations[seed].status
            lines.append(f"  seed {seed}  {verdict}  {self.options.folder(seed)}")
        return "\n".join(lines)

    def _dry_run(self, prepared: Prepared) -> int:
        from goldgate.generation.run import dry_run

        planned = guarded(lambda: dry_run(prepared))
        if isinstance(planned, GoldgateError):
            return self._fail(planned)
        return say(dry_run_text(prepared, planned), EXIT_PASSED)

    def _say_cost(self, outcome: Outcome) -> None:
        from goldgate.generation.artifacts import cost_line

        if not self.quiet:
            tell(cost_line(outcome.summary))

    def _fail(self, error: GoldgateError) -> int:
        show_error(error)
        return error.exit_status

    def _inputs(self) -> dict[str, list[str]]:
        task = self.chosen.task
        named = {"schema": task.schema, "protocol": self.chosen.protocol, "train": task.train}
        return {"gold": list(task.gold)} | {kind: [path] if path is not None else [] for kind, path in named.items()}

    def _check_folders(self) -> None:
        """The folders for the reports can be written to, nobody else does, and no input lies under a report's name."""
        paths = [path for paths in self._inputs().values() for path in paths]
        for folder in self.options.folders():
            OutFolder(str(folder), paths).close()

    def _discard_seeds(self) -> None:
        from goldgate.generation.files import remove_file

        for name in SEEDS:
            remove_file(self.options.out / name)


def _in_use(folder: Path) -> bool:
    """Whether another process is asking or scoring in this folder."""
    from goldgate.generation.journal import in_use
    from goldgate.generation.shards import JOURNAL

    return in_use(folder / JOURNAL)


def _prepare(chosen: Choices, given: dict[str, Any]) -> Prepared:
    from goldgate.baseline.pairing import load_stored_runs
    from goldgate.cli.stopping import stop_rule
    from goldgate.generation.run import prepare
    from goldgate.suites.extraction.suite import SUITE
    from goldgate.suites.extraction.task import ExtractionTask, load_task
    from goldgate.suites.plan import load_plan, load_protocol

    loaded, options = load_protocol(chosen.protocol), chosen.options
    plan = load_plan(SUITE, loaded)
    # Before anything is asked and paid for: what gates compare with is there, and is not written over.
    load_stored_runs(SUITE, plan, [str(folder) for folder in (options.out, *options.folders())])
    response = plan.settings.response

    def load() -> ExtractionTask:
        return load_task(chosen.task, options.all_seeds, response, options.response_format)

    def watch(task: Task) -> StopRule | None:
        return stop_rule(plan, cast("ExtractionTask", task), options, given)

    return prepare(options, chosen.answerer, loaded.protocol.generation, load, watch)
