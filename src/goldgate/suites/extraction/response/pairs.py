"""Plain pairs of an object, `"role": "x",`, each read in one step: most of a broken answer is made of them.

A pair is plain if neither its key nor its value has anything to resolve, whatever the marks around them, and what
follows the value leaves no doubt that it has ended. The reader comes to the same, mark by mark.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from goldgate.suites.extraction.events.number import NumberText
from goldgate.suites.extraction.response.bare import UNOPENED_KEY
from goldgate.suites.extraction.response.brackets import Open
from goldgate.suites.extraction.response.quoted import DOUBLE_QUOTES
from goldgate.suites.extraction.response.step import Step

_SMART = DOUBLE_QUOTES[1:]
_GAP = r"[ \t\r\n]*+"
# What begins a key for certain: each is among the ways in which `quoted` sees one behind a comma.
_KEY_BEGINS = (
    r'"[^"\\\n]{1,100}"\s{0,8}[:：]'
    r"|'[^'\\\n]{1,100}'\s{0,8}[:：]"
    rf"|[{_SMART}][^{DOUBLE_QUOTES}\\\n]{{1,100}}[{DOUBLE_QUOTES}]\s{{0,8}}[:：]"
    r"|[^\W\d][\w/-]{0,40}\s?[:：=]"
)
# The groups: the key by the kind of its marks, the colon, the value by the kind of its marks, the comma.
_PAIR = re.compile(
    rf"""
    (?:"([^"“”\\\x00-\x1f]++)"{_GAP}
      |'([^'\\\x00-\x1f]++)'{_GAP}
      |[{_SMART}]([^{DOUBLE_QUOTES}\\\x00-\x1f]++)[{DOUBLE_QUOTES}]{_GAP}
      |(?!{UNOPENED_KEY})([^\W\d]\w{{0,40}})[ ]?
    )([:：]){_GAP}
    (?:"([^"\\\x00-\x1f]++)"
      |'([^'\\\x00-\x1f]++)'
      |[{_SMART}]([^{DOUBLE_QUOTES}\\\x00-\x1f]++)[{DOUBLE_QUOTES}]
      |(null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?)
    ){_GAP}
    (?:([,，]){_GAP}(?={_KEY_BEGINS}|[{{}}\]])|(?=[}}\]]))
    """,
    re.VERBOSE,
)
# From the end of an object in a list into the next one; blanks of other kinds are the reader's.
NEXT_OBJECT = re.compile(rf"\}}{_GAP}([,，]){_GAP}(\{{){_GAP}(?![\\\s\ufeff\u200b])")
_COLON, _IN_SINGLE, _IN_SMART, _COMMA = 5, 7, 8, 10
# Members of an enumeration are slow to look up.
_SINGLE_QUOTES, _SMART_QUOTES = Step.SINGLE_QUOTES, Step.SMART_QUOTES
_UNQUOTED_KEYS, _FULLWIDTH = Step.UNQUOTED_KEYS, Step.FULLWIDTH_PUNCTUATION


class Pairs(NamedTuple):
    """Where reading goes on behind plain pairs, where the comma stands that the last one ends with (or -1), repairs."""

    end: int
    comma: int
    places: list[tuple[Step, int]]


def read_pairs(text: str, start: int, limit: int, into: Open) -> Pairs | None:
    """Read the plain pairs from `start` on, where a key is due, into an open object; None if there are none."""
    pos, comma = start, -1
    places: list[tuple[Step, int]] = []
    value = into.value
    while (pair := _PAIR.match(text, pos, limit)) is not None:
        double, single, smart, bare, colon, in_double, in_single, in_smart, literal, ends = pair.groups()
        key = double or single or smart or bare
        if key in value:
            break  # two objects run together, perhaps
        if double is None:
            places.append((_SINGLE_QUOTES if single else _SMART_QUOTES if smart else _UNQUOTED_KEYS, pos))
        if colon != ":":
            places.append((_FULLWIDTH, pair.start(_COLON)))
        if in_double is not None:
            value[key] = in_double
        elif in_single is not None:
            places.append((_SINGLE_QUOTES, pair.start(_IN_SINGLE) - 1))
            value[key] = in_single
        elif in_smart is not None:
            places.append((_SMART_QUOTES, pair.start(_IN_SMART) - 1))
            value[key] = in_smart
        else:
            value[key] = None if literal == "null" else NumberText(literal)
        into.last = key
        pos = pair.end()
        if ends is None:
            return Pairs(pos, -1, places)
        comma = pair.start(_COMMA)
        if ends != ",":
            places.append((_FULLWIDTH, comma))
    return Pairs(pos, comma, places) if comma >= 0 else None
