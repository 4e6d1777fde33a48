"""The command of each suite (`goldgate NAME`), built from the inputs that the suite declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, get_args

import click

from goldgate.cli.options import (
    BRIEF,
    Decorator,
    MultiValueCommand,
    add_options,
    as_list,
    format_option,
    input_option,
    option,
    out_option,
    protocol_option,
    workers_option,
)
from goldgate.cli.process import ProgressLine, check_brief
from goldgate.cli.runner import Job, exit_with, run_job
from goldgate.core.process import block_signals
from goldgate.engines import EngineName, start_engine
from goldgate.errors import GoldgateError
from goldgate.report import RENDERERS
from goldgate.suites import load_suite
from goldgate.tracking import TRACKERS

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.suite import Input, Suite
    from goldgate.pipeline import Finished


_HELP = """{about}

    \b
    Example:
      {example}

    Exit status: 0 all gates passed or none set, 1 a gate failed, 2 the command failed (SYSTEM_ERROR)."""


_EXAMPLE_WIDTH = 72  # characters, with room for the margin and a backslash


def suite_command(name: str) -> click.Command:
    """The command that judges with this suite."""
    try:
        suite = load_suite(name)
    except GoldgateError as error:  # of another distribution; the help of all commands must not fail with it
        return _broken_command(name, error)
    return click.command(
        name,
        cls=MultiValueCommand,
        help=_HELP.format(about=suite.about, example=_example(suite)),
        short_help=suite.about,
        context_settings={"help_option_names": ["-h", "--help"]},
    )(add_options(*map(input_option, suite.inputs), *_common_options(suite))(_callback(suite)))


def _example(suite: Suite) -> str:
    """An example of the command, in lines that fit a terminal of 80 columns."""
    lines = [f"goldgate {suite.name}"]
    for words in (*filter(None, map(_example_input, suite.inputs)), "--protocol gates.yaml", "--out report"):
        if len(lines[-1]) + len(words) > _EXAMPLE_WIDTH:
            lines.append(f"    {words}")
        else:
            lines[-1] += f" {words}"
    return " \\\n      ".join(lines)


def _example_input(each: Input) -> str:
    if each.example is not None:
        return f"{each.option} {each.example}"
    ending = "/" if each.metavar == "DIR" else ".jsonl" if each.many else ".json"
    return f"{each.option} {each.name}{ending}" if each.required else ""


def _broken_command(name: str, error: GoldgateError) -> click.Command:
    def work() -> str:
        raise error

    @click.pass_context
    def command(context: click.Context, /) -> None:
        exit_with(context, name, work)

    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    return click.command(name, short_help="This suite cannot be loaded.", context_settings=anything)(command)


def _common_options(suite: Suite) -> list[Decorator]:
    gates = "the suite's gates" if suite.default_gates else "no gates"
    beside = "" if not suite.writes_report else " Without it and --out: report.json beside the outputs."
    return [
        protocol_option(f"Settings and gates, as YAML. Without it: {gates}."),
        out_option(f"Write report.html, report.json, report.md, junit.xml, {suite.records} and run.json here."),
        out_option(f"Write the JSON report to this file.{beside}", "FILE", names="--report"),
        workers_option(None, "Processes to score with. Default: 1; on a cluster, one per processor."),
        option(
            "--engine",
            "Score in processes of this machine, or on a Ray cluster (extra `ray`).",
            default="processes",
            type=click.Choice(get_args(EngineName)),
        ),
        option(
            "--ray-address",
            "Head of the Ray cluster. Default: RAY_ADDRESS, else a local Ray for this run.",
            "HOST:PORT",
        ),
        format_option(RENDERERS),
        BRIEF,
        option("--quiet", "Print only failed gates and errors.", is_flag=True),
        option("--track", "Also log the result to this experiment tracker.", type=click.Choice(TRACKERS)),
    ]


def _callback(suite: Suite) -> Any:
    @click.pass_context
    def judge(
        context: click.Context,
        /,
        protocol: str | None,
        out: str | None,
        report: str | None,
        workers: int | None,
        engine: EngineName,
        ray_address: str | None,
        format: str,
        brief: bool,
        quiet: bool,
        track: str | None,
        **options: str | Sequence[str] | None,
    ) -> None:
        check_brief(brief, format, quiet=quiet)
        inputs = {name: as_list(value) for name, value in options.items()}
        if report is None and out is None:
            report = suite.report_file(inputs)
        folders = [path for each in suite.inputs if each.metavar == "DIR" for path in inputs[each.name]]
        job = Job(
            suite.name, {**inputs, "protocol": as_list(protocol)}, folders, suite.records,
            out=out, report=report, format=format, brief=brief, quiet=quiet,
            workers=workers, engine=engine, track=track,
        )  # fmt: skip
        if quiet:
            import logging

            logging.getLogger("goldgate").setLevel(logging.ERROR)
        progress = ProgressLine(suite.unit, quiet=quiet)

        def evaluate(records: IO[bytes] | None, finished: Finished | None) -> Evaluation:
            # Workers take a while to start: they do so while this process imports the rest.
            with start_engine(workers, suite.preload, engine, ray_address) as started:
                with block_signals():  # a module that is half imported is a fault that hides the signal
                    from goldgate.pipeline import evaluate_suite

                written = [path for path in (out, report) if path is not None]
                try:
                    return evaluate_suite(
                        suite, inputs, protocol,
                        engine=started, written=written, records=records, progress=progress, finished=finished,
                    )  # fmt: skip
                finally:
                    progress.clear()

        context.exit(run_job(job, evaluate))

    return judge
