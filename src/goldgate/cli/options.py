"""Command-line options that commands share, and options with several values: `--gold a.jsonl b.jsonl`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import click

from goldgate.report import PAGE_FORMATS

if TYPE_CHECKING:
    from goldgate.core.suite import Input

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[Any], Any]

CHECK_FORMATS = ("text", "json")
RESULT_FORMATS = ("json", *PAGE_FORMATS)


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


def format_option(formats: Iterable[str] = CHECK_FORMATS) -> Decorator:
    """`--format`, one of these."""
    return click.option(
        "--format", type=click.Choice([*formats]), default="text", show_default=True, help="Output format."
    )


def out_option(help: str, metavar: str = "DIR", *, required: bool = False) -> Decorator:
    """`--out`: what is written, and where."""
    return click.option("--out", metavar=metavar, required=required, help=help)


def protocol_option(help: str = "Settings, as YAML. Without it: the defaults.") -> Decorator:
    """`--protocol`."""
    return click.option("--protocol", metavar="FILE", help=help)


def workers_option(default: int | None = 1, help: str = "Processes to score with.") -> Decorator:
    """`--workers`, from 1."""
    return click.option(
        "--workers", type=click.IntRange(min=1), default=default, show_default=default is not None, help=help
    )


BRIEF = click.option("--brief", is_flag=True, help="Print only the verdict, gates and warnings, and where the rest is.")
SYSTEM_NAMES = click.option(
    "--name", "names", multiple=True, metavar="NAME", help="A system's name, once for each, in their order."
)
COMMON = click.option("--common", is_flag=True, help="Compare only the documents that all systems share.")


def input_option(each: Input, *, help: str | None = None, required: bool | None = None) -> Decorator:
    """The option that an input of a suite becomes."""
    return click.option(
        each.option,
        each.name,
        required=each.required if required is None else required,
        multiple=each.many,
        metavar=each.metavar + ("..." if each.many else ""),
        help=each.help if help is None else help,
    )


def as_list(value: str | Iterable[str] | None) -> list[str]:
    """The values of an option that may be given once, several times or not at all."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else list(value)
