"""Shell completion of the paths that options and arguments take. Names of commands and options are click's own work.

click completes paths only of its own path types, which also check them, in other words than ours.
"""

from __future__ import annotations

import os
import re

import click
from click.shell_completion import CompletionItem
from click.types import StringParamType

VARIABLE = "_GOLDGATE_COMPLETE"  # click's name for it; set while a shell asks
_PATHS = {"DIR": "dir", "FOLDER": "dir", "FILE": "file", "PATH": "file", "SYSTEM": "file", "GOLD": "file", "IN": "file"}


class PathText(StringParamType):
    """Text that names a path: the shell completes it."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(incomplete, type=self.kind)]


def completing() -> bool:
    """Whether a shell asks how a command line could go on."""
    return VARIABLE in os.environ


def with_paths(command: click.Command) -> click.Command:
    """The command, with parameters whose placeholder names a path completed as such."""
    for parameter in command.params:
        kinds = [_PATHS[word] for word in re.findall("[A-Z]+", parameter.metavar or "") if word in _PATHS]
        if kinds and isinstance(parameter.type, StringParamType):
            parameter.type = PathText(kinds[-1])
    return command
