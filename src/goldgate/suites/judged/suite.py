"""The judged suite: what people would say of every item, from their labels on some and a judge's on all.

Beside judging, it draws items for people (`sample`), lets them label these (`label`), and asks a model (`judge`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from goldgate.core.suite import Ability, Input, Suite, deferred, word_input
from goldgate.shape import AtLeast, Share


@dataclass(frozen=True, slots=True)
class JudgedSettings:
    """The section `judged` of a protocol: everything that can change a number."""

    version: Literal["1.0"] = "1.0"
    labels: dict[str, Share] = field(default_factory=dict)  # words that are labels, and the number of each
    # trusted: take labels of people that goldgate did not draw as if they were a random sample; it stands out.
    sampling: Literal["drawn", "trusted"] = "drawn"
    people: tuple[str, ...] = ()  # those whose labels count as such; []: files have one kind each
    # As how many steps a label of 1 is counted at least: two results that are compared need the same number.
    steps: Annotated[int, AtLeast(1)] = 1


_FOLDER = "goldgate.suites.judged"
SECTION = "judged"  # of a protocol
TEMPLATES = ("claim_support", "claim_support_zh", "question")

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
_JUDGE = word_input("judge", "Take the labels of this judge only.", "NAME")
_ASKED = "The question that is asked about every item: a file, or the text itself."
_QUESTION = word_input("question", _ASKED, "TEXT|FILE")
_TEMPLATE = word_input("template", f"{', '.join(TEMPLATES)}, or a file.", "NAME|FILE")
_SAMPLE = (
    word_input("n", "How many items to draw.", "N", 100),
    word_input("by", "Draw by strata: judge, group, or any field of the items.", "judge|group|FIELD"),
    Input("labels", "A judge's labels. They are then known to be older than those of people.", required=False),
    _QUESTION,
    _TEMPLATE._replace(help="The judge's template, if a judge is asked: a name or a file."),
    word_input("draw", "Number of the draw: 2 draws other items, and the file says so.", "K", 1),
)
_POWER = (word_input("width", "Labels of people: length that the interval of a judged rate is to have.", "LENGTH"),)
_ASK = (
    Input("items", "The items to judge, JSON Lines or a JSON array.", required=False),
    _TEMPLATE._replace(help=f"{_TEMPLATE.help}  [default: question if --question is given, else claim_support]"),
    _QUESTION,
)
_LABEL = (
    word_input("by", "Name of the person. Default: the one in the labels of --out, or the login name.", "NAME"),
    word_input("labels", "Words to choose from, with commas between. Default: --protocol's, or yes and no.", "WORDS"),
    _QUESTION,
    Input("judge", "A judge's labels: each is shown when the person has labelled its item.", required=False),
    Input("protocol", "Protocol whose `judged: labels`, or else `research: labels`, are the words.", required=False),
)


class JudgedSuite(Suite):
    """The rate that people would find, with its interval; how far the judge and people agree."""

    name = "judged"
    about = "Estimate what people would say from a few labels of theirs and many of a judge."
    unit = "item"
    inputs = (_LABELS, _ITEMS, _DRAW, _JUDGE)
    section = SECTION
    settings = JudgedSettings
    metrics_version = "1.1"
    headline = ("rate", "human_rate")
    preload = f"{_FOLDER}.source"
    abilities = (
        Ability("sample", f"{_FOLDER}.planning:sample_items", _SAMPLE),
        Ability("power", f"{_FOLDER}.planning:label_power", _POWER),
        Ability("judge", f"{_FOLDER}.ask:open_judge_task", _ASK),
        Ability("label", f"{_FOLDER}.label_server:open_label_site", _LABEL),
    )

    contracts = deferred(f"{_FOLDER}.contracts:CONTRACTS")
    measures = deferred(f"{_FOLDER}.measures:judged_measures")
    open = deferred(f"{_FOLDER}.source:open_judged_source")
    open_inputs = deferred(f"{_FOLDER}.source:open_judged_inputs")
    describe = deferred(f"{_FOLDER}.page:judged_page")
    pictures = deferred(f"{_FOLDER}.page:judged_pictures")
    stored_rates = deferred(f"{_FOLDER}.page:judged_rates")
    summary = deferred(f"{_FOLDER}.page:item_summary")
    snippet = deferred(f"{_FOLDER}.page:item_snippet")
    unit_page = deferred(f"{_FOLDER}.page:item_page")


SUITE = JudgedSuite()
