"""The judged suite: what people would say of every item, from their labels on some and a judge's on all."""

from __future__ import annotations

from goldgate.core.suite import Input, Suite, deferred
from goldgate.suites.judged.abilities import ABILITIES
from goldgate.suites.judged.settings import JudgedSettings

_FOLDER = "goldgate.suites.judged"
_LABELS = Input(
    "labels",
    "Labels of people and of judges, JSON Lines or a JSON array, may be gzipped.",
    many=True,
    judged=True,
    example="people.jsonl judge.jsonl",
)
_ITEMS = Input(
    "items",
    "Everything to be judged, in the same formats. Without it: what the judge labelled.",
    many=True,
    required=False,
    judged=True,
    example="items.jsonl",
)
_DRAW = Input("draw", "What goldgate sample drew for people to label.", required=False, example="drawn.jsonl")
_JUDGE = Input("judge", "Take the labels of this judge only.", metavar="NAME", required=False, is_path=False)


class JudgedSuite(Suite):
    """The rate that people would find, with its interval; how far the judge and people agree."""

    name = "judged"
    about = "Estimate what people would say from a few labels of theirs and many of a judge."
    unit = "item"
    inputs = (_LABELS, _ITEMS, _DRAW, _JUDGE)
    section = "judged"
    settings = JudgedSettings
    metrics_version = "1.0"
    headline = ("rate", "human_rate")
    preload = f"{_FOLDER}.source"
    abilities = ABILITIES

    contracts = deferred(f"{_FOLDER}.contracts:CONTRACTS")
    measures = deferred(f"{_FOLDER}.measures:judged_measures")
    open = deferred(f"{_FOLDER}.source:open_judged_source")
    open_inputs = deferred(f"{_FOLDER}.source:open_judged_inputs")
    describe = deferred(f"{_FOLDER}.page:judged_page")
    pictures = deferred(f"{_FOLDER}.page:judged_pictures")
    stored = deferred(f"{_FOLDER}.page:judged_rates")
    summary = deferred(f"{_FOLDER}.explain:item_summary")
    snippet = deferred(f"{_FOLDER}.explain:item_snippet")
    unit_page = deferred(f"{_FOLDER}.explain:item_page")


SUITE = JudgedSuite()
