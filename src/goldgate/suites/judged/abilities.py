"""What the judged suite can do beside judging: draw items for people (`sample`), and ask a model (`judge`)."""

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
        f"{_FOLDER}.draw:sample_items",
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
)
