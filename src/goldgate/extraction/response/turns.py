"""What words around answers say: that another turn of the chat begins, or that the next answer replaces this one.

Both lists stand here and nowhere else.
"""

from __future__ import annotations

import re

# A mark that begins another turn: alone on its line, or glued to what ends there.
_TURN = re.compile(
    r"""
      (?:^[^\S\n]*|(?<=[^\w\s]))(?:assistant|user)[^\S\n]*:?[^\S\n]*$   # Llama's role names, as text
    | ^[^\S\n]*(?:\#{1,4}\s?)?(?:Human|User|Assistant|HUMAN|USER|ASSISTANT)\s?[:：]
    | <\|(?:im_start|eot_id|start_header_id|user|assistant|start|eom_id)\|>
    | <start_of_turn>
    | \[INST\]
    """,
    re.VERBOSE | re.MULTILINE,
)

# Words between two answers that say that the later one replaces the earlier one.
_REPLACES = re.compile(
    r"\b(?:corrected|corrections?|the\s+correct|mistake|more\s+(?:accurate|appropriate|suitable)|final(?:ized)?\s+(?:answer|output|version|result|json)|revised|revision|instead|"
    r"updated|improved|on\s+(?:reflection|second\s+thoughts?))\b"
    r"|更正|修正|修改后|改为|最终答案|最终结果|最终输出|重新输出",
    re.IGNORECASE,
)
_COMMENT_ON_THE_ANSWER = re.compile(r"[^\S\n]*(?://|#)[^\n]*")


def next_turn(text: str, start: int, end: int) -> int:
    """Where the first mark of another turn stands between two places, or -1."""
    mark = _TURN.search(text, start, end)
    return -1 if mark is None else mark.start()


def says_replaced(text: str, start: int, end: int) -> bool:
    """Whether the words between two answers say that the later replaces the earlier.

    A comment behind an answer on its own line speaks of that answer: `{…}  # corrected`.
    """
    comment = _COMMENT_ON_THE_ANSWER.match(text, start, end)
    return _REPLACES.search(text, start if comment is None else comment.end(), end) is not None
