"""HTML and SVG built from elements. Text stays text wherever it comes from: only what is built here is markup."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, lru_cache
from typing import Union

from goldgate.report.escape import escape_character

Value = str | int | bool | None  # of an attribute: True stands without a value, False and None are left out
Content = Union[str, "Markup", None, Iterable["Content"]]

_VOID = frozenset("br col hr img input link meta wbr".split())  # elements that have no content and no end
_LINES = frozenset(
    "article details div header li main meta nav section tr".split()
)  # one a line: pages can be compared
_RAW = frozenset(("script", "style"))  # elements in which a browser reads no escapes
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*")
_LINKS = frozenset(("href", "src", "action", "formaction"))
_WITHIN = re.compile(r"[#?]|(?:\.{0,2}/)?(?![/\\])[A-Za-z0-9._~%-][A-Za-z0-9._~%/?&=#-]*\Z|/\Z")  # no scheme, no host
# What markup is made of; what HTML and XML cannot carry; and where a command to a CI runner would begin: the second of
# two colons, of two hashes. It begins with one set of characters, because that is what is found fast.
_SPECIAL = re.compile(
    "[&<>:#\x00-\x08\x0b-\x1f\x7f-\x9f\ufdd0-\ufdef\ufffe\uffff\ud800-\udfff]"
    r"(?<![^:]:)(?<!\A:)(?<![^#]#)(?<!\A#)"
)
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", ":": "&#58;", "#": "&#35;"}


class Markup(str):
    """Markup that only the functions of this module make. Added to a text it is a text again."""

    __slots__ = ()


def element(tag: str, /, *content: Content, **attributes: Value) -> Markup:
    """An element with its content. Of the names of attributes, `class_` is `class` and `aria_label` is `aria-label`."""
    begin, end = _tags(tag, *attributes, *attributes.values())
    if content and tag in _VOID:
        raise ValueError(f"{tag} has no content")
    parts = [begin]
    _collect(content, parts)
    parts.append(end)
    return Markup("".join(parts))


@lru_cache(maxsize=2048, typed=True)  # most elements are alike but for their content; True is not 1
def _tags(tag: str, *attributes: Value) -> tuple[str, str]:
    """How an element begins and ends; its attributes are their names, and behind them their values."""
    if tag in _RAW:
        raise ValueError(f"{tag} takes no content as text: use raw()")
    end = "" if tag in _VOID else f"</{tag}>"
    names, values = attributes[: len(attributes) // 2], attributes[len(attributes) // 2 :]
    begin = f"<{_checked(tag)}{_attribute_texts(dict(zip(map(str, names), values, strict=True)))}>"
    return begin, f"{end}\n" if tag in _LINES else end


def fragment(*content: Content) -> Markup:
    """Texts and elements, one after the other; nothing for None."""
    parts: list[str] = []
    _collect(content, parts)
    return Markup("".join(parts))


def link(content: Content, href: str | None, **attributes: Value) -> Content:
    """The content as a link; without an address the content alone."""
    return content if href is None else element("a", content, href=href, **attributes)


def raw(tag: str, source: str, /, **attributes: Value) -> Markup:
    """A script or a style of our own, which a browser reads as it stands."""
    if tag not in _RAW or re.search(r"<[/!]", source):
        raise ValueError(f"not a script or style that a page can hold: {tag}")
    return Markup(f"<{tag}{_attribute_texts(attributes)}>{source}</{tag}>")


def document(root: Markup) -> str:
    """A whole HTML page."""
    return f"<!DOCTYPE html>\n{root}\n"


def escape_markup(text: str) -> str:
    r"""A text as it stands in markup; what no page can carry is written out, as `\x00`."""
    return _SPECIAL.sub(_escape, text).replace('"', "&quot;")  # answers in JSON have many of these


def _collect(content: Iterable[Content], parts: list[str]) -> None:
    for each in content:
        if isinstance(each, Markup):
            parts.append(each)
        elif isinstance(each, str):
            if each.startswith((":", "#")):  # what stands before it may end alike
                parts.append(_ESCAPES[each[0]])
                each = each[1:]
            parts.append(escape_markup(each))
        elif each is not None:
            _collect(each, parts)


def _attribute_texts(attributes: dict[str, Value]) -> str:
    parts = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        name, text = _attribute_name(key), "" if value is True else str(value)
        if name in _LINKS and not _WITHIN.match(text):
            raise ValueError(f"{name} leads elsewhere: {text!r}")
        parts.append(f' {name}="{escape_markup(text)}"')
    return "".join(parts)


@cache
def _attribute_name(key: str) -> str:
    name = _checked(key.removesuffix("_").replace("_", "-"))
    if name.lower().startswith("on") or name.lower() in ("style", "srcdoc"):
        raise ValueError(f"a page has no attribute {name}: scripts and styles go into files of their own")
    return name


@cache
def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"not the name of an element or an attribute: {name!r}")
    return name


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    if character in _ESCAPES:
        return _ESCAPES[character]
    return escape_character(character)
