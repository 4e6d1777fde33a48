"""`goldgate sample` and `goldgate judge`: draw items for people to label, and ask a model for a label of every item.

Items are a file, or are made from a stored result.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from tempfile import NamedTemporaryFile
from typing import IO, TYPE_CHECKING, Any

import click

from goldgate.cli.generate import CHECKPOINT_OPTIONS, COMMON_OPTIONS, ENDPOINT_OPTIONS
from goldgate.cli.options import (
    MultiValueCommand,
    ability_options,
    add_options,
    choose_ability,
    input_paths,
    option,
    out_option,
)
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.process import exit_status
from goldgate.cli.runner import command
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.writing import write_parts
from goldgate.suites import all_suites

if TYPE_CHECKING:
    from goldgate.core.suite import Ability
    from goldgate.readers.stored_result import StoredResult

RESULT_OPTIONS = (
    option("--what", "Which items of a result: claims, boundary, wrong.", "KIND"),
    option("--root", "Folder that the paths of the result's inputs start from now.", "DIR"),
)


@command(
    "sample",
    "Draw items at random for people to label.",
    option("--from source", "A file of items, or a result folder.", "ITEMS|DIR", required=True),
    ability_options("sample"),
    add_options(*RESULT_OPTIONS),
    out_option("Also write all items of a result here, for judged --items.", "FILE", names="--items items_out"),
    out_option("File to write the drawn items to.", "FILE", required=True),
    cls=MultiValueCommand,
)
def sample_command(
    source: str, what: str | None, root: str | None, items_out: str | None, out: str, suite: str | None, **options: Any
) -> str:
    """Draw items at random for people to label, and write how they were drawn.

    \b
    Example:
      goldgate sample --from items.jsonl --n 100 --out drawn.jsonl

    The same items give the same draw on every machine, so that anybody can check it. If there are fewer than --n
    items, all are drawn.

    Exit status: 0 written, 2 the command failed.
    """
    from goldgate.report.escape import visible

    ability = choose_ability("sample", suite, options).ability
    for file in filter(None, (out, items_out)):
        check_not_input((source, *input_paths(ability, options)), file)
    if items_out is not None and not os.path.isdir(source):
        raise ConfigError("items.not_a_result", "--items is for a result folder: these items are a file already")
    with open_item_file(source, what, root) as path:
        lines, summary = ability.load()(path, options)
        if items_out is not None:
            with open(path, "rb") as stream:
                write_parts(items_out, stream, "--items")
    write_parts(out, lines, "--out")
    return f"{visible(summary)} in {out}\nnext: goldgate label {shlex.quote(out)} --out labels.jsonl\n"


@contextmanager
def open_item_file(source: str, what: str | None, root: str | None) -> Iterator[str]:
    """The path of a file of items. Those of a result folder are made now, and the file is gone at the end."""
    if not os.path.isdir(source):
        if what is not None or root is not None:
            name = "--what" if what is not None else "--root"
            raise ConfigError("items.not_a_result", f"{name} is for a result folder", place=Place(source))
        yield source
        return
    with NamedTemporaryFile(prefix="goldgate-items-", suffix=".jsonl") as stream:
        write_result_items(source, what, root, stream)
        stream.flush()
        yield stream.name


def write_result_items(folder: str, what: str | None, root: str | None, stream: IO[bytes]) -> None:
    """Write the items of a stored result, in the order of its records; an InputError if its inputs are gone."""
    import orjson

    from goldgate.readers.records import STORED_RECORDS, bounded_lines
    from goldgate.readers.stored_result import load_result
    from goldgate.readers.unit_records import malformed_record_error
    from goldgate.verification.inputs import open_result_inputs

    result = load_result(folder, all_suites())
    result.require_records()
    ability = _choose_items(result, what)
    make_items = ability.load()
    count = 0
    with open_result_inputs(result, root=root) as (lookup, notes), open(result.records, "rb") as records:
        if notes:
            raise InputError(
                "items.no_inputs",
                "the inputs of this result are gone or have changed: its items cannot be made",
                place=Place(folder),
                found="; ".join(notes),
                advice="put them back, give --root DIR if everything was moved, or score again with --out",
            )
        for number, line in enumerate(bounded_lines(records, "records", result.records_name, STORED_RECORDS), 1):
            try:
                record = orjson.loads(line)
                items = make_items(record, lookup.for_unit(record), {})
                lines = [orjson.dumps(item) + b"\n" for item in items]
            except (ValueError, LookupError, TypeError) as problem:
                raise malformed_record_error(result, number, problem) from None
            stream.writelines(lines)
            count += len(lines)
    if not count:
        raise InputError(
            "items.none",
            "nothing in this result can be labelled",
            place=Place(folder),
            found=f"no items of the kind {ability.kind}",
            advice="if there should be some, see whether its answers were read: open report.html",
        )


def _choose_items(result: StoredResult, what: str | None) -> Ability:
    """The ability of a result's suite to make items of the kind `what`, or of its first kind."""
    abilities = [ability for ability in result.suite.abilities if ability.command == "items"]
    kinds = [ability.kind for ability in abilities]
    for ability in abilities:
        if what in (None, ability.kind):
            return ability
    raise ConfigError(
        "items.unknown_kind",
        f"a result of the {result.suite.name} suite has no such items",
        place=Place(result.label),
        expected=f"--what {' or '.join(kinds)}" if kinds else "a result of a suite that has items",
        found=what,
    )


@click.command("judge", cls=MultiValueCommand, short_help="Ask a model to label every item, as a judge.")
@option("--from source", "A result folder whose items are judged, in place of --items.", "DIR")
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
        from goldgate.cli.generation_command import JudgeCommand

        with ExitStack() as stack:
            if source is not None or what is not None or root is not None:
                path = source or options["items"]
                options["items"] = stack.enter_context(open_item_file(path, what, root))
            return JudgeCommand(options, keep_items=source is not None).run()

    context.exit(exit_status(work))
