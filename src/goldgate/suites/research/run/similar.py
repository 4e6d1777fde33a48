"""Objectives that are nearly the same: hints for a reader, never a match."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from unicodedata import normalize

from goldgate.suites.research.golden import Golden
from goldgate.suites.research.run.fold import nfc

NEAR = 0.9  # of difflib's ratio
_LONGEST = 1_000  # characters of an objective that is compared
_MOST_COMPARED = 200_000  # pairs; comparing is slow, and a hint is a hint

_NO_WORD = re.compile(r"[\W_]+")


def bare(objective: str) -> str:
    """The objective without case, punctuation and compatibility forms."""
    return _NO_WORD.sub(" ", normalize("NFKC", nfc(objective)).casefold()).strip()


def alike(one: str, other: str) -> bool:
    """Whether two bare objectives are nearly the same."""
    if one == other:
        return True
    if max(len(one), len(other)) > _LONGEST:
        return False
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= NEAR and matcher.quick_ratio() >= NEAR and matcher.ratio() >= NEAR


def near_queries(objectives: Iterable[str], golden: Golden) -> dict[str, int]:
    """For each objective the number of the query that may be meant, where there is one."""
    queries = [bare(query.objective[:_LONGEST]) for query in golden.queries]
    exact = {text: number for number, text in reversed(list(enumerate(queries)))}
    near: dict[str, int] = {}
    compared = 0
    for objective in dict.fromkeys(objectives):
        if len(objective) > _LONGEST:
            continue
        wanted = bare(objective)
        if wanted in exact:
            near[objective] = exact[wanted]
            continue
        for number, text in enumerate(queries):
            compared += 1
            if compared > _MOST_COMPARED:
                return near
            if alike(wanted, text):
                near[objective] = number
                break
    return near
