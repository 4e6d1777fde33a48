"""Evidence against stored sources: every failure has its own name, every level is counted."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from goldgate.core.finding import RunFindings
from goldgate.suites.research.run.claims import check_ledger
from goldgate.suites.research.run.evidence import EvidenceDemands, Sources, check_evidence
from goldgate.suites.research.run.files import Artifact
from goldgate.suites.research.text import (
    empty_claim_reason,
    empty_quote_reason,
    question_words,
)
from tests.cases import cases

from .judged import broken, counts, finding, judged, judged_run
from .trees import CHUNKS, SHA256, SOURCE, chunk, claim, evidence, output, write_golden, write_run

STORED = Sources({name: chunk(name) for name in CHUNKS})  # type: ignore[misc]  # as they are decoded
NOTHING = Sources({})


def check(record: dict[str, Any], sources: Sources = STORED, **demands: bool) -> tuple[str | None, str | None]:
    checked = check_evidence(record, sources, EvidenceDemands(**demands))
    return checked.level, checked.failure


def with_artifact(data: str = SOURCE, name: str | None = None, **chunk_fields: Any) -> Sources:
    real = hashlib.sha256(data.encode()).hexdigest()
    chunks = {key: chunk(key, **chunk_fields) for key in CHUNKS}
    return Sources(chunks, frozenset(), {name or real: Artifact(data.encode(), real)})  # type: ignore[arg-type]


@cases(
    ("change", "failure"),
    [
        ({}, None),
        ({"provenance": {}}, "provenance_missing"),
        ({"provenance": None}, "provenance_missing"),
        ({"provenance": {"source_id": " Unknown "}}, "provenance_missing"),
        ({"provenance": {"source_id": "N/A", "artifact_id": ""}}, "provenance_missing"),
        ({"provenance": {"artifact_id": "a1"}}, None),
        ({"chunk_id": ""}, "provenance_missing"),
        ({"chunk_id": None}, "provenance_missing"),
        ({"chunk_id": "unknown"}, "provenance_missing"),
        ({"quote": " …—! ", "span": None}, "blank_quote"),
        ({"quote": None, "span": None}, "blank_quote"),
        ({"provenance": {"source_id": "\u200b"}}, "provenance_missing"),
        ({"provenance": {"source_id": "\u3164", "artifact_id": "\u2060"}}, "provenance_missing"),
        ({"provenance": {"source_id": "\uff35NKN\u200bOWN."}}, "provenance_missing"),
        ({"provenance": {"source_id": "N. / A."}}, "provenance_missing"),
        ({"provenance": {"source_id": "\u6771\u4eac"}}, None),
        ({"chunk_id": "\u200b\ufeff"}, "provenance_missing"),
        ({"chunk_id": "\u3164"}, "provenance_missing"),
        ({"quote": "."}, "blank_quote"),  # even beside a span
        ({"quote": ""}, "blank_quote"),
        ({"quote": "\u200b"}, "blank_quote"),
        ({"quote": "\u3164\u115f"}, "blank_quote"),  # letters to Unicode, and nothing to see
        ({"quote": "\u02bc"}, "blank_quote"),  # a modifier letter, folded to an apostrophe
        ({"quote": "\u02d0 \u0640\u30fc"}, "blank_quote"),
        ({"quote": "\u00aa\u00b2"}, "blank_quote"),  # raised signs
        ({"chunk_id": "\u02bc\u0640"}, "provenance_missing"),
        ({"quote": None}, None),  # a span by itself is enough
        ({"span": None}, None),  # and so is a quote
        ({"span": {"start": -1, "end": 4}}, "span_out_of_range"),
        ({"span": {"start": 5, "end": 5}}, "span_out_of_range"),
        ({"span": {"start": 9, "end": 5}}, "span_out_of_range"),
        ({"span": {"start": True, "end": 5}}, "malformed"),
        ({"span": {"start": 0.0, "end": 5}}, "malformed"),
        ({"span": "0-5"}, "malformed"),
        ({"quote": 7}, "malformed"),
    ],
)
def test_what_needs_no_source_to_be_checked(change: dict[str, Any], failure: str | None) -> None:
    level, found = check({**evidence(), **change}, NOTHING)
    assert found == failure
    assert level == (None if failure else "structural")


@cases(
    ("record", "failure"),
    [
        (evidence(), None),
        (evidence(span=None), None),
        (evidence(quote=None, span={"start": 0, "end": 11}), None),
        (evidence(quote=None, span={"start": 3, "end": 4}), "blank_quote"),  # it holds a space
        (evidence(quote=None, span={"start": 30, "end": 38}), "span_out_of_range"),  # the chunk has 37
        (evidence(quote=".", span={"start": 36, "end": 37}), "blank_quote"),  # it is there, and says nothing
        (evidence(span={"start": 0, "end": 13}), "span_shifted"),
        (evidence(quote="eleven days", span=None), "misattributed"),
        (evidence(provenance={"source_id": "elsewhere"}), "misattributed"),
        (evidence(quote="The harbour froze in 1871"), "spliced"),
        (evidence(quote="The harbour of Oldwick [...] in 1871"), "spliced"),
        (evidence(quote="froze in 1872"), "fabricated"),
        (evidence(quote="FROZE in 1871"), "fabricated"),  # case is never folded
        (evidence(chunk="c3", quote="Somebody was hurt"), "fabricated"),
    ],
)
def test_what_the_stored_text_says(record: dict[str, Any], failure: str | None) -> None:
    level, found = check(record)
    assert found == failure
    assert level == (None if failure else "verbatim")


def test_a_shifted_span_is_reported_with_the_true_offset() -> None:
    shifted = check_evidence(evidence(span={"start": 0, "end": 13}), STORED, EvidenceDemands())
    assert shifted.message == "the quote is at 23 of the chunk, not at 0"
    folded = check_evidence(
        evidence(chunk="c3", quote='"thanked"', span={"start": 0, "end": 9}), STORED, EvidenceDemands()
    )
    assert folded.message == "the quote is at 31 of the chunk, not at 0"
    start, end = CHUNKS["c3"]
    assert SOURCE[start:end].index("“thanked”") == 31  # after "Nobody was hurt, " (17) and "and the mayor " (14)


@cases(
    ("text", "quote"),
    [
        ("the “quoted” word", 'the "quoted" word'),
        ("it’s here", "it's here"),
        ("1914–1918", "1914-1918"),
        ("a — b", "a - b"),
        ("one\n  two\tthree", "one two three"),
        ("hy\u00adphen", "hyphen"),
        ("cafe\u0301", "caf\u00e9"),
        ("non\u00a0breaking", "non breaking"),
    ],
)
def test_typesetting_is_folded(text: str, quote: str) -> None:
    sources = Sources({"c": {"chunk_id": "c", "source_id": "annals", "text": f"Before. {text} After."}})
    record = {"evidence_id": "e", "chunk_id": "c", "quote": quote, "provenance": {"source_id": "annals"}}
    assert check(record, sources) == ("verbatim", None)
    record["span"] = {"start": 8, "end": 8 + len(text)}
    assert check(record, sources) == ("verbatim", None)


@cases("quote", ["It is safe", "it is not safe", "It is not  unsafe", "It is not saf e"])
def test_nothing_is_matched_fuzzily(quote: str) -> None:
    sources = Sources({"c": {"chunk_id": "c", "source_id": "s", "text": "It is not safe."}})
    record = {"evidence_id": "e", "chunk_id": "c", "quote": quote, "provenance": {"source_id": "s"}}
    assert check(record, sources)[0] is None


def test_quote_and_span_demands_both() -> None:
    assert check(evidence(), quote_and_span=True) == ("verbatim", None)
    assert check(evidence(span=None), quote_and_span=True) == (None, "span_missing")
    assert check(evidence(quote=None, span={"start": 0, "end": 5}), quote_and_span=True) == (None, "blank_quote")


def test_require_verbatim_makes_a_missing_text_a_failure() -> None:
    assert check(evidence(), NOTHING, verbatim=True) == (None, "text_missing")
    assert check(evidence(), STORED, verbatim=True) == ("verbatim", None)


def test_the_chain_reaches_the_artifact() -> None:
    provenance = {"source_id": "annals", "content_hash": f"sha256:{SHA256.upper()}"}
    assert check(evidence(provenance=provenance), with_artifact()) == ("chain", None)
    assert check(evidence(), with_artifact(artifact_id=SHA256)) == ("chain", None)
    assert check(evidence(), with_artifact()) == ("verbatim", None)  # nothing says which artifact it is
    assert check(evidence(provenance={"artifact_id": SHA256}), with_artifact()) == ("chain", None)


def test_a_wrong_hash_anywhere_in_the_chain() -> None:
    provenance = {"source_id": "annals", "content_hash": SHA256}
    changed = with_artifact("Something else", name=SHA256)
    assert check(evidence(provenance=provenance), changed) == (None, "hash_mismatch")
    two = {"source_id": "annals", "content_hash": SHA256, "artifact_id": "0" * 64}
    assert check(evidence(provenance=two), with_artifact()) == (None, "hash_mismatch")
    assert check(evidence(), Sources({"c1": chunk("c1", text_hash="0" * 64)})) == (None, "hash_mismatch")  # type: ignore[dict-item]


def test_a_chunk_that_is_not_in_its_artifact() -> None:
    provenance = {"source_id": "annals", "artifact_id": SHA256}
    shifted = with_artifact(start_offset=3, end_offset=40)
    checked = check_evidence(evidence(provenance=provenance), shifted, EvidenceDemands())
    assert checked.failure == "span_shifted"
    assert "begins at 0 of its artifact, not at 3" in checked.message
    moved = with_artifact("x" * 10)
    (name,) = moved.artifacts
    assert check(evidence(provenance={"artifact_id": name}), moved) == (None, "fabricated")
    without_offsets = with_artifact(start_offset=None, end_offset=None)
    assert check(evidence(provenance=provenance), without_offsets) == ("chain", None)


def test_an_artifact_that_is_no_text_is_checked_by_its_hash(tmp_path: Path) -> None:
    data = b"%PDF\xff\xfe"
    name = hashlib.sha256(data).hexdigest()
    sources = Sources({"c1": chunk("c1")}, frozenset(), {name: Artifact(data, name)})  # type: ignore[dict-item]
    assert check(evidence(provenance={"artifact_id": name}), sources) == ("verbatim", None)


def test_levels_and_failures_stand_beside_the_rate(tmp_path: Path) -> None:
    write_golden(tmp_path)
    ledger = [
        evidence("e1", provenance={"source_id": "annals", "content_hash": SHA256}),
        evidence("e2", "c2", "eleven days"),
        evidence("e3", chunk="c1") | {"chunk_id": "c9"},
        evidence("e5", chunk="c1") | {"chunk_id": "c9", "provenance": {"artifact_id": SHA256}},
        evidence("e4", quote="froze in 1872"),
    ]
    write_run(tmp_path / "outputs", out=output(evidence=ledger), artifact=True)
    evaluation = judged(tmp_path)
    shown = evaluation.report["evidence"]
    assert shown["levels"] == {"structural": 0, "verbatim": 1, "chain": 2, "anchored": 0}
    assert shown["failures"] == {"dangling_chunk": 1, "fabricated": 1}


PAGE = (
    "<!DOCTYPE html><html><head><title>Annals</title><style>p {color: red}</style></head><body>"
    "<!-- it did not freeze --><h1>Oldwick</h1><p>The harbour of <b>Old</b>wick froze&nbsp;in 1871.</p>"
    "<script>froze = 1872</script></body></html>"
)


@pytest.mark.parametrize("stores_chunks", [False, True])
@pytest.mark.parametrize(
    ("data", "quote", "level", "failure"),
    [
        (b"The harbour froze  in 1871.", "froze in 1871", "chain", None),
        (b"The harbour froze in 1871.", "froze in 1872", None, "fabricated"),
        (PAGE.encode(), "The harbour of Oldwick froze in 1871.", "chain", None),
        (PAGE.encode(), "froze = 1872", None, "fabricated"),
        (PAGE.encode(), "it did not freeze", None, "fabricated"),
        (PAGE.encode(), "color: red", None, "fabricated"),
        (b"%PDF-1.7 froze in 1871", "froze in 1871", "structural", None),  # no text: nothing can be said
        ("froze in 1871".encode("utf-16"), "froze in 1871", "structural", None),
        ("froze in 1871".encode("utf-16-le"), "froze in 1871", "structural", None),
        (b"The harbour froze in 1871.", None, "structural", None),  # a span of a chunk that is not there
        (None, "froze in 1871", "structural", None),
    ],
)
def test_a_quote_whose_chunk_is_not_stored_is_held_against_the_artifact(
    data: bytes | None, quote: str | None, level: str | None, failure: str | None, stores_chunks: bool
) -> None:
    name = hashlib.sha256(data or b"").hexdigest()
    record: dict[str, Any] = {"evidence_id": "e1", "chunk_id": "c\u200b1", "provenance": {"artifact_id": name}}
    record |= {"span": {"start": 3, "end": 9}} if quote is None else {"quote": quote}
    chunks: dict[str, Any] = {"c1": chunk("c1")} if stores_chunks else {}
    artifacts = {} if data is None else {name: Artifact(data, name)}
    if level == "structural" and stores_chunks:
        level, failure = None, "dangling_chunk"
    assert check(record, Sources(chunks, frozenset(), artifacts)) == (level, failure)


def test_an_artifact_under_another_name_is_the_artifact_of_its_hash(tmp_path: Path) -> None:
    write_golden(tmp_path)
    record = evidence(quote="froze in 1872", provenance={"source_id": "annals", "content_hash": SHA256})
    run = write_run(tmp_path / "outputs", out=output(evidence=[record | {"chunk_id": "c9"}]), chunks=[])
    (run / "artifacts").mkdir()
    (run / "artifacts" / "annals.txt").write_text(SOURCE, encoding="utf-8")
    evaluation = judged(tmp_path)
    assert evaluation.report["evidence"]["failures"] == {"fabricated": 1}
    message = finding(evaluation, "fabricated")["message"]
    assert "the quote “froze in 1872” is not in the stored artifact" in message
    assert message.endswith("the nearest stored text is “froze in 1871”")


@pytest.mark.parametrize(
    ("chunks", "is_broken", "failure"),
    [
        ('{"chunk_id": "c1", "source_id": "annals", "te', True, "dangling_chunk"),
        ('{"chunk_id": "c1", "source_id": "annals"}\n', False, "dangling_chunk"),  # no text: it confirms nothing
        ('{"chunk_id": "c1", "source_id": "annals", "text": ""}\n', False, "span_out_of_range"),
        ("\n \n", False, None),
    ],
)
def test_chunks_that_say_nothing(tmp_path: Path, chunks: str, is_broken: bool, failure: str | None) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    (run / "chunks.jsonl").write_text(chunks)
    evaluation = judged(tmp_path)
    assert bool(broken(evaluation)) == is_broken
    assert is_broken or evaluation.report["evidence"]["failures"] == ({failure: 1} if failure else {})
    assert evaluation.report["gates"][0]["verdict"] == ("FAIL" if is_broken or failure else "PASS")


def test_a_reference_into_nothing_dangles(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, out=output(claims=[claim(ids=("e9",)), claim("k2", ("e1", "e8"))]))
    assert counts(evaluation, "evidence_coverage_rate") == (1, 2)
    dangling = [f["pointer"] for f in evaluation.report["findings"] if f["code"] == "dangling_ref"]
    assert dangling == ["/claims/0/evidence_ids", "/claims/1/evidence_ids"]


def test_two_different_records_under_one_id_are_both_void(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, out=output(evidence=[evidence(), evidence(), evidence(quote="The harbour")]))
    assert finding(evaluation, "conflicting_id")["pointer"] == "/evidence/2"
    assert counts(evaluation, "golden_recall") == (0, 1)
    assert evaluation.report["conservation"]["evidence"] == {"total": 1, "valid": 0, "failed": 1}


def test_a_chunk_stored_twice_with_different_text_is_no_source(tmp_path: Path) -> None:
    write_golden(tmp_path)
    chunks = [chunk("c1"), chunk("c1"), chunk("c1", text="It froze in 1871, or so they say.")]
    write_run(tmp_path / "outputs", chunks=chunks)
    evaluation = judged(tmp_path)
    assert counts(evaluation, "evidence_coverage_rate") == (0, 1)
    assert evaluation.report["evidence"]["failures"] == {"conflicting_id": 1}


@pytest.mark.parametrize("record", [None, 7, [], {}, {"evidence_id": " "}, {"evidence_id": 3}])
def test_a_record_that_is_none_is_counted_and_never_valid(tmp_path: Path, record: Any) -> None:
    evaluation = judged_run(tmp_path, out=output(evidence=[evidence(), record]))
    assert evaluation.report["conservation"]["evidence"] == {"total": 2, "valid": 1, "failed": 1}
    assert evaluation.report["evidence"]["failures"] == {"malformed": 1}
    assert counts(evaluation, "evidence_coverage_rate") == (1, 1)


@cases(
    ("quote", "reason"),
    [
        ("the", "function words"),
        ("of the", "function words"),
        ("And it was in", "function words"),
        ("und", "function words"),  # a short word of another language
        ("ing", "function words"),
        ("的", "function words"),
        ("就是在", "function words"),
        ("All rights reserved.", "boilerplate"),
        ("© 2021 Example Ltd.", "boilerplate"),
        ("Privacy Policy | Terms of Use", "boilerplate"),
        ("Page 3 of 10", "boilerplate"),
        ("版权所有", "boilerplate"),
        ("第 3 页", "boilerplate"),
        ("点击这里", "boilerplate"),
        ("1871", None),
        ("31", None),
        ("UK", None),
        ("Bob", None),
        ("froze in 1871", None),
        ("the mayor", None),
        ("The privacy policy was changed in 2018", None),
        ("a page of the register", None),
        ("港口", None),
        ("不结冰", None),
    ],
)
def test_quotes_that_are_evidence_of_nothing(quote: str, reason: str | None) -> None:
    assert empty_quote_reason(quote) == reason


WHEN, WAS, WHEN_CHINESE = (
    "When did the harbour of Oldwick freeze?",
    "Was lead found in the water?",
    "港口什么时候结冰？",
)


@cases(
    ("objective", "statement", "empty"),
    [
        (WHEN, WHEN, True),
        (WHEN, "The harbour of Oldwick did freeze.", True),
        (WHEN, "The document mentions when the harbour of Oldwick did freeze.", True),
        (WHEN, "The harbour is the harbour.", True),
        (WHEN, "A rose is a rose.", True),
        (WHEN, "It is what it is.", True),
        (WHEN, "See the evidence.", True),
        (WHEN, "Ships either waited or did not wait (7).", True),
        (WHEN, "3. A rose is a rose.", True),
        (WHEN, "1871 is 1871.", True),
        (WHEN, "Something happened.", True),
        (WHEN, "", True),
        (WHEN, "It may or may not have frozen.", True),
        (WHEN, "Ships either waited or did not wait.", True),
        (WHEN, "If ships waited then ships waited.", True),
        (WHEN, "Did it freeze in 1871?", True),
        (WHEN, "It froze in 1871.", False),
        (WHEN, "The harbour of Oldwick did not freeze.", False),
        (WHEN, "1871", False),
        (WHEN, "Nobody knows whether or not the harbour froze in 1871.", False),
        (WHEN, "Ships waited or did not leave the harbour.", False),
        (WHEN, "Time is money.", False),
        (WAS, "Lead was found in the water.", False),  # this answers a question of yes or no
        (WAS, "Yes.", False),
        (WAS, "No lead was found.", False),
        ("Which is older, the tower or the bridge?", "The tower is older.", False),
        (WHEN_CHINESE, "港口结冰。", True),
        (WHEN_CHINESE, "港口就是港口。", True),
        (WHEN_CHINESE, "港口可能结冰，也可能不结冰。", True),
        (WHEN_CHINESE, "港口结冰或不结冰。", True),
        (WHEN_CHINESE, "如果结冰，那么结冰。", True),
        (WHEN_CHINESE, "参见上述证据。", True),
        (WHEN_CHINESE, "港口在1871年结冰。", False),
        (WHEN_CHINESE, "港口没有结冰。", False),
        ("港口是否结冰？", "港口结冰。", False),
    ],
)
def test_claims_that_claim_nothing(objective: str, statement: str, empty: bool) -> None:
    assert (empty_claim_reason(statement, question_words(objective)) is not None) == empty


def test_whole_chunks_and_headings_are_evidence_of_nothing() -> None:
    long = "The harbour of Oldwick froze in 1871. " * 4
    chunks = {
        f"c{k}": {"chunk_id": f"c{k}", "source_id": "s", "text": f"Annals of Oldwick {long}{k}"} for k in range(5)
    }
    chunks["short"] = {"chunk_id": "short", "source_id": "s", "text": "The harbour of Oldwick froze in 1871."}
    sources = Sources(chunks)  # type: ignore[arg-type]

    def record(name: str, chunk_id: str, **more: Any) -> dict[str, Any]:
        return {"evidence_id": name, "chunk_id": chunk_id, "provenance": {"source_id": "s"}, **more}

    output = {
        "claims": [],
        "evidence": [
            record("whole", "c1", quote=chunks["c1"]["text"]),
            record("nearly", "c2", span={"start": 0, "end": 150}),
            record("half", "c2", span={"start": 0, "end": 80}),
            record("sentence", "short", quote=chunks["short"]["text"]),
            record("the", "c3", span={"start": 18, "end": 21}),
            *(record(f"heading{k}", f"c{k}", quote="Annals of Oldwick") for k in range(4)),
            *(record(f"twice{k}", "c4", quote="froze in 1871") for k in range(4)),
        ],
    }
    ledger = check_ledger(output, sources, EvidenceDemands(), RunFindings("r"))
    assert len(ledger.valid) == len(output["evidence"])
    headings = {f"heading{k}": "boilerplate" for k in range(4)}
    assert ledger.empty == {"whole": "whole chunks", "nearly": "whole chunks", "the": "function words", **headings}
