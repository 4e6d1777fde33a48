"""What the judged suite can do beside judging: draw items for people (`sample`), let them
label these (`label`), and ask a model (`judge`).
"""

from __future__ import annotations

from goldgate.core.suite import Ability, Input

TEMPLATES = ("claim_support", "claim_support_zh", "question")


def _word(name: str, help_text: str, metavar: str) -> Input:
    return Input(name, help_text, metavar=metavar, required=False, is_path=False)


_QUESTION = _word("question", "The question that is asked about every item: a file, or the text itself.", "TEXT|FILE")
_TEMPLATE = _word("template", f"{', '.join(TEMPLATES)}, or a file.", "NAME|FILE")
_FOLDER = "goldgate.suites.judged"

ABILITIES = (
    Ability(
        "sample",
        f"{_FOLDER}.sample:sample_items",
        (
            _word("n", "How many items to draw.", "N")._replace(default=100),
            _word("by", "Draw by strata: judge, group, or any field of the items.", "judge|group|FIELD"),
            Input("labels", "A judge's labels. They are then known to be older than those of people.", required=False),
            _QUESTION,
            _TEMPLATE._replace(help="The judge's template, if a judge is asked: a name or a file."),
            _word("draw", "Number of the draw: 2 draws other items, and the file says so.", "K")._replace(default=1),
        ),
    ),
    Ability(
        "power",
        f"{_FOLDER}.planning:label_power",
        (_word("width", "Labels of people: length that the interval of a judged rate is to have.", "LENGTH"),),
    ),
    Ability(
        "judge",
        f"{_FOLDER}.ask:open_judge_task",
        (
            Input("items", "The items to judge, JSON Lines or a JSON array.", required=False),
            _TEMPLATE._replace(
                help=f"{_TEMPLATE.help}  [default: question if --question is given, else claim_support]"
            ),
            _QUESTION,
        ),
    ),
    Ability(
        "label",
        f"{_FOLDER}.label_server:open_label_site",
        (
            _word("by", "Name of the person. Default: the one in the labels of --out, or the login name.", "NAME"),
            _word(
                "labels", "Words to choose from, with commas between. Default: --protocol's, or yes and no.", "WORDS"
            ),
            _QUESTION,
            Input("judge", "A judge's labels: each is shown when the person has labelled its item.", required=False),
            Input("protocol", "Protocol whose `judged: labels` are the words to choose from.", required=False),
        ),
    ),
)
