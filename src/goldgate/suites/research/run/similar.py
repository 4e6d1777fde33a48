"""Objectives that are nearly the same: hints for a reader, never a match."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple
from unicodedata import normalize

from goldgate.suites.research.golden import Golden
from goldgate.suites.research.run.fold import nfc

NEAR = 0.9  # of all characters
_LONGEST = 1_000  # characters of an objective that is compared
_MOST_COMPARED = 10_000_000  # characters of queries, which take up to 3 s; a hint is a hint

_NO_WORD = re.compile(r"[\W_]+")


def bare(objective: str) -> str:
    """The objective without case, punctuation and compatibility forms."""
    return _NO_WORD.sub(" ", normalize("NFKC", nfc(objective)).casefold()).strip()


def alike(one: str, other: str) -> bool:
    """Whether two bare objectives have nearly all characters in common, in their order."""
    if one == other:
        return True
    size = len(one) + len(other)
    if max(len(one), len(other)) > _LONGEST or 2 * min(len(one), len(other)) < NEAR * size:
        return False
    return 2 * _in_common(one, other) >= NEAR * size


def _in_common(one: str, other: str) -> int:
    """The length of the longest common subsequence, one row in one integer (Hyyrö 2004)."""
    places: dict[str, int] = {}
    for number, sign in enumerate(one):
        places[sign] = places.get(sign, 0) | 1 << number
    row = whole = (1 << len(one)) - 1
    for sign in other:
        both = row & places.get(sign, 0)
        row = (row + both) | (row - both)
    return len(one) - (row & whole).bit_count()


class Near(NamedTuple):
    """The number of the query that may be meant, for objectives that have one; and how many were not compared."""

    queries: dict[str, int]
    not_compared: int


def near_queries(objectives: Iterable[str], golden: Golden) -> Near:
    """Compare objectives of no query with all queries, until that would take too long."""
    queries = [bare(query.objective[:_LONGEST]) for query in golden.queries]
    exact = {text: number for number, text in reversed(list(enumerate(queries)))}
    size = sum(map(len, queries)) + len(queries)
    near: dict[str, int] = {}
    compared = not_compared = 0
    for objective in dict.fromkeys(objectives):
        if len(objective) > _LONGEST:
            not_compared += 1
            continue
        wanted = bare(objective)
        if wanted in exact:
            near[objective] = exact[wanted]
            continue
        compared += size
        if compared > _MOST_COMPARED:
            not_compared += 1
            continue
        number = next((number for number, text in enumerate(queries) if alike(wanted, text)), None)
        if number is not None:
            near[objective] = number
    return Near(near, not_compared)
