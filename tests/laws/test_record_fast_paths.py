"""The same for what is written and read again, and for what is shown: ids, records, names, the weight of a sample.

See `test_fast_paths.py`.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from goldgate import Protocol, load_scorer
from goldgate.core.suite import Pairing
from goldgate.readers.records import decode_json, leading_id
from goldgate.readers.unit_records import CountIndex, fast_parse_unit, parse_unit, record_line
from goldgate.suites.extraction.explain import sample_summary
from goldgate.suites.extraction.scorer import error_weight

from .strategies import MANY, SCHEMA, protocols, samples, texts

# --- ids at the head of a line


@MANY
@given(st.one_of(texts, st.sampled_from(["1", "a b", "\\u0041", 'x"y', "\\"])), st.integers(0, 5))
def test_quick_ids(identity: str, form: int) -> None:
    record: dict[str, Any] = {"id": identity, "text": "x"} if form % 2 else {"text": "x", "id": identity}
    text = json.dumps(record, ensure_ascii=form % 3 == 0)
    if form == 5:
        text = "  " + text.replace('"id": ', '"id" :\t')
    data = text.encode()
    assert leading_id(data) in (None, decode_json(data)["id"].encode())


names = st.one_of(texts, st.sampled_from(["a]],[[b", '"],[1]],[["', ',"units":{', "\\", "]]]}", 'x","y']))
counted = st.dictionaries(st.sampled_from(["m", "n"]), st.lists(st.integers(0, 3), min_size=2, max_size=2), max_size=2)
parts = st.lists(st.tuples(st.tuples(st.just("m"), names), st.tuples(st.integers(0, 3), st.integers(0, 3))), max_size=4)
records = st.builds(
    lambda identity, more, units, part, group: _record(identity, more, units, part, group),
    *(names, names, counted, parts, st.none() | names),
)


def _record(identity: str, more: str, units: Any, part: Any, group: str | None) -> bytes:
    """A line as the pipeline writes it, with hostile text in all its places."""
    unit = {**{(name,): tuple(counts) for name, counts in units.items()}, **dict(part)}
    record = {"id": identity, "said": [more, {more: more}], "units of another": more}
    try:
        return record_line(record, unit, group)
    except TypeError:  # half of a surrogate pair
        return record_line({"id": "", "said": ascii(more)}, {})


@MANY
@given(st.lists(records, min_size=1, max_size=6))
def test_a_record_read_quickly_is_the_same_as_read_whole(lines: list[bytes]) -> None:
    """Whatever the names are, the numbers of a line stand for what the line says, also when they were met before."""
    index = CountIndex({"m": 2})
    for line in [*lines, *lines]:
        fast, whole = fast_parse_unit(line, index.by_piece), parse_unit(line, index, Pairing())
        if fast is not None:
            assert fast[0] == whole.identity
            assert index.unit(fast[1]) == index.unit(whole.numbers)
            assert (whole.group, whole.times) == (None, 1)


# --- what a page shows


@given(samples(), protocols())
def test_the_weight_of_a_sample_is_that_of_its_record(files: tuple[list[Any], list[Any]], protocol: Protocol) -> None:
    scorer = load_scorer(SCHEMA, protocol)
    stored = {prediction["id"]: prediction for prediction in files[1]}
    for gold in files[0]:
        prediction = stored.get(gold["id"], {})
        score = scorer.score(prediction.get("response", prediction.get("events")), gold)
        assert error_weight(score.facts) == sample_summary(json.loads(json.dumps(score.record))).weight
