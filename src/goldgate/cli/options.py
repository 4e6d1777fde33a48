"""Command-line options that commands share, and options with several values: `--gold a.jsonl b.jsonl`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import click


class MultiValueCommand(click.Command):
    """A command without positional arguments: what follows a repeatable option belongs to it.

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
