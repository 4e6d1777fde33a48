"""`goldgate read`: how a response is parsed, and each repair with its place."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.options import ability_options, choose_ability, format_option, option, protocol_option
from goldgate.cli.process import print_output, result_or_error, show_error
from goldgate.cli.runner import Job, print_failure
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, ConfigError, GoldgateError, InputError
from goldgate.files.address import STANDARD_INPUT

if TYPE_CHECKING:
    from goldgate.report.answers_text import AnswerReader

RECORD_SUFFIXES = (".jsonl", ".json", ".gz", ".csv", ".tsv", ".parquet", ".eval")
_NOT_RECORDS = tuple(f"predictions.{what}" for what in ("not_json", "not_an_object", "bad_id", "no_answer"))
_BATCH_SIZE = 200  # answers that are printed together


@click.command("read", short_help="Show how a model's responses are parsed and repaired.")
@click.argument("file", default=STANDARD_INPUT, metavar="[FILE]")
@option("--id ids", "Show only the record with this id, in full. Repeatable.", "ID", multiple=True)
@option(
    "--as kind",
    "Content of the file: one response, or prediction records. Default: by its name.",
    type=click.Choice(["text", "records"]),
)
@option("--id-field", "Dotted path to a record's id, such as meta.doc_id.", "FIELD")
@option("--response-field", "Dotted path to what the model wrote, such as messages.-1.content.", "FIELD")
@protocol_option("Settings, as YAML: thought tags and the format of answers.")
@ability_options("read")
@format_option()
@click.pass_context
def read_command(
    context: click.Context,
    /,
    file: str,
    ids: tuple[str, ...],
    kind: str | None,
    id_field: str | None,
    response_field: str | None,
    protocol: str | None,
    suite: str | None,
    format: str,
    **options: Any,
) -> None:
    """Show how responses are parsed: the events, and every repair with its place.

    \b
    Examples:
      goldgate read answer.txt
      goldgate read predictions.jsonl --id doc-17

    FILE is one response, or - for standard input. A file that ends in .jsonl, .json, .csv, .tsv, .parquet, .eval or
    .gz holds prediction records, {"id", "response"} each: a few lines for each, and a summary.

    Exit status: 0 all were read, 1 some could not be read, 2 the command failed.
    """
    many = kind == "records" if kind is not None else file.lower().endswith(RECORD_SUFFIXES)

    def work() -> int:
        from goldgate.suites.plan import load_plan

        able = choose_ability("read", suite, options, path=file if many else None)
        reader: AnswerReader = able.ability.load()(load_plan(able.suite, protocol), options)
        answers = _answers(reader, file, ids, (id_field, response_field), many=many)
        return _read_all(reader, answers, format, many=many, full=bool(ids) or not many)

    outcome = result_or_error(work)
    if not isinstance(outcome, GoldgateError):
        context.exit(outcome)
    if many and kind is None and outcome.code in _NOT_RECORDS:
        outcome.advice = outcome.advice or "if the file is one response, add --as text"
    if not (many and format == "json"):
        context.exit(print_failure(Job("read", {}, format=format, annotate=False), outcome))
    show_error(outcome)
    _print_error_line(outcome)
    context.exit(outcome.exit_status)


def _answers(
    reader: AnswerReader, file: str, ids: Sequence[str], fields: tuple[str | None, str | None], *, many: bool
) -> Iterator[Any]:
    from goldgate.files.reading import read_stream, read_text_file

    if many:
        yield from reader.records(file, ids, *fields)
        return
    if ids or any(fields):
        raise ConfigError(
            "option.wrong_value",
            "--id, --id-field and --response-field are for records, and this is one response",
            expected="a file of prediction records",
            found=file,
            advice="if it holds records, add --as records",
        )
    if file != STANDARD_INPUT:
        yield reader.response(read_text_file(file, "response").text)
        return
    if sys.stdin is None:  # closed by the caller
        raise InputError(
            "response.unreadable", "standard input is closed", expected="a response, or the name of a file"
        )
    if sys.stdin.isatty():
        click.echo("reading a response from the terminal, up to Ctrl-D", err=True)
    yield reader.response(read_stream(sys.stdin.buffer, "standard input", "response").text)


def _read_all(reader: AnswerReader, answers: Iterator[Any], format: str, *, many: bool, full: bool) -> int:
    """Read and print the answers one after the other; the result is the exit status."""
    waiting: list[str] = []
    status = EXIT_PASSED
    try:
        for answer in answers:
            in_json = format == "json"
            waiting.append(reader.as_json(answer, on_one_line=many) if in_json else reader.show(answer, full=full))
            if len(waiting) >= _BATCH_SIZE:
                status = max(status, _print_waiting(waiting, format))
    finally:
        status = max(status, _print_waiting(waiting, format))  # what was read before an error is shown
    if format == "text" and many and reader.answers != 1:
        status = max(status, print_output(reader.summary(), EXIT_PASSED))
    return max(status, EXIT_GATE_FAILED if reader.unread else EXIT_PASSED)


def _print_waiting(waiting: list[str], format: str) -> int:
    text = "".join(waiting)
    waiting.clear()
    return print_output(text.encode() if format == "json" else text, EXIT_PASSED) if text else EXIT_PASSED


def _print_error_line(error: GoldgateError) -> None:
    """Print the error as JSON on one line, below the answers that were read before it."""
    import orjson

    from goldgate.core.evaluation import error_report

    line = orjson.dumps(error_report("read", error), option=orjson.OPT_APPEND_NEWLINE)
    print_output(line, error.exit_status)
