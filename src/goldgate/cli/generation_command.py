"""What a command that asks a model does: prepare, ask, score, or read the labels of a judge."""

from __future__ import annotations

import logging
import shlex
import sys
from contextlib import ExitStack, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import IO, Any, cast

import orjson

from goldgate.cli.generation_options import parse_generation_options
from goldgate.cli.options import as_list, choose_ability
from goldgate.cli.out_folder import OutFolder
from goldgate.cli.process import (
    EXIT_INTERRUPTED,
    ProgressLine,
    exit_status,
    print_output,
    print_stderr,
    result_or_error,
)
from goldgate.cli.runner import Job, run_job
from goldgate.comparison import summarize_run_folders
from goldgate.core.evaluation import Evaluation, render_json
from goldgate.core.suite import ALLOW_EMPTY
from goldgate.core.task import JudgingTask, Task
from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR, ConfigError, GoldgateError, Place
from goldgate.files.address import redact_arguments
from goldgate.generation import results
from goldgate.generation.answerer import GenerationProgress, RunCallbacks
from goldgate.generation.journal import JOURNAL_FILE, journal_in_use
from goldgate.generation.run import (
    PREDICTIONS,
    SUMMARY,
    GenerationOptions,
    GenerationResult,
    PreparedRun,
    dry_run,
    generate,
    given_up_error,
    open_journal,
    prepare,
    write_summary,
)
from goldgate.pipeline import Finished, evaluate_suite
from goldgate.report import render_page
from goldgate.report.escape import visible
from goldgate.runs.reference import load_reference_runs
from goldgate.suites import abilities_for
from goldgate.suites.plan import load_plan, load_protocol


def resume_command() -> str:
    """This process's own command line, as a shell takes it. It never has a key in it, nor the query of an address."""
    program = Path(sys.argv[0])
    start = ["python", sys.argv[0]] if program.suffix == ".py" else [program.name]
    if program.name == "__main__.py":
        start = ["python", "-m", "goldgate"]
    return shlex.join([*start, *redact_arguments(sys.argv[1:])])


def dry_run_text(prepared: PreparedRun) -> str:
    """The first prompt, the number of requests, and what they cost at most."""
    planned = dry_run(prepared)
    lines = []
    if planned.first is not None:
        lines.append(f"The first prompt, of {visible(planned.first.id)}:")
        for message in planned.first.messages:
            lines.append(f"--- {message.role} ---")
            lines += [visible(line) for line in message.content.split("\n")]
        lines.append("---")
    stored = planned.total - planned.requests
    lines.append(f"requests       {planned.requests:,} ({stored:,} of {planned.total:,} are in the journal)")
    lines.append(f"input tokens   about {planned.usage.input:,}")
    lines.append(f"output tokens  at most {planned.usage.output:,}")
    if planned.cost is not None:
        lines.append(f"cost           at most about {results.format_money(planned.cost)} {prepared.settings.currency}")
    else:
        lines.append(f"cost           unknown: the protocol has no price for {visible(prepared.options.model)}")
    lines.append("Nothing was asked and nothing was written.")
    return "\n".join(lines) + "\n"


def summary_text(options: GenerationOptions, summary: dict[str, Any]) -> str:
    """Where the predictions are, what is missing, and on the last line what all of it came to."""
    lines = []
    for entry in summary["seeds"]:
        lines.append(str(options.folder(entry["seed"]) / PREDICTIONS))
        lines += [f"  missing: {cause} {count}" for cause, count in entry["missing"].items()]
    return "\n".join([*lines, results.cost_line(summary)]) + "\n"


# No file of a run that could not begin, whose command line may hold a key (run.json keeps it), or whose folder belongs
# to another run.
UNREPORTED_CODES = (
    "extra.", "key.", "base_url.",
    "journal.locked", "journal.not_a_journal", "out.not_ours", "out.in_use",
)  # fmt: skip


class GenerateCommand:
    """A command that asks a model: prepares, asks, and scores the answers if `score` is set."""

    def __init__(self, params: dict[str, Any], command: str = "generate", *, score: bool = False) -> None:
        self.params = params
        self.quiet = bool(params["quiet"])
        if self.quiet:
            logging.getLogger("goldgate").setLevel(logging.ERROR)
        self.options, self.answerer = parse_generation_options(params)
        self.score = score
        names = {each.name for _, ability in abilities_for(command) for each in ability.inputs}
        self.inputs = {name: value for name, value in params.items() if name in names}
        self.suite, self.ability = choose_ability(command, params["suite"], self.inputs)

    def run(self) -> int:
        """Prepare, ask, score; the result is the exit status."""
        return exit_status(self._run)

    def _run(self) -> int:
        prepared = result_or_error(self._prepare)
        if isinstance(prepared, GoldgateError):
            return self._report_error(prepared, reported=self.score and self._may_report())
        with ExitStack() as stack:  # the folder is ours until the last file is written
            stack.callback(prepared.task.close)
            if self.params["dry_run"]:
                return print_output(dry_run_text(prepared), EXIT_PASSED)
            outcome = result_or_error(lambda: self._generate(prepared, stack))
            if isinstance(outcome, GoldgateError):
                return self._report_error(outcome, reported=self.score)
            return self._after(prepared, outcome)

    def _prepare(self) -> PreparedRun:
        loaded, options = load_protocol(self.params["protocol"]), self.options
        plan = load_plan(self.suite, loaded)
        # Before anything is asked and paid for: what gates compare with is there, and is not written over.
        load_reference_runs(self.suite, plan, [str(folder) for folder in (options.out, *options.folders())])

        def load() -> Task:
            task: Task = self.ability.load()(plan, options.all_seeds, options.response_format, self.inputs)
            return task

        return prepare(options, self.answerer, loaded.protocol.generation, load)

    def _may_report(self) -> bool:
        """Whether no other process asks or scores in this folder, and the answerer has what it needs."""
        if journal_in_use(self.options.out / JOURNAL_FILE):
            return False
        return not isinstance(result_or_error(self.answerer.get_ready), GoldgateError)

    def _report_error(self, error: GoldgateError, *, reported: bool) -> int:
        """Write the report of a run that failed for every seed, and print it once."""
        if not reported or self.params["dry_run"] or error.code.startswith(UNREPORTED_CODES):
            raise error

        def fail(_: IO[bytes] | None, finished: Finished | None) -> Evaluation:
            raise error

        result_or_error(self._discard_seeds)  # what they sum up is about to be replaced
        *others, last = self.options.folders()
        for folder in others:
            with redirect_stderr(StringIO()):
                run_job(self._job(folder)._replace(quiet=True), fail)
        return run_job(self._job(last), fail)

    def _generate(self, prepared: PreparedRun, stack: ExitStack) -> GenerationResult:
        line = GenerationProgress(quiet=self.quiet, currency=prepared.settings.currency)
        prepared.answerer.get_ready()
        journal = stack.enter_context(open_journal(prepared))
        if self.score:  # before anything is paid for
            self._check_folders()
        try:
            outcome = generate(prepared, journal, RunCallbacks(line.print_message, line, line.interval))
        finally:
            line.clear()
        if outcome.ending.reason == "stopped":
            self._print_cost(outcome)
            raise given_up_error(outcome.ending, prepared.answerer)
        return outcome

    def _after(self, prepared: PreparedRun, outcome: GenerationResult) -> int:
        ending = outcome.ending
        if ending.reason == "interrupted":
            self._print_cost(outcome)
            print_stderr("interrupted; everything answered is in the journal. To continue:")
            print_stderr(f"  {resume_command()}")
            return 128 + ending.signal if ending.signal is not None else EXIT_INTERRUPTED
        if ending.reason == "budget":
            print_stderr(f"stopped: {ending.message}")
        if self.score:
            status = exit_status(lambda: self._score_seeds(prepared, outcome))
            self._print_cost(outcome)
            return status
        missing = sum(len(summary.unanswered) for summary in outcome.summaries)
        status = EXIT_PASSED
        if missing and not self.params["allow_missing"]:
            total = sum(summary.documents for summary in outcome.summaries)
            print_stderr(f"{missing} of {total} answers are missing; the same command asks for them again")
            status = EXIT_SYSTEM_ERROR
        return status if self.quiet else print_output(summary_text(self.options, outcome.summary), status)

    def _score_seeds(self, prepared: PreparedRun, outcome: GenerationResult) -> int:
        """Score the answers of each seed; for several, print a summary of all and where each report is."""
        self._discard_seeds()
        evaluations: dict[int | None, Evaluation] = {}
        statuses: list[int] = []
        for summary, entry in zip(outcome.summaries, outcome.summary["seeds"], strict=True):
            statuses.append(self._score_seed(prepared, outcome, summary, evaluations))
            if summary.seed in evaluations:
                entry["bounds"] = evaluations[summary.seed].report["generation"]["bounds"]
        write_summary(prepared, outcome.summary)
        if len(statuses) > 1:
            self._show_seeds(evaluations, statuses)
        return max(statuses)

    def _score_seed(
        self,
        prepared: PreparedRun,
        outcome: GenerationResult,
        summary: results.SeedSummary,
        evaluations: dict[int | None, Evaluation],
    ) -> int:
        """Write the report of one seed; what was evaluated goes into `evaluations`, also where answers are missing."""
        folder, suite = self.options.folder(summary.seed), self.suite
        scored = prepared.scored_task.scored_inputs()
        if not summary.answered:  # --allow-missing decides
            scored[ALLOW_EMPTY.name] = [ALLOW_EMPTY.name]
        progress = ProgressLine(suite.unit, quiet=self.quiet)

        def evaluate(records: IO[bytes] | None, finished: Finished | None) -> Evaluation:
            def evaluate_predictions(predictions: list[Path], records: IO[bytes] | None) -> Evaluation:
                is_first = records is not None  # the other is for the bounds
                return evaluate_suite(
                    suite, {**scored, "predictions": predictions}, self.params["protocol"],
                    workers=self.params["workers"], records=records,
                    progress=progress if is_first else None, finished=finished if is_first else None,
                )  # fmt: skip

            predictions, currency = folder / PREDICTIONS, prepared.settings.currency
            try:
                evaluation = results.score_answers(
                    evaluate_predictions, predictions, outcome.ladder, summary, currency, records
                )
            finally:
                progress.clear()
            evaluations[summary.seed] = evaluation
            if not summary.complete and not self.params["allow_missing"]:
                raise results.missing_error(evaluation, prepared.scored_task, summary, predictions)
            return evaluation

        job = self._job(folder)
        job.inputs.update({name: paths for name, paths in scored.items() if paths})
        return run_job(job._replace(silent=not job.quiet and len(self.options.seeds) > 1), evaluate)

    def _job(self, folder: Path) -> Job:
        return Job(
            self.suite.name,
            self._inputs() | {"predictions": [str(folder / PREDICTIONS)]},
            out=str(folder),
            format=self.params["format"],
            quiet=self.quiet,
            workers=self.params["workers"],
            generating=True,
        )

    def _show_seeds(self, evaluations: dict[int | None, Evaluation], statuses: list[int]) -> None:
        """Write and print a summary of all seeds, if each has a verdict; then print where their reports are."""
        text: str | bytes = ""
        if EXIT_SYSTEM_ERROR not in statuses:
            spreads = summarize_run_folders([str(self.options.folder(seed)) for seed in evaluations])
            seeds = results.summarize_seeds(
                {seed or 0: evaluation for seed, evaluation in evaluations.items()}, spreads
            )
            page = results.describe_seeds(seeds, self.suite.headline)
            results.write_artifact(self.options.out / results.SEED_FILES[1], render_page(page, "markdown").encode())
            results.write_artifact(self.options.out / results.SEED_FILES[0], render_json(seeds))
            format = self.params["format"]
            text = render_json(seeds) if format == "json" else render_page(page, format)
        if not self.quiet:
            print_output(text, EXIT_PASSED)
            print_stderr(self._reports_text(evaluations, statuses))

    def _reports_text(self, evaluations: dict[int | None, Evaluation], statuses: list[int]) -> str:
        lines = ["Reports by seed:"]
        for seed, status in zip(self.options.seeds, statuses, strict=True):
            verdict = "SYSTEM_ERROR" if status == EXIT_SYSTEM_ERROR else evaluations[seed].status
            lines.append(f"  seed {seed}  {verdict}  {self.options.folder(seed)}")
        return "\n".join(lines)

    def _print_cost(self, outcome: GenerationResult) -> None:
        if not self.quiet:
            print_stderr(results.cost_line(outcome.summary))

    def _inputs(self) -> dict[str, list[str]]:
        """Every file that is read, by the name of its option."""
        paths = [each.name for each in self.ability.inputs if each.is_path]
        return {name: as_list(self.params[name]) for name in (*paths, "protocol")}

    def _check_folders(self) -> None:
        """Require folders for reports that this process alone can write to, and no input under a report's name."""
        paths = [path for paths in self._inputs().values() for path in paths]
        for folder in self.options.folders():
            OutFolder(str(folder), paths).close()

    def _discard_seeds(self) -> None:
        for name in results.SEED_FILES:
            results.remove_artifact(self.options.out / name)


LABELS_FILE = "judge.jsonl"  # people have a labels.jsonl
ITEMS_FILE = "items.jsonl"


class JudgeCommand(GenerateCommand):
    """Asks, then reads the labels in the answers."""

    def __init__(self, params: dict[str, Any], *, keep_items: bool) -> None:
        super().__init__(params, "judge")
        self.keep_items = keep_items

    def _generate(self, prepared: PreparedRun, stack: ExitStack) -> GenerationResult:
        for file in (folder / LABELS_FILE for folder in self.options.folders()):
            if file.exists() and not (self.options.out / SUMMARY).exists():
                raise ConfigError(
                    "out.not_ours",
                    "this file was not written by goldgate judge, and would be overwritten",
                    place=Place(str(file)),
                    advice="move it, or choose another folder for --out",
                )
        return super()._generate(prepared, stack)

    def _after(self, prepared: PreparedRun, outcome: GenerationResult) -> int:
        labels = self._write_labels(prepared)
        status = super()._after(prepared, outcome)
        return status if self.quiet else print_output(labels, status)

    def _write_labels(self, prepared: PreparedRun) -> str:
        """Write the labels of each seed, and all items where no file has them; which files, and how many labels."""
        task, lines = cast("JudgingTask", prepared.task), []
        for folder in self.options.folders():
            answers = map(orjson.loads, (folder / PREDICTIONS).read_bytes().splitlines())
            labels = [*task.labels(answers, self.options.model)]
            with results.artifact_file(folder / LABELS_FILE) as stream:
                stream.writelines(orjson.dumps(label) + b"\n" for label in labels)
            without = sum(label["label"] is None for label in labels)
            lines.append(f"{len(labels) - without} of {len(labels)} items have a label in {folder / LABELS_FILE}")
        if self.keep_items:
            with (
                results.artifact_file(self.options.out / ITEMS_FILE) as stream,
                open(self.params["items"], "rb") as items,
            ):
                stream.writelines(items)
        return "\n".join(lines) + "\n"
