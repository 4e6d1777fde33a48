"""Only like is compared with like: the same suite, gold and settings, or an error that says what differs."""

from __future__ import annotations

from collections.abc import Sequence

from goldgate.comparison.stored_run import StoredRun
from goldgate.errors import InputError, Place

# Of the signature: what numbers do not depend on. A protocol's settings stand there one by one.
_NO_MATTER = ("goldgate", "protocol", "interval")
_SAME = "a comparison is of the same suite, gold and settings"


def require_alike(runs: Sequence[StoredRun], *, other_gold: bool = False) -> None:
    """Every run like the first; an InputError names all that differs. `other_gold` allows for another gold."""
    first = runs[0]
    for run in runs[1:]:
        if run.suite.name != first.suite.name:
            raise InputError(
                "compare.other_suite",
                _SAME,
                place=Place(run.name),
                expected=f"a result of the {first.suite.name} suite, like {first.name}",
                found=f"one of the {run.suite.name} suite",
            )
        settings = _differing(first, run)
        if other_gold:  # a digest of it may stand in the signature
            settings = [entry for entry in settings if entry[0] not in first.digests(judged=False)]
        if settings:
            raise InputError(
                "compare.other_settings",
                "these were not scored alike",
                place=Place(run.name),
                expected=", ".join(f"{name} {mine}" for name, mine, _ in settings) + f", like {first.name}",
                found=", ".join(f"{name} {theirs}" for name, _, theirs in settings),
                advice="score both with the same protocol, event schema and version",
            )
        if not other_gold:
            _require_same_gold(first, run)


def gold_differs(runs: Sequence[StoredRun]) -> bool:
    """Whether the systems were asked for different things."""
    return any(run.digests(judged=False) != runs[0].digests(judged=False) for run in runs)


def _differing(first: StoredRun, run: StoredRun) -> list[tuple[str, str, str]]:
    mine, theirs = first.settings, run.settings
    names = [name for name in {**mine, **theirs} if name not in _NO_MATTER]
    return [
        (name, mine.get(name, "none"), theirs.get(name, "none")) for name in names if mine.get(name) != theirs.get(name)
    ]


def _require_same_gold(first: StoredRun, run: StoredRun) -> None:
    mine, theirs = first.digests(judged=False), run.digests(judged=False)
    for name, digests in mine.items():
        if digests != theirs.get(name):
            raise InputError(
                "compare.other_gold",
                f"these were judged by a different {name}",
                place=Place(run.name),
                expected=f"{name} with the sha256 {_short(digests)}, like {first.name}",
                found=f"{name} with the sha256 {_short(theirs.get(name, []))}",
                advice="score both with the same gold; --common compares what both have",
            )


def _short(digests: Sequence[str]) -> str:
    return ", ".join(digest[:12] for digest in digests) or "none"
