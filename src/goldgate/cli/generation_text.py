"""What the generating commands print beside reports: what would be asked, what was, and how to go on."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from goldgate.generation.options import GenerationOptions
    from goldgate.generation.run import DryRun, Prepared


def resume_command() -> str:
    """This process's own command line, as a shell takes it. It never has a key in it, nor the query of an address."""
    from goldgate.generation.secret import shown_arguments

    program = Path(sys.argv[0])
    start = ["python", sys.argv[0]] if program.suffix == ".py" else [program.name]
    if program.name == "__main__.py":
        start = ["python", "-m", "goldgate"]
    return shlex.join([*start, *shown_arguments(sys.argv[1:])])


def stopped_line(stopped: dict[str, Any]) -> str:
    """After how many documents every gate was decided, and what that saved."""
    saved = stopped["saved"]
    tokens = saved["tokens"]["input"] + saved["tokens"]["output"]
    money = "" if saved["cost"] is None else f", {saved['cost']} in money"
    return (
        f"every gate was decided after {stopped['decided_after']:,} of {stopped['documents']:,} documents; "
        f"{saved['documents']:,} were not asked, which saved about {tokens:,} tokens{money}"
    )


def dry_run_text(prepared: Prepared, planned: DryRun) -> str:
    """The first prompt, the number of requests, and what they cost at most."""
    from goldgate.generation.artifacts import format_money
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
        lines.append(f"cost           at most about {format_money(planned.cost)} {prepared.settings.currency}")
    else:
        lines.append(f"cost           unknown: the protocol has no price for {visible(prepared.options.model)}")
    lines.append("Nothing was asked and nothing was written.")
    return "\n".join(lines) + "\n"


def summary_text(options: GenerationOptions, summary: dict[str, Any]) -> str:
    """Where the predictions are, what is missing, and on the last line what all of it came to."""
    from goldgate.generation.artifacts import cost_line
    from goldgate.generation.run import PREDICTIONS

    lines = []
    for entry in summary["seeds"]:
        lines.append(str(options.folder(entry["seed"]) / PREDICTIONS))
        lines += [f"  missing: {cause} {count}" for cause, count in entry["missing"].items()]
    if options.shard is not None:
        lines.append(f"shard {options.shard} of {options.whole}; when all are asked, the same command with --merge")
        lines.append("instead of --shard makes one result of them")
    return "\n".join([*lines, cost_line(summary)]) + "\n"
