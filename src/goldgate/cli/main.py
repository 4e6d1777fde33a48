"""The `goldgate` command: its subcommands, imported when needed, and shell completion of paths."""

from __future__ import annotations

import os
import re
import sys
from importlib import import_module

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

from goldgate import __version__
from goldgate.cli.process import start
from goldgate.errors import did_you_mean
from goldgate.suites import suite_names

COMPLETION_VARIABLE = "_GOLDGATE_COMPLETE"  # click's name for it; set while a shell asks
_FOLDERS, _FILES = ("DIR", "FOLDER"), ("FILE", "PATH", "SYSTEM", "GOLD", "IN")  # placeholders of paths
_PATH_KINDS = dict.fromkeys(_FOLDERS, "dir") | dict.fromkeys(_FILES, "file")


class PathText(StringParamType):
    """Text that names a path: the shell completes it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self.kind)]


def complete_paths(command: click.Command) -> click.Command:
    """The command, with parameters whose placeholder names a path completed as such."""
    for parameter in command.params:
        kinds = [_PATH_KINDS[word] for word in re.findall("[A-Z]+", parameter.metavar or "") if word in _PATH_KINDS]
        if kinds and isinstance(parameter.type, StringParamType):
            parameter.type = PathText(kinds[-1])
    return command


# Groups of the help: command → its module in this folder, where `import-runs` is `import_runs_command`. The commands of
# the suites are made from what each suite declares; they come first, under "Judge".
COMMAND_GROUPS = {
    "Judge": {"demo": "demo"},
    "Compare": {"compare": "compare", "trend": "stored_results", "power": "stored_results"},
    "Look": {"view": "view", "plot": "stored_results", "read": "read"},
    "Prepare": {
        **dict.fromkeys(("check", "schema", "convert", "import-runs"), "prepare"),
        "sample": "judge",
        "label": "view",
    },
    "Ask": {"generate": "generate", "judge": "judge"},
    "Automate": {"baseline": "stored_results", "verify": "stored_results", "contracts": "prepare"},
}
COMMANDS = {name: module for commands in COMMAND_GROUPS.values() for name, module in commands.items()}


class _LazyGroup(click.Group):
    """Imports the module of a command only when that command is asked for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(dict.fromkeys([*suite_names(), *COMMANDS]))

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands in groups."""
        commands = {name: self._command(name) for name in self.list_commands(context)}
        widest = max(map(len, commands))
        rows = {
            name: (name.ljust(widest), command.get_short_help_str(formatter.width - widest - 6))
            for name, command in commands.items()
            if command is not None
        }
        suites = [name for name in rows if name not in COMMANDS]
        for group, names in COMMAND_GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([rows[name] for name in (*(suites if group == "Judge" else ()), *names)])

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        command = self._command(name)
        return complete_paths(command) if command is not None and COMPLETION_VARIABLE in os.environ else command

    def _command(self, name: str) -> click.Command | None:
        module = COMMANDS.get(name)
        if module is None:
            from goldgate.cli.suite_command import suite_command

            return suite_command(name) if name in suite_names() else None
        command = getattr(import_module(f"goldgate.cli.{module}"), f"{name.replace('-', '_')}_command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        if not name.startswith("-") and self.get_command(context, name) is None:
            guess = did_you_mean(name, self.list_commands(context)) or "Run goldgate --help for the list."
            context.fail(f"No such command '{name}'. {guess.replace('did', 'Did', 1)}")
        return super().resolve_command(context, arguments)


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", message="goldgate %(version)s")
def goldgate() -> None:
    """Score stored LLM output against gold and give CI a pass/fail verdict.

    \b
    goldgate demo             try it on example data
    goldgate COMMAND --help   an example, and all options

    Exit status: 0 passed, 1 a gate failed or findings were made, 2 the command failed.
    """


def main() -> None:
    """Run the command line and end the process with its exit status."""
    sys.exit(start(goldgate, "goldgate"))
