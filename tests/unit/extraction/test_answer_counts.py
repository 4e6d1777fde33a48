"""What an answer counts, one document at a time: the sums of a report, within the bounds that measures declare."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from goldgate import evaluate_files
from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Rate
from goldgate.suites.extraction.events.event_schema import load_event_schema
from goldgate.suites.extraction.settings import ExtractionSettings
from goldgate.suites.extraction.task import EventCounter, load_documents

EXAMPLES = Path(__file__).parents[3] / "examples" / "extraction"
GOLD, SCHEMA = EXAMPLES / "gold.jsonl", EXAMPLES / "schema.json"


@pytest.fixture
def counts() -> Iterator[EventCounter]:
    documents = load_documents([GOLD])
    yield EventCounter(documents, ExtractionSettings(), load_event_schema(SCHEMA))
    documents.close()


def responses(model: str) -> dict[str, str]:
    lines = (EXAMPLES / f"{model}.jsonl").read_text(encoding="utf-8").splitlines()
    return {str(record["id"]): record["response"] for record in map(json.loads, lines) if "response" in record}


def test_the_counts_sum_up_to_the_report(counts: EventCounter) -> None:
    evaluation = evaluate_files(GOLD, EXAMPLES / "model-a.jsonl", SCHEMA)
    answers = responses("model-a")
    found = [counts(n, answers.get(counts.documents[n].id)) for n in range(len(counts.documents))]
    for measure in counts.scorer.measures:
        if isinstance(measure, RatioMeasure):
            for name in measure.ratios:
                pairs = [measure.forms[name].of(vector) for each in found if (vector := each[measure.table])]
                metric = evaluation.metrics[name]
                assert isinstance(metric, Rate)
                assert (metric.numerator, metric.denominator) == tuple(map(sum, zip(*pairs, strict=True))) or not pairs


@pytest.mark.parametrize("shift", [0, 1, 17])
def test_no_answer_breaks_the_bounds_that_a_measure_declares(counts: EventCounter, shift: int) -> None:
    """Fixed columns are those of no answer, single ones at most 1; also where documents get each other's answers."""
    answers = [*responses("model-b").values(), *responses("model-a").values()]
    for position, unanswered in enumerate(counts.unanswered()):
        found = counts(position, answers[(position + shift) % len(answers)])
        for measure in counts.scorer.measures:
            if not isinstance(measure, RatioMeasure) or (vector := found[measure.table]) is None:
                continue
            without = unanswered[measure.table] or (0,) * len(vector)
            for column, count, none in zip(measure.columns, vector, without, strict=True):
                assert column not in measure.fixed or count == none
                assert column not in measure.at_most_one or count in (0, 1)
            assert {*measure.fixed, *measure.at_most_one} <= {*measure.columns}
