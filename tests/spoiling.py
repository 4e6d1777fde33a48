"""Values with one thing wrong, to see that whatever checks them finds it."""

from __future__ import annotations

from typing import Any


def spoiled(value: Any) -> list[Any]:
    """The value with one thing changed or left out, everywhere in it."""
    found: list[Any] = []
    if isinstance(value, dict):
        found.append([])
        for name in value:
            found.append({key: item for key, item in value.items() if key != name})
            found += [{**value, name: inner} for inner in spoiled(value[name])]
    elif isinstance(value, list):
        found += [{}, []] if value and isinstance(value[0], dict) else [{}]
        for number, item in enumerate(value):
            found += [[*value[:number], inner, *value[number + 1 :]] for inner in spoiled(item)]
    else:
        found += [None, True, 1, -1, "", " x ", 1.5, "verified", {}, []]
    return found
