"""Text that can be stored. Python's strings can hold half of a surrogate pair, and no file can.

They come from two places. The name of a file need not be UTF-8; Python then keeps its bytes as such halves, and we
write them with a backslash, so that they can be read. And `"\\ud83d"` in JSON names half a pair where a model was cut
short; it is no character, and becomes U+FFFD as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def is_storable(text: str) -> bool:
    """Whether the text can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def storable(text: str) -> str:
    """A name or a message, its odd bytes written with a backslash."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def storable_name(name: str) -> str:
    """The same where names are told apart by it: a backslash is doubled, so that two names never become one."""
    return storable(name.replace("\\", "\\\\"))


def whole_text(text: str) -> str:
    """What a model wrote, with U+FFFD for half of a surrogate pair; two halves that belong together are joined."""
    if is_storable(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def all_storable(value: Any, rule: Callable[[str], str] = storable) -> Any:
    """Every text in a plain value, its keys included, by a rule."""
    if isinstance(value, str):
        return rule(value)
    if isinstance(value, dict):
        return {rule(key): all_storable(item, rule) for key, item in value.items()}
    return [all_storable(item, rule) for item in value] if isinstance(value, list | tuple) else value
