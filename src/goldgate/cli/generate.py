"""`goldgate generate`: ask a model about every gold document, keep every answer; `evaluate_api.py` scores them too."""

from __future__ import annotations

import dataclasses
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack, redirect_stderr, suppress
from io import StringIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from goldgate.cli.generation_options import (
    CHECKPOINT,
    COMMON,
    ENDPOINT,
    SCORING,
    check_text,
    default_folder,
    options,
    parse_money,
    parse_parameters,
    parse_seeds,
)
from goldgate.cli.many_values import ManyValues
from goldgate.cli.out_folder import REPORT_JSON, OutFolder
from goldgate.cli.progress import ProgressLine
from goldgate.cli.run import Job, carry_out, guarded, say, show_error
from goldgate.cli.start import EXIT_INTERRUPTED
from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR, GoldgateError

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.generation.artifacts import SeedSummary
    from goldgate.generation.journal import Journal
    from goldgate.generation.run import DryRun, Outcome, Prepared, Wanted

PREDICTIONS = "predictions.jsonl"
SEEDS = ("seeds.json", "seeds.md")
# No file of a run whose command line may hold a key (run.json keeps it), or whose folder belongs to somebody else.
NO_REPORT = ("key.", "base_url.", "journal.locked", "journal.not_a_journal", "out.not_ours", "out.in_use")


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
@options(COMMON, ENDPOINT, SCORING)
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

    def carry_out(self, *, score: bool) -> int:
        """Prepare, ask, score; the result is the exit status."""
        wanted = self._wanted()
        prepared = guarded(lambda: _prepare(wanted))
        if isinstance(prepared, GoldgateError):
            reported = score and not _in_use(wanted)
            return self._report_error(wanted, prepared) if reported else self._fail(prepared)
        with ExitStack() as held:  # the folder is ours until the last file is written
            held.callback(prepared.documents.close)
            if self.given["dry_run"]:
                return self._dry_run(prepared)
            outcome = guarded(lambda: self._generate(prepared, held, score=score))
            if isinstance(outcome, GoldgateError):
                return self._report_error(wanted, outcome) if score else self._fail(outcome)
            return self._after(prepared, outcome, score=score)

    def _wanted(self) -> Wanted:
        from goldgate.generation.ask import Limits
        from goldgate.generation.run import Wanted

        given = self.given
        checkpoint, base_url, model = (given.get(name) for name in ("checkpoint", "base_url", "model"))
        if (checkpoint is None) == (base_url is None):
            names = "--base-url (with --model) or --checkpoint" if "checkpoint" in given else "--base-url and --model"
            raise click.UsageError(f"name who is to answer: {names}")
        if base_url is not None and not model:
            raise click.UsageError("--base-url needs --model")
        model = check_text(model or Path(str(checkpoint)).resolve().name, "--model")
        limits = Limits()
        if base_url is not None:
            limits = Limits(given["concurrency"], given["rpm"], given["tpm"], given["attempts"])
        return Wanted(
            gold=given["gold"],
            schema=given["schema"],
            out=Path(given["out"]) if given["out"] else default_folder(model),
            model=model,
            base_url=base_url,
            checkpoint=checkpoint,
            protocol=given["protocol"],
            prompt=given["prompt"],
            train=given["train"],
            few_shot=given["few_shot"],
            seeds=parse_seeds(given["seeds"]),
            parameters=parse_parameters(given["temperature"], given["max_tokens"], given.get("param", ())),
            response_format=given.get("response_format", "auto"),
            limits=limits,
            timeout=given.get("timeout", 0.0),
            max_cost=parse_money(given["max_cost"]),
            max_total_tokens=given["max_total_tokens"],
            batch_size=given.get("batch_size", 1),
            device=given.get("device"),
        )

    def _generate(self, prepared: Prepared, held: ExitStack, *, score: bool) -> Outcome:
        from goldgate.cli.watch import WatchLine
        from goldgate.generation.run import Listener, generate, open_journal, stopped_error
        from goldgate.generation.secret import read_secret, shown_address

        secret = read_secret(self.given.get("api_key_env"))
        journal: Journal = held.enter_context(open_journal(prepared))
        if score:  # before anything is paid for
            _check_folders(prepared.wanted)
        line = WatchLine(quiet=self.quiet, currency=prepared.settings.currency)
        try:
            outcome = generate(prepared, journal, secret, Listener(line.say, line, line.every))
        finally:
            line.clear()
        if outcome.ended.reason == "stopped":
            raise stopped_error(outcome.ended, secret, shown_address(str(prepared.wanted.base_url)))
        return outcome

    def _after(self, prepared: Prepared, outcome: Outcome, *, score: bool) -> int:
        if outcome.ended.reason == "interrupted":
            if score and any((folder / REPORT_JSON).exists() for folder in prepared.wanted.folders()):
                say_error("the report that is there is an earlier run's")
            say_error("interrupted; everything answered is in the journal. To go on:")
            say_error(f"  {resume_command()}")
            return 128 + outcome.ended.signal if outcome.ended.signal is not None else EXIT_INTERRUPTED
        if outcome.ended.reason == "budget":
            say_error(f"stopped: {outcome.ended.message}")
        if score:
            return self._score(prepared, outcome)
        if not self.quiet:
            say(_summary_text(prepared, outcome), EXIT_PASSED)
        missing = sum(summary.documents - summary.answered for summary in outcome.summaries)
        if missing and not self.given["allow_missing"]:
            total = sum(summary.documents for summary in outcome.summaries)
            say_error(f"{missing} of {total} answers are missing; the same command asks for them again")
            return EXIT_SYSTEM_ERROR
        return EXIT_PASSED

    def _score(self, prepared: Prepared, outcome: Outcome) -> int:
        """A report for each seed, then the summary of all."""
        from goldgate.generation.run import write_summary

        problem = guarded(lambda: _discard_seeds(prepared.wanted))
        if isinstance(problem, GoldgateError):
            return self._fail(problem)
        evaluations: dict[int, Evaluation] = {}
        statuses = []
        for number, summary in enumerate(outcome.summaries):
            keep: list[Evaluation] = []
            statuses.append(self._score_seed(prepared, outcome, summary, keep.append))
            if keep:
                outcome.summary["seeds"][number]["bounds"] = keep[0].report["generation"]["bounds"]
                evaluations[summary.seed or 0] = keep[0]
        problem = guarded(lambda: write_summary(prepared, outcome.summary))
        if isinstance(problem, GoldgateError):
            return self._fail(problem)
        if len(outcome.summaries) > 1 and len(evaluations) == len(outcome.summaries):
            problem = guarded(lambda: self._write_seeds(prepared, evaluations))
            if isinstance(problem, GoldgateError):
                return self._fail(problem)
        return max(statuses)

    def _score_seed(
        self, prepared: Prepared, outcome: Outcome, summary: SeedSummary, keep: Callable[[Evaluation], None]
    ) -> int:
        from goldgate.generation.score import Sources, missing_error, score

        wanted = prepared.wanted
        folder = wanted.folder(summary.seed)
        predictions = folder / PREDICTIONS
        sources = Sources(wanted.gold, predictions, wanted.schema, wanted.protocol, self.given["workers"])
        progress = ProgressLine("sample", quiet=self.quiet)

        def evaluate(records: IO[bytes] | None) -> Evaluation:
            try:
                evaluation = score(sources, outcome.ended.ladder, summary, records, progress)
            finally:
                progress.clear()
            keep(evaluation)
            if not summary.complete and not self.given["allow_missing"]:
                raise missing_error(evaluation, summary, predictions)
            return evaluation

        return carry_out(self._job(wanted, folder), evaluate)

    def _job(self, wanted: Wanted, folder: Path) -> Job:
        inputs = _inputs(wanted) | {"predictions": [str(folder / PREDICTIONS)]}
        return Job(
            "extraction",
            inputs,
            out=str(folder),
            format=self.given["format"],
            quiet=self.quiet,
            workers=self.given["workers"],
            generating=True,
        )

    def _report_error(self, wanted: Wanted, error: GoldgateError) -> int:
        """The report of a run that could not be carried out, for every seed; shown once."""
        if self.given["dry_run"] or error.code.startswith(NO_REPORT):
            return self._fail(error)

        def fail(_: IO[bytes] | None) -> Evaluation:
            raise error

        guarded(lambda: _discard_seeds(wanted))  # what they sum up is about to be replaced
        *others, last = wanted.folders()
        for folder in others:
            with redirect_stderr(StringIO()):
                carry_out(dataclasses.replace(self._job(wanted, folder), quiet=True), fail)
        return carry_out(self._job(wanted, last), fail)

    def _write_seeds(self, prepared: Prepared, evaluations: dict[int, Evaluation]) -> None:
        from goldgate.core.evaluation import render_json
        from goldgate.generation.files import write_whole
        from goldgate.generation.repeats import summarize
        from goldgate.report.generation import seeds_markdown, seeds_text

        seeds = summarize(evaluations)
        write_whole(prepared.wanted.out / SEEDS[0], render_json(seeds))
        write_whole(prepared.wanted.out / SEEDS[1], seeds_markdown(seeds).encode())
        if not self.quiet and self.given["format"] != "json":
            shown = seeds_text(seeds) if self.given["format"] == "text" else seeds_markdown(seeds)
            say("\n" + shown, EXIT_PASSED)

    def _dry_run(self, prepared: Prepared) -> int:
        from goldgate.generation.run import dry_run

        planned = guarded(lambda: dry_run(prepared))
        if isinstance(planned, GoldgateError):
            return self._fail(planned)
        return say(_dry_run_text(prepared, planned), EXIT_PASSED)

    def _fail(self, error: GoldgateError) -> int:
        show_error(error)
        return error.exit_status


def say_error(text: str) -> None:
    """A line on stderr, if anybody is there: after a hang-up the terminal is gone."""
    with suppress(OSError):
        click.echo(text, err=True)


def resume_command() -> str:
    """This process's own command line, as a shell takes it. It never has a key in it, nor the query of an address."""
    from goldgate.generation.secret import shown_arguments

    program = Path(sys.argv[0])
    start = ["python", sys.argv[0]] if program.suffix == ".py" else [program.name]
    if program.name == "__main__.py":
        start = ["python", "-m", "goldgate"]
    return shlex.join([*start, *shown_arguments(sys.argv[1:])])


def _in_use(wanted: Wanted) -> bool:
    """Whether another process is asking or scoring in this folder."""
    from goldgate.generation.journal import in_use
    from goldgate.generation.run import JOURNAL

    return in_use(wanted.out / JOURNAL)


def _inputs(wanted: Wanted) -> dict[str, list[str]]:
    named = {"schema": wanted.schema, "protocol": wanted.protocol, "train": wanted.train}
    return {"gold": list(wanted.gold)} | {kind: [path] if path is not None else [] for kind, path in named.items()}


def _check_folders(wanted: Wanted) -> None:
    """The folders for the reports can be written to, nobody else does, and no input lies under a report's name."""
    paths = [path for paths in _inputs(wanted).values() for path in paths]
    for folder in wanted.folders():
        OutFolder(str(folder), paths).close()


def _discard_seeds(wanted: Wanted) -> None:
    from goldgate.generation.files import remove_file

    for name in SEEDS:
        remove_file(wanted.out / name)


def _prepare(wanted: Wanted) -> Prepared:
    from goldgate.generation.run import prepare

    return prepare(wanted)


def _dry_run_text(prepared: Prepared, planned: DryRun) -> str:
    from goldgate.generation.artifacts import shown_money
    from goldgate.report.escape import visible

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
        lines.append(f"cost           at most about {shown_money(planned.cost)} {prepared.settings.currency}")
    else:
        lines.append(f"cost           unknown: the protocol has no price for {visible(prepared.wanted.model)}")
    lines.append("Nothing was asked and nothing was written.")
    return "\n".join(lines) + "\n"


def _summary_text(prepared: Prepared, outcome: Outcome) -> str:
    lines = []
    for entry in outcome.summary["seeds"]:
        coverage, tokens = entry["coverage"], entry["tokens"]
        seed = "" if entry["seed"] is None else f"seed {entry['seed']}: "
        line = f"{seed}{coverage['numerator']:,} of {coverage['denominator']:,} answered, "
        line += f"{tokens['input']:,} + {tokens['output']:,} tokens"
        if tokens["reasoning"]:
            line += f" ({tokens['reasoning']:,} of them reasoning)"
        if entry["cost"] is not None:
            line += f", {entry['cost']} {outcome.summary['currency']}"
        lines.append(line)
        lines += [f"  missing: {cause} {count}" for cause, count in entry["missing"].items()]
        lines.append(f"  {prepared.wanted.folder(entry['seed']) / PREDICTIONS}")
    return "\n".join(lines) + "\n"
