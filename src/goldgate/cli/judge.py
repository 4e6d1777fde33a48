"""`goldgate judge`: ask a model for a label of every item, with the journal, the limits and the costs of `generate`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, cast

import click

from goldgate.cli.generate import GenerateCommand
from goldgate.cli.generation_options import CHECKPOINT_OPTIONS, COMMON_OPTIONS, ENDPOINT_OPTIONS
from goldgate.cli.options import MultiValueCommand, ability_options, add_options
from goldgate.cli.process import print_output, result_or_error, show_error
from goldgate.cli.sample import ITEMS_FILE, RESULT_OPTIONS, open_item_file
from goldgate.errors import ConfigError, GoldgateError, Place

if TYPE_CHECKING:
    from goldgate.core.task import JudgingTask
    from goldgate.generation.run import GenerationResult, PreparedRun

LABELS_FILE = "judge.jsonl"  # people have a labels.jsonl


@click.command("judge", cls=MultiValueCommand, short_help="Ask a model to label every item, as a judge.")
@click.option("--from", "source", metavar="DIR", help="A result folder whose items are judged, in place of --items.")
@add_options(*RESULT_OPTIONS, ability_options("judge"), *COMMON_OPTIONS, *ENDPOINT_OPTIONS, *CHECKPOINT_OPTIONS)
@click.pass_context
def judge_command(
    context: click.Context, /, source: str | None, what: str | None, root: str | None, **options: Any
) -> None:
    """Ask a model to label every item, and keep every answer.

    \b
    Example, with a local vLLM:
      goldgate judge --items items.jsonl --template claim_support \\
          --model NAME --base-url http://127.0.0.1:8000/v1 --out judged

    Writes judge.jsonl (labels for goldgate judged), predictions.jsonl (the answers), journal.jsonl and generation.json
    to --out, and items.jsonl with --from. An answer without a label is null, never false. Run the same command again
    to ask for missing answers.

    Exit status: 0 every item is answered, 2 some are not, or the command failed.
    """
    if (source is None) == (options["items"] is None):
        raise click.UsageError("Give either --items FILE or --from DIR.")

    def work() -> int:
        with ExitStack() as stack:
            if source is not None or what is not None or root is not None:
                path = source or options["items"]
                options["items"] = stack.enter_context(open_item_file(path, what, root))
            return _JudgeCommand(options, keep_items=source is not None).carry_out(score=False)

    status = result_or_error(work)
    if isinstance(status, GoldgateError):
        show_error(status)
        context.exit(status.exit_status)
    context.exit(status)


class _JudgeCommand(GenerateCommand):
    """Asks, then reads the labels in the answers."""

    def __init__(self, params: dict[str, Any], *, keep_items: bool) -> None:
        super().__init__(params, "judge")
        self.keep_items = keep_items

    def _generate(self, prepared: PreparedRun, held: ExitStack, *, score: bool) -> GenerationResult:
        from goldgate.generation.run import SUMMARY

        for file in (folder / LABELS_FILE for folder in self.options.folders()):
            if file.exists() and not (self.options.whole / SUMMARY).exists():
                raise ConfigError(
                    "out.not_ours",
                    "this file was not written by goldgate judge, and would be overwritten",
                    place=Place(str(file)),
                    advice="move it, or choose another folder for --out",
                )
        return super()._generate(prepared, held, score=score)

    def _after(self, prepared: PreparedRun, outcome: GenerationResult, *, score: bool) -> int:
        if self.options.shard is not None:
            return super()._after(prepared, outcome, score=score)
        written = result_or_error(lambda: self._write_labels(prepared))
        if isinstance(written, GoldgateError):
            return self._fail(written)
        status = super()._after(prepared, outcome, score=score)
        return status if self.quiet else print_output(written, status)

    def _write_labels(self, prepared: PreparedRun) -> str:
        """Write the labels of each seed, and all items where no file has them; which files, and how many labels."""
        import orjson

        from goldgate.generation.artifacts import artifact_file
        from goldgate.generation.run import PREDICTIONS

        task, lines = cast("JudgingTask", prepared.task), []
        for folder in self.options.folders():
            answers = map(orjson.loads, (folder / PREDICTIONS).read_bytes().splitlines())
            labels = [*task.labels(answers, self.options.model)]
            with artifact_file(folder / LABELS_FILE) as stream:
                stream.writelines(orjson.dumps(label) + b"\n" for label in labels)
            without = sum(label["label"] is None for label in labels)
            lines.append(f"{len(labels) - without} of {len(labels)} items have a label in {folder / LABELS_FILE}")
        if self.keep_items:
            with artifact_file(self.options.out / ITEMS_FILE) as stream, open(self.params["items"], "rb") as items:
                stream.writelines(items)
        return "\n".join(lines) + "\n"
