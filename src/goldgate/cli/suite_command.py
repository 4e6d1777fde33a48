"""The command of each suite (`goldgate extraction`, …), built from the inputs that the suite declares."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING, Any, get_args

import click

from goldgate.cli.options import MultiValueCommand
from goldgate.cli.printing import BRIEF_HELP, ProgressLine, check_brief
from goldgate.cli.runner import Job, run_job
from goldgate.core.process import block_signals
from goldgate.engines import EngineName, start_engine
from goldgate.report import RENDERERS
from goldgate.suites import load_suite

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.suite import Input, Suite
    from goldgate.pipeline import Finished


_HELP = """{about}

    Exit status: 0 all gates passed, 1 a gate failed, 2 it could not be carried out (SYSTEM_ERROR)."""


def suite_command(name: str) -> click.Command:
    """The command that judges with this suite."""
    suite = load_suite(name)
    return MultiValueCommand(
        name,
        params=[*map(_option, suite.inputs), *_common_options(suite)],
        callback=_callback(suite),
        help=_HELP.format(about=suite.about),
        short_help=suite.about,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def _option(given: Input) -> click.Option:
    return click.Option(
        [given.option],
        required=given.required,
        multiple=given.many,
        metavar=given.metavar + ("..." if given.many else ""),
        help=given.help,
    )


def _common_options(suite: Suite) -> list[click.Option]:
    gates = "the suite's gates" if suite.default_gates else "no gates"
    beside = "" if not suite.writes_report else " Without it and --out: beside what is judged."
    return [
        click.Option(["--protocol"], metavar="FILE", help=f"Settings and gates, as YAML. Without it: {gates}."),
        click.Option(
            ["--out"],
            metavar="DIR",
            help=f"Write report.html, report.json, report.md, junit.xml, {suite.records} and run.json here.",
        ),
        click.Option(["--report"], metavar="FILE", help=f"Write the JSON report to this file.{beside}"),
        click.Option(
            ["--workers"],
            type=click.IntRange(min=1),
            help="Processes to score with; without it 1, and on a cluster as many as it has processors.",
        ),
        click.Option(
            ["--engine"],
            type=click.Choice(get_args(EngineName)),
            default="processes",
            show_default=True,
            help="What scores: processes of this machine, or a Ray cluster (the extra `ray`).",
        ),
        click.Option(
            ["--ray-address"],
            metavar="HOST:PORT",
            help="The head of the Ray cluster. Without it RAY_ADDRESS, else a Ray on this machine for this run.",
        ),
        click.Option(
            ["--format"],
            type=click.Choice(list(RENDERERS)),
            default="text",
            show_default=True,
            help="Of the printed report.",
        ),
        click.Option(["--brief"], is_flag=True, help=BRIEF_HELP),
        click.Option(["--quiet"], is_flag=True, help="Print failed gates and errors, nothing else."),
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
        **given: str | Sequence[str] | None,
    ) -> None:
        check_brief(brief, format, quiet=quiet)
        inputs = {name: _as_list(value) for name, value in given.items()}
        if report is None and out is None:
            report = suite.report_file(inputs)
        job = Job(
            suite=suite.name,
            inputs={**inputs, "protocol": _as_list(protocol)},
            folders=[path for each in suite.inputs if each.metavar == "DIR" for path in inputs[each.name]],
            records=suite.records,
            out=out,
            report=report,
            format=format,
            brief=brief,
            quiet=quiet,
            workers=workers,
            engine=engine,
        )
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


def _as_list(value: str | Sequence[str] | None) -> list[str]:
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)
