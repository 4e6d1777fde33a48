"""One line that names every setting that can change a number, to stand beside the number."""

from __future__ import annotations

from collections.abc import Mapping


def signature(settings: Mapping[str, object]) -> str:
    """`name:value` for each setting, in the order given, joined by `|`."""
    return "|".join(f"{name}:{_word(value)}" for name, value in settings.items())


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "/").replace("\n", " ")
