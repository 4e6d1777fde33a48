"""How answers came about, as it is shown beside the scores: coverage, what is missing and why, bounds, seeds."""

from __future__ import annotations

from typing import Any

from goldgate.report.display import shown
from goldgate.report.escape import code, markdown
from goldgate.report.text import table

MAIN = ("strict_f1", "relaxed_f1", "type_f1", "schema_compliance_rate", "hallucination_rate")


def generation_text(generation: dict[str, Any] | None) -> list[str]:
    """The section of a text report; empty where the answers were given and not asked for."""
    if not generation:
        return []
    coverage = shown(generation["coverage"])
    rows = [("answered", coverage.value, coverage.counts)]
    rows += [(f"missing: {cause}", str(count), "") for cause, count in generation["missing"].items()]
    if generation.get("cost"):
        rows.append(("cost", generation["cost"]["amount"], generation["cost"]["currency"]))
    lines = ["Generation", *table(rows, 3)]
    if generation.get("bounds"):
        lines += ["", "Bounds, if the missing answers were", *table(_bounds(generation["bounds"]))]
    return lines


def generation_markdown(generation: dict[str, Any] | None) -> list[str]:
    """The same as blocks of Markdown."""
    if not generation:
        return []
    coverage = shown(generation["coverage"])
    blocks = ["## Generation", f"Answered: {coverage.value} ({coverage.counts})."]
    missing = ", ".join(f"{code(cause, in_table=False)} {count}" for cause, count in generation["missing"].items())
    if missing:
        blocks.append(f"Missing: {missing}.")
    if generation.get("cost"):
        blocks.append(f"Cost: {generation['cost']['amount']} {markdown(generation['cost']['currency'])}.")
    if generation.get("bounds"):
        head, *rows = _bounds(generation["bounds"])
        blocks.append("Bounds, if the missing answers were all wrong or all right:")
        blocks.append("\n".join([_row(head), "| --- | ---: | ---: |", *map(_row, rows)]))
    return blocks


def seeds_text(seeds: dict[str, Any]) -> str:
    """The summary of several seeds, for the terminal."""
    return "\n".join(["Seeds " + ", ".join(map(str, seeds["seeds"])), *table(_seed_rows(seeds))]) + "\n"


def seeds_markdown(seeds: dict[str, Any]) -> str:
    """seeds.md."""
    head, *rows = _seed_rows(seeds)
    rule = "| --- |" + " ---: |" * (len(head) - 1)
    return "\n".join(["# Seeds", "", _row(head), rule, *map(_row, rows)]) + "\n"


def _bounds(bounds: dict[str, Any]) -> list[tuple[str, ...]]:
    names = [name for name in MAIN if name in bounds["all_wrong"]]
    sides = ("all_wrong", "all_right")
    return [("", "all wrong", "all right"), *((n, *(shown(bounds[side][n]).value for side in sides)) for n in names)]


def _seed_rows(seeds: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = [("", "mean", "std. dev.", "min", "max")]
    for name in MAIN:
        entry = seeds["metrics"].get(name)
        if entry is not None:
            rows.append((name, *(_number(entry[key]) for key in ("mean", "standard_deviation", "min", "max"))))
    return rows


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:.4f}"


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(markdown(cell) for cell in cells) + " |"
