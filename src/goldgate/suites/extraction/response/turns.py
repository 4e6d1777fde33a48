"""What words around answers say: that another turn of the chat begins, or that the next answer replaces this one.

The lists stand here and nowhere else; docs/reading-responses.md repeats them.
"""

from __future__ import annotations

import re

# A mark that begins another turn, wherever it stands.
TURN_TOKENS = (
    "<|im_start|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|start_header_id|>",
    "<|start|>",
    "<|user|>",
    "<|assistant|>",
    "<start_of_turn>",
    "[INST]",
)
# A mark that ends the turn: alone on a line, or glued to what ends there; not in the middle of a sentence.
END_TOKENS = (
    "<end_of_turn>",
    "<|im_end|>",
    "</s>",
    "<eos>",
    "<|end|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|return|>",
    "<｜end▁of▁sentence｜>",
)
# A name of who speaks: with a colon where a line begins, or (the first two) alone at the end of a line.
TURN_NAMES = ("assistant", "user", "Assistant", "User", "Human", "ASSISTANT", "USER", "HUMAN")
# Words between two answers that say that the later one replaces the earlier one; case does not matter.
REPLACING_WORDS = (
    "corrected",
    "correction",
    "corrections",
    "the correct",
    "mistake",
    "more accurate",
    "more appropriate",
    "more suitable",
    "final answer",
    "final output",
    "final version",
    "final result",
    "final json",
    "revised",
    "revision",
    "instead",
    "updated",
    "improved",
    "on reflection",
    "on second thought",
    "on second thoughts",
    "更正",
    "修正",
    "修改后",
    "改为",
    "最终答案",
    "最终结果",
    "最终输出",
    "重新输出",
)

_END = "|".join(map(re.escape, END_TOKENS))
_TURN = re.compile(
    rf"""
      {"|".join(re.escape(token) for token in TURN_TOKENS)}
    | (?:^[^\S\n]*+|(?<=[\]}}］｝])[^\S\n]*+|(?<=[^\s`"'“‘]))(?:{_END})(?![`"'”’])
    | (?:{_END})[^\S\n]*+$
    | (?:^[^\S\n]*+|(?<=[^\w\s]))(?:{"|".join(TURN_NAMES[:2])})[^\S\n]*+:?[^\S\n]*+$
    | ^[^\S\n]*+(?:\#{{1,4}}\s?)?(?:{"|".join(TURN_NAMES)})\s?[:：]
    """,
    re.VERBOSE | re.MULTILINE,
)
# One of these is in each mark of a turn: far faster to ask for than the marks.
_IN_EVERY_TURN = ("<", "[INST]", *TURN_NAMES)


def _pattern(words: str) -> str:
    pattern = r"\s+".join(map(re.escape, words.split()))
    return rf"\b{pattern}\b" if words.isascii() else pattern


_REPLACES = re.compile("|".join(map(_pattern, REPLACING_WORDS)), re.IGNORECASE)
_COMMENT_ON_THE_ANSWER = re.compile(r"[^\S\n]*(?://|#)[^\n]*")


def next_turn(text: str, start: int, end: int) -> int:
    """Where the first mark of another turn stands between two places, or -1."""
    for part in _IN_EVERY_TURN:
        if text.find(part, start, end) >= 0:
            turn = _TURN.search(text, start, end)
            return -1 if turn is None else turn.start()
    return -1


def says_replaced(text: str, start: int, end: int) -> bool:
    """Whether the words between two answers say that the later replaces the earlier.

    A comment behind an answer on its own line speaks of that answer: `{…}  # corrected`.
    """
    comment = _COMMENT_ON_THE_ANSWER.match(text, start, end)
    return _REPLACES.search(text, start if comment is None else comment.end(), end) is not None
