"""Quick ways through a run against the rules that they stand for, on random and on hostile input."""

from __future__ import annotations

import orjson
from hypothesis import example, given
from hypothesis import strategies as st

from goldgate.files import parsing
from goldgate.suites.research.run.evidence import next_piece
from goldgate.suites.research.run.files import has_all_keys
from tests.examples import examples

MANY = examples(500)

# --- JSON in which a key may be lost

ODD_JSON = [
    *('"a"', '":"', '"\\u003a"', '"\\u003A:"', '"\\":"', '"a\\\\"', '"é"', '"\\u00e9"', '"\\/"', '"{,}"', '"\\ud83d"'),
    *("1", "1.0", "1e5", "1E400", "-0", "12345678901234567890123", "null", "true", "[]", "{}", '{"a":1,"a":1}'),
    *('{"a":{"b":1,"b":2}}', '{"a":1, "\\u0061":2}', '{"a" :1,"a": 2,"b":":"}', "[{},[]]", "NaN", "", "\ufeff"),
]
blanks = st.sampled_from(["", " ", "\t", "\r"])


@st.composite
def json_texts(draw: st.DrawFn, deep: int = 2) -> str:
    """JSON, or nearly: keys that stand twice, escapes, blanks and numbers in every way of writing them."""
    if deep == 0 or draw(st.booleans()):
        return draw(st.sampled_from(ODD_JSON))
    inner = json_texts(deep - 1)
    keys = st.sampled_from(['"a"', '"b"', '":"', '"\\u003a"', '"\\u0061"', '"a\\":"'])
    if draw(st.booleans()):
        return "[" + ",".join(draw(blanks) + draw(inner) for _ in range(draw(st.integers(0, 3)))) + "]"
    pairs = [draw(keys) + draw(blanks) + ":" + draw(blanks) + draw(inner) for _ in range(draw(st.integers(0, 3)))]
    return "{" + ("," + draw(blanks)).join(pairs) + "}"


@MANY
@given(json_texts())
@example('{"a":1,"a":100000.0}')
@example('{"a":"","a":{"b":1e2}}')
def test_no_lost_key_is_overlooked(text: str) -> None:
    data = text.encode()
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        return
    assert not has_all_keys(data, value) or parsing.find_repeated_key(data) is None


# --- splices

scraps = st.text(alphabet="ab. ,é1…", max_size=12)


def _longest_prefix(part: str, text: str) -> int:
    return max(size for size in range(len(part) + 1) if part[:size] in text)


@MANY
@given(scraps, st.lists(scraps, max_size=8))
def test_a_piece_ends_between_words(part: str, scraps: list[str]) -> None:
    text = "".join(scraps)
    for rest in (part, text[3:] + part, "b" + text):
        piece, following = rest[: (size := _longest_prefix(rest, text))], rest[size : size + 1]
        if piece[-1:].isascii() and piece[-1:].isalnum() and following.isalnum():
            piece = piece.rpartition(" ")[0]
        assert next_piece(rest, text) == piece
