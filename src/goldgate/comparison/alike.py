"""Only like is compared with like: the same suite, gold and settings, or an error that says what differs."""

from __future__ import annotations

from collections.abc import Sequence

from goldgate.core.signature import unlike
from goldgate.errors import InputError, Place
from goldgate.readers.stored_result import StoredResult

_SAME = "a comparison is of the same suite, gold and settings"


def require_alike(runs: Sequence[StoredResult], *, other_gold: bool = False) -> None:
    """Every run like the first; an InputError names all that differs. `other_gold` allows for another gold."""
    first = runs[0]
    for run in runs[1:]:
        if run.suite.name != first.suite.name:
            raise InputError(
                "compare.other_suite",
                _SAME,
                place=Place(run.named),
                expected=f"a result of the {first.suite.name} suite, like {first.named}",
                found=f"one of the {run.suite.name} suite",
            )
        settings = unlike(first.settings, run.settings)
        if other_gold:  # a digest of it may stand in the signature
            settings = [part for part in settings if part.name not in first.digests(judged=False)]
        if settings:
            raise InputError(
                "compare.other_settings",
                "these were not scored alike",
                place=Place(run.named),
                expected=", ".join(f"{name} {mine}" for name, mine, _ in settings) + f", like {first.named}",
                found=", ".join(f"{name} {theirs}" for name, _, theirs in settings),
                advice="score both with the same protocol, event schema and version",
            )
        if not other_gold:
            _require_same_gold(first, run)


def gold_differs(runs: Sequence[StoredResult]) -> bool:
    """Whether the systems were asked for different things."""
    return any(run.digests(judged=False) != runs[0].digests(judged=False) for run in runs)


def _require_same_gold(first: StoredResult, run: StoredResult) -> None:
    mine, theirs = first.digests(judged=False), run.digests(judged=False)
    for name, digests in mine.items():
        if digests != theirs.get(name):
            raise InputError(
                "compare.other_gold",
                f"these were judged by a different {name}",
                place=Place(run.named),
                expected=f"{name} with the sha256 {_short(digests)}, like {first.named}",
                found=f"{name} with the sha256 {_short(theirs.get(name, []))}",
                advice="score both with the same gold; --common compares what both have",
            )


def _short(digests: Sequence[str]) -> str:
    return ", ".join(digest[:12] for digest in digests) or "none"
