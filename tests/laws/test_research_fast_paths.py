"""Quick ways through a run against the rules that they stand for, on random and on hostile input."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from typing import Any
from unicodedata import category, normalize

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldgate.core.finding import RunFindings
from goldgate.files import parsing
from goldgate.shape.validation import type_test
from goldgate.suites.research.contracts import Claim
from goldgate.suites.research.run.claims import Ledger, check_claims, fast_claims
from goldgate.suites.research.run.evidence import (
    EvidenceDemands,
    Sources,
    are_folded,
    check_evidence,
    is_plainly_verbatim,
    longest_prefix,
    next_piece,
)
from goldgate.suites.research.run.files import decode_each_line, fast_decode_lines, has_all_keys
from goldgate.suites.research.run.log import EventLog, LoggedOutcome
from goldgate.suites.research.run.text import (
    _FOLDED_CHARACTERS,
    _piled_marks,
    fold,
    has_few_marks,
    has_piled_marks,
    is_folded,
    nfc,
    sketch,
    sketch_of_all,
)
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


@MANY
@given(st.lists(st.tuples(json_texts(), st.sampled_from(["\n", "\n", "\r\n", "\n\n", ",", "\n \n"])), max_size=4))
@example([("1,2", "\n"), ("[3", "\n"), ("4]", "")])
@example([('{"a":1,"a":1}', "\n"), ("{}", "\n")])
def test_lines_decoded_at_once(parts: list[tuple[str, str]]) -> None:
    whole = "".join(text + end for text, end in parts)
    for data in (whole.encode(), whole.encode()[:-1]):
        quick, plain = fast_decode_lines(data), [*decode_each_line(data)]
        assert quick is None or repr([*enumerate(quick, 1)]) == repr(plain)


@pytest.mark.parametrize("write", [orjson.dumps, lambda value: json.dumps(value).encode()])
def test_lines_without_a_fault_are_decoded_at_once(write: Any) -> None:
    values = [{"a": "b: c", "d": [1, {"é": "\n"}]}, {"a": "https://example.org", "d": None}]
    assert fast_decode_lines(b"".join(write(value) + b"\n" for value in values)) == values


# --- folding

MARKS = "\u0301\u0308\u0327"
hostile = st.text(alphabet="aB 1.\t\n\x0b\x1c\x1f\x7f\x85\u3000\u2028\u00ad\u200b’“—…é" + MARKS, max_size=12)


@MANY
@given(hostile | st.text(max_size=12))
def test_text_that_is_folded_already(text: str) -> None:
    for folded in (text, text.strip(), "a b"):
        plainly = " ".join(nfc(folded).translate(_FOLDED_CHARACTERS).split())
        assert fold(folded) == plainly
        assert not is_folded(folded) or folded == plainly


@MANY
@given(hostile, st.integers(25, 40), hostile)
def test_few_marks_are_no_pile(before: str, marks: int, after: str) -> None:
    for text in (before + "a" + MARKS[0] * marks + after, before + after, (before + after) * 20):
        assert not has_few_marks(text) or _piled_marks().search(text) is None
        assert has_piled_marks(text) is (_piled_marks().search(text) is not None)


# --- evidence

TEXT = "Über 80 % of the harbour froze — in “1891”: nobody… counted.  The keeper wrote\n12 letters, \u200bABC."
odd = st.one_of(st.none(), st.booleans(), st.integers(-1, 3), st.just(1.0), st.sampled_from(["", " ", "c1", "unknown"]))
odd_or_deep = st.one_of(odd, st.lists(odd, max_size=1), st.dictionaries(st.sampled_from(["start", "end"]), odd))


@st.composite
def stored_chunks(draw: st.DrawFn) -> dict[str, Any]:
    """Chunks by name, some with a hash, some with a wrong one, some of nobody."""
    chunks: dict[str, Any] = {}
    for name in ("c1", "unknown", "letters", "…"):
        text = draw(st.sampled_from([TEXT, TEXT[5:], "", "   ", "a"]))
        chunk = {"chunk_id": name, "source_id": draw(st.sampled_from(["s1", "unknown", "", "source"])), "text": text}
        recorded = sha256(draw(st.sampled_from([text, text, "other"])).encode()).hexdigest()
        hashes = st.sampled_from([recorded, recorded, "sha256:" + recorded.upper(), "x", None])
        chunk |= draw(st.sampled_from([{}, {"text_hash": draw(hashes)}, {"artifact_id": "a1"}, {"artifact_id": None}]))
        chunks[name] = chunk
    return chunks


@st.composite
def evidence_records(draw: st.DrawFn, chunks: dict[str, Any]) -> dict[str, Any]:
    """A record that is right, or nearly, with odd things in any place."""
    chunk = chunks[draw(st.sampled_from([*chunks]))]
    start = draw(st.integers(-2, len(TEXT)))
    end = start + draw(st.integers(-1, 20))
    shift = draw(st.sampled_from([0, 0, 0, 1, -1]))
    record: dict[str, Any] = {
        "evidence_id": "e",
        "chunk_id": chunk["chunk_id"],
        "quote": chunk["text"][max(0, start) : max(0, end)],
        "span": {"start": start + shift, "end": end + shift},
        "provenance": {"source_id": draw(st.sampled_from([chunk["source_id"], chunk["source_id"], "s2"]))},
    }
    record["provenance"] |= draw(st.sampled_from([{}, {}, {"artifact_id": "a1"}, {"content_hash": None}, {"uri": "u"}]))
    if draw(st.integers(0, 3)) == 0:
        record[draw(st.sampled_from([*record]))] = draw(odd_or_deep)
    if draw(st.integers(0, 5)) == 0:
        del record[draw(st.sampled_from(["chunk_id", "quote", "span", "provenance"]))]
    return record


@examples(2_000)
@given(st.data(), st.booleans(), st.booleans())
def test_quick_evidence(data: st.DataObject, quote_and_span: bool, verbatim: bool) -> None:
    chunks = data.draw(stored_chunks())
    conflicting = data.draw(st.sampled_from([frozenset(), frozenset({"c1"})]))
    record = data.draw(evidence_records(chunks))
    if is_plainly_verbatim(record, Sources(chunks, conflicting)):
        checked = check_evidence(record, Sources(chunks, conflicting), EvidenceDemands(quote_and_span, verbatim))
        assert checked.level == "verbatim"


def test_a_record_without_a_fault_is_found_quickly() -> None:
    chunk: Any = {"chunk_id": "c1", "source_id": "s1", "text": TEXT}
    record = {"chunk_id": "c1", "quote": TEXT[5:20], "span": {"start": 5, "end": 20}, "provenance": {"source_id": "s1"}}
    assert is_plainly_verbatim(record, Sources({"c1": chunk}))


ENDING = "12 letters, ABC"
NEAR_MISSES: list[tuple[dict[str, Any], dict[str, Any], frozenset[str]]] = [  # of the record, of the chunk, in conflict
    ({"span": {"start": -3, "end": 0}, "quote": "ABC"}, {}, frozenset()),
    ({"span": {"start": 12, "end": 16}, "quote": "ABC"}, {}, frozenset()),
    ({"span": {"start": True, "end": 3}, "quote": "2 "}, {}, frozenset()),
    ({"span": {"start": 2, "end": 3}, "quote": " "}, {}, frozenset()),
    ({}, {}, frozenset({"c1"})),
    ({"provenance": {"source_id": "s1", "artifact_id": "a2"}}, {"artifact_id": "a1"}, frozenset()),
    ({"provenance": {"source_id": "s1", "artifact_id": "a2"}}, {}, frozenset()),
    ({"provenance": {"source_id": "unknown"}}, {"source_id": "unknown"}, frozenset()),
    ({"provenance": {"source_id": "s2"}}, {}, frozenset()),
    ({}, {"text_hash": "0" * 64}, frozenset()),
]


@pytest.mark.parametrize(("record_has", "chunk_has", "conflicting"), NEAR_MISSES)
def test_what_is_nearly_right_is_not_waved_through(
    record_has: dict[str, Any], chunk_has: dict[str, Any], conflicting: frozenset[str]
) -> None:
    chunk: Any = {"chunk_id": "c1", "source_id": "s1", "text": ENDING}
    record = {"chunk_id": "c1", "quote": "ABC", "span": {"start": 12, "end": 15}, "provenance": {"source_id": "s1"}}
    assert is_plainly_verbatim(record, Sources({"c1": chunk}))
    changed: Any = {**chunk, **chunk_has}
    assert not is_plainly_verbatim({**record, **record_has}, Sources({"c1": changed}, conflicting))


# --- claims

names = st.sampled_from(["k1", "k2", "k3", " ", "", 7, None])
statuses = st.sampled_from(["verified", "candidate", "retracted", " Verified", "done", None, ["verified"]])
known = st.dictionaries(
    st.sampled_from(["k1", "k2", "k9"]), st.sampled_from(["verified", "candidate", "retracted"]), max_size=2
)
one_claim = st.fixed_dictionaries(
    {"claim_id": names, "statement": st.sampled_from(["It froze.", "", 3]), "status": statuses},
    optional={
        "evidence_ids": st.one_of(st.none(), st.lists(st.sampled_from(["e1", "e2", "e3", 4]), max_size=3)),
        "evidence": st.one_of(st.none(), st.just([{"evidence_id": "e1"}])),
    },
)


claim_by_contract = st.fixed_dictionaries(
    {
        "claim_id": st.sampled_from(["k1", "k2", "k3", "k4", " k"]),
        "statement": st.sampled_from(["It froze.", ""]),
        "status": st.sampled_from(["verified", "candidate", "retracted"]),
    },
    optional={"evidence_ids": st.lists(st.sampled_from(["e1", "e2", "e3"]), max_size=3)},
)
_claim_fits = type_test(Claim)


@MANY
@given(
    st.lists(claim_by_contract, max_size=4) | st.lists(one_claim | st.none(), max_size=4),
    st.none() | st.tuples(known, known) | st.tuples(known, st.just({})),
)
def test_quick_claims(listed: list[Any], said: tuple[dict[str, str], dict[str, str]] | None) -> None:
    log = (
        None if said is None else EventLog("r", own=LoggedOutcome(None, said[0]), foreign=LoggedOutcome(None, said[1]))
    )
    ledger = Ledger({"e1": "verbatim"}, {"e2": "fabricated"})
    quick_findings, findings = RunFindings("r"), RunFindings("r")
    fitting = all(map(_claim_fits, listed))
    quick = check_claims(listed, log, ledger, quick_findings, fitting=fitting)
    assert check_claims(listed, log, ledger, findings, fitting=False) == quick
    assert quick_findings.listed() == findings.listed()


def test_claims_by_the_contract_are_counted_quickly() -> None:
    listed = [{"claim_id": f"k{n}", "statement": "", "status": "verified", "evidence_ids": ["e1"]} for n in range(3)]
    claims = fast_claims(listed, EventLog("r"), Ledger({"e1": "verbatim"}), RunFindings("r"))
    assert claims is not None
    assert (claims.verified, claims.covered) == (3, 3)
    assert fast_claims([*listed, listed[0]], EventLog("r"), Ledger(), RunFindings("r")) is None


# --- splices

scraps = st.text(alphabet="ab. ,é1…", max_size=12)


def _longest_prefix(part: str, text: str) -> int:
    return max(size for size in range(len(part) + 1) if part[:size] in text)


@MANY
@given(scraps, st.lists(scraps, max_size=8))
@example("abababababababab", ["ab", "abab ababab", "abababab abababababa", "abababababababa"])
@example("aaaaaaaaaaaaaaaaaaaaaaab", ["aab", "aaaaaaaaab ", "aaaaaaaaaab ", "aaaaaaaaaaaab ", "aaaaaaaaaaaaaab "] * 3)
def test_the_longest_beginning_that_is_in_a_text(part: str, scraps: list[str]) -> None:
    text = "".join(scraps)
    for wanted in (part, part * 3, text[3:] + part, text[1:-2]):
        assert longest_prefix(wanted, text) == _longest_prefix(wanted, text)


@MANY
@given(scraps, st.lists(scraps, max_size=8))
def test_a_piece_ends_between_words(part: str, scraps: list[str]) -> None:
    text = "".join(scraps)
    for rest in (part, text[3:] + part, "b" + text):
        piece, following = rest[: (size := _longest_prefix(rest, text))], rest[size : size + 1]
        if piece[-1:].isascii() and piece[-1:].isalnum() and following.isalnum():
            piece = piece.rpartition(" ")[0]
        assert next_piece(rest, text) == piece


# --- texts together

odd_texts = st.text(alphabet="aKw 1.…“—é\u0301\u3099\uff9e\u1161\u11a8한カ\u200d²\ufeff", max_size=6)


@MANY
@given(st.lists(odd_texts | hostile, max_size=6), st.sampled_from([1, 1, 30]))
def test_a_sketch_of_all_texts_is_that_of_the_texts_as_one(texts: list[str], times: int) -> None:
    assert sketch_of_all(texts * times) == sketch("".join(texts * times))


def test_punctuation_joins_with_nothing_before_it() -> None:
    """For every sign of punctuation, behind letters that much joins with."""
    for code in range(sys.maxunicode + 1):
        sign = chr(code)
        if category(sign)[0] == "P":
            for before in ("A", "e", "한", "カ", "\u1100", "a\u0301"):
                assert normalize("NFKC", before + sign) == normalize("NFKC", before) + normalize("NFKC", sign)


@MANY
@given(st.lists(hostile | st.sampled_from(["a b", "a", "", "a\x00b", " a", "a \x00"]), max_size=4))
def test_texts_that_are_all_folded_already(texts: list[str]) -> None:
    assert not are_folded(texts) or [*map(fold, texts)] == texts
    assert are_folded(["a b", "", "c\x7f."])
