"""`goldgate sample`: items drawn for people to label."""

from __future__ import annotations

from typing import NamedTuple

import orjson

from goldgate.core.suite import Options
from goldgate.errors import ConfigError, InputError, Place
from goldgate.readers.draw import (
    BY_JUDGE,
    MAX_DRAW,
    DrawSettings,
    assign_strata,
    draw_items,
    item_sha256,
    items_sha256,
    open_items,
    strata_of_labels,
)
from goldgate.suites.judged.ask import load_judge_template, read_question, text_digest


class SampleLines(NamedTuple):
    """The lines of a draw, and what was drawn in a few words."""

    lines: list[bytes]
    summary: str


def sample_items(path: str, options: Options) -> SampleLines:
    """`goldgate sample`: draw from a file of items."""
    if options["draw"] > MAX_DRAW:
        raise ConfigError("draw.too_large", f"--draw is at most {MAX_DRAW:,}", found=str(options["draw"]))
    by, template, judge, digest = options.get("by"), options.get("template"), None, None
    if options.get("labels") is not None:
        with open_items(options["labels"], "labels") as labels:
            judge, digest = strata_of_labels(labels), labels.sha256
    elif by == BY_JUDGE:
        raise ConfigError("draw.no_labels", "--by judge needs the judge's labels", advice="add --labels FILE")
    question = text_digest(read_question(options.get("question")))
    asked = None if template is None else load_judge_template(template).sha256
    with open_items(path) as items:
        if not items:
            raise InputError("items.empty", "there are no items", place=Place(items.name), expected="at least one item")
        content = items_sha256({key: item_sha256(item) for key, item in items.items()})
        settings = DrawSettings(options["n"], content, by, question, asked, digest, options["draw"])
        header, keys = draw_items(assign_strata(items.items(), by, judge), settings)
        lines = [orjson.dumps(record) + b"\n" for record in (header, *(items[key] for key in keys))]
    few = " (all there are: fewer than --n)" if header["n"] < options["n"] else ""
    strata = ", ".join(f"{each['name']}: {each['drawn']} of {each['items']}" for each in header["strata"])
    return SampleLines(lines, f"{header['n']} of {header['items']} items{few}" + (f" ({strata})" if strata else ""))
