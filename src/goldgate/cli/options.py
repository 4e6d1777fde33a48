"""Command-line options that commands share, and options with several values: `--gold a.jsonl b.jsonl`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import click

from goldgate.files.address import is_url
from goldgate.report import PAGE_FORMATS
from goldgate.suites import SuiteAbility, abilities_for

if TYPE_CHECKING:
    from goldgate.core.suite import Ability, Input

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

CHECK_FORMATS = ("text", "json")
RESULT_FORMATS = ("json", *PAGE_FORMATS)


class _HelpFormatter(click.HelpFormatter):
    """Help in which no line breaks a command, and texts have room also in a narrow terminal."""

    def write_text(self, text: str) -> None:
        from goldgate.report.text import glue_commands

        super().write_text(glue_commands(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        from goldgate.report.text import glue_commands

        room = max(0, min(col_max, self.width - _LEAST_HELP_WIDTH))
        super().write_dl([(name, glue_commands(text)) for name, text in rows], room, col_spacing)

    def getvalue(self) -> str:
        from goldgate.report.text import GLUE

        return super().getvalue().replace(GLUE, " ")


_LEAST_HELP_WIDTH = 40  # columns
click.Context.formatter_class = _HelpFormatter


class MultiValueCommand(click.Command):
    """A command in which what follows a repeatable option belongs to it: arguments come before the options.

    `--gold a b` is read as `--gold a --gold b`; both may be written.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        repeatable = {
            name
            for parameter in self.params
            if isinstance(parameter, click.Option) and parameter.multiple
            for name in parameter.opts
        }
        return super().parse_args(ctx, list(repeat_names(args, repeatable)))


def repeat_names(arguments: Iterable[str], repeatable: set[str]) -> Iterator[str]:
    """The arguments, with the name of a repeatable option before each of its values."""
    gathering, has_value = None, False
    for argument in arguments:
        if argument.startswith("-") and argument != "-":
            name, equals, _ = argument.partition("=")
            gathering, has_value = (name if name in repeatable else None), bool(equals)
        elif gathering is not None:
            if has_value:
                yield gathering
            has_value = True
        yield argument


def add_options(*options: Decorator) -> Callable[[F], F]:
    """A decorator that adds options, in this order."""

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


def option(names: str, help: str, metavar: str | None = None, **settings: Any) -> Decorator:
    """An option by its names: `--metric metrics` if its parameter has another name. A default is shown."""
    settings = {"show_default": settings.get("default") is not None, **settings}
    return click.option(*names.split(), help=help, metavar=metavar, **settings)


def format_option(formats: Iterable[str] = CHECK_FORMATS) -> Decorator:
    """`--format`, one of these."""
    return option("--format", "Output format.", default="text", type=click.Choice([*formats]))


def out_option(
    help: str, metavar: str = "DIR", *, names: str = "--out", required: bool = False, default: str | None = None
) -> Decorator:
    """`--out`, or another option that names what is written: a path, not a URL."""
    return option(names, help, metavar, required=required, default=default, callback=_require_path)


def _require_path(context: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    if is_url(path):
        raise click.BadParameter("expected a path on this machine, not a URL: upload what is written there afterwards")
    return path


def protocol_option(help: str = "Settings, as YAML. Default: the suite's.") -> Decorator:
    """`--protocol`."""
    return option("--protocol", help, "FILE")


def workers_option(default: int | None = 1, help: str = "Processes to score with.") -> Decorator:
    """`--workers`, from 1."""
    return option("--workers", help, default=default, type=click.IntRange(min=1), show_default=default is not None)


BRIEF = option("--brief", "Print only the verdict, gates and warnings.", is_flag=True)
COMMON = option("--common", "Compare only the documents that all systems share.", is_flag=True)


def input_option(each: Input, *, help: str | None = None, required: bool | None = None) -> Decorator:
    """The option that an input of a suite becomes."""
    about = each.help if help is None else help
    if each.is_flag:
        return click.option(each.option, each.name, is_flag=True, flag_value=each.name, help=about)
    kind = click.IntRange(min=min(each.default, 1)) if isinstance(each.default, int) else None  # 0: none
    default: dict[str, Any] = {} if each.default is None else {"default": each.default, "show_default": True}
    return click.option(
        each.option,
        each.name,
        required=each.required if required is None else required,
        multiple=each.many,
        type=click.Choice(each.choices) if each.choices else kind,
        **default,  # None would count as a value
        metavar=None if each.choices or kind else each.metavar + ("..." if each.many else ""),
        help=about,
    )


def ability_options(command: str) -> Decorator:
    """The options of a command that suites carry out: `--suite` where several can, and the inputs of all of them."""
    abilities = abilities_for(command)
    suites = list(dict.fromkeys(suite.name for suite, _ in abilities))
    inputs = {each.name: each for _, ability in reversed(abilities) for each in reversed(ability.inputs)}
    needed = {
        name: all(any(each.name == name and each.required for each in ability.inputs) for _, ability in abilities)
        for name in inputs
    }
    return add_options(
        *(input_option(each, required=needed[each.name]) for each in reversed(inputs.values())),
        option(
            "--suite", "The suite to use, if several can do this.", type=click.Choice(suites), hidden=len(suites) < 2
        ),
    )


def choose_ability(
    command: str, suite: str | None, options: dict[str, Any], kind: str | None = None, path: str | None = None
) -> SuiteAbility:
    """What carries out a command: of the suite and of the kind that were named, the first that can.

    With a path, one that recognizes it goes before those that recognize no files, and these before all others. An
    option of another suite is a mistake in the options, and so is a missing one that this suite needs.
    """
    able = [
        each
        for each in abilities_for(command)
        if suite in (None, each.suite.name) and kind in (None, each.ability.kind)
    ]
    if not able:
        raise click.UsageError(f"no suite can {command}" if suite is None else f"the {suite} suite cannot {command} it")
    chosen = able[0]
    if path is not None:
        recognizing = (each for each in able if each.ability.recognizes is not None and each.ability.recognizes(path))
        usual = (each for each in able if each.ability.recognizes is None)
        chosen = next(chain(recognizing, usual, able))
    inputs = {each.name: each for each in chosen.ability.inputs}
    defaults = {each.name: each.default for _, ability in abilities_for(command) for each in ability.inputs}
    for name, value in options.items():
        if value not in (None, ()) and name not in inputs and value != defaults.get(name):
            raise click.UsageError(f"--{name.replace('_', '-')} does not apply here: leave it out")
    for each in inputs.values():
        if each.required and options.get(each.name) in (None, ()):
            raise click.UsageError(f"Missing option '{each.option}'.")
    return chosen


def as_list(value: str | Iterable[str] | None) -> list[str]:
    """The values of an option that may be given once, several times or not at all."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)


def input_paths(ability: Ability, options: dict[str, Any]) -> list[str]:
    """The files and folders that the options name as inputs of what carries out a command."""
    return [path for each in ability.inputs if each.is_path for path in as_list(options[each.name])]
