"""Data frames of pandas and of polars have the same columns and values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.comparison import COMPARISON_COLUMNS
from goldgate.core.evaluation import METRIC_COLUMNS

EXTRACTION = Path(__file__).resolve().parents[2] / "examples" / "extraction"

GOLD, SCHEMA = EXTRACTION / "gold.jsonl", EXTRACTION / "schema.json"
MODEL_A, MODEL_B = EXTRACTION / "model-a.jsonl", EXTRACTION / "model-b.jsonl"


@pytest.fixture(scope="module")
def evaluation() -> goldgate.Evaluation:
    return goldgate.evaluate_files(GOLD, MODEL_B, SCHEMA, records=True)


@pytest.fixture(scope="module")
def comparison() -> goldgate.Comparison:
    return goldgate.compare(MODEL_A, MODEL_B, gold=GOLD, schema=SCHEMA)


def rows(frame: Any) -> list[list[Any]]:
    """The cells as Python values; NaN, which is how pandas has a missing number, is None."""
    listed = frame.rows() if hasattr(frame, "rows") else frame.itertuples(index=False, name=None)
    return [[None if value != value else value for value in row] for row in listed]


def test_metrics_are_the_same_in_both(evaluation: goldgate.Evaluation) -> None:
    pandas, polars = evaluation.to_dataframe(), evaluation.to_dataframe("polars")
    assert [*pandas.columns] == polars.columns == [*METRIC_COLUMNS]
    assert rows(pandas) == rows(polars)
    assert [row[0] for row in rows(pandas)] == [*evaluation.metrics]
    f1 = next(row for row in rows(polars) if row[0] == "strict_f1")
    assert f1[1:] == [430 / 752, *(evaluation.interval("strict_f1") or ()), 430, 752, None]


def test_comparisons_are_the_same_in_both(comparison: goldgate.Comparison) -> None:
    pandas, polars = comparison.to_dataframe(), comparison.to_dataframe(library="polars")
    assert [*pandas.columns] == polars.columns == [*COMPARISON_COLUMNS]
    assert rows(pandas) == rows(polars)
    first = dict(zip(COMPARISON_COLUMNS, rows(polars)[0], strict=True))
    stored = comparison["strict_f1"]
    assert (first["value"], first["low"], first["p"]) == (
        stored["difference"]["value"], stored["difference"]["low"], stored["p"],
    )  # fmt: skip


def test_samples_have_a_column_for_each_part_of_their_record(evaluation: goldgate.Evaluation) -> None:
    import json

    pandas, polars = evaluation.samples_to_dataframe(), evaluation.samples_to_dataframe("polars")
    assert evaluation.samples is not None
    assert [*pandas.columns] == polars.columns == [*evaluation.samples[0]]
    assert [*pandas["id"]] == polars["id"].to_list()
    for ours, texts in zip(pandas["errors"], polars["errors"], strict=True):
        assert json.loads(texts) == json.loads(json.dumps(ours))


def test_what_is_in_no_64_bits_is_not_lost() -> None:
    from goldgate.core.evaluation import make_dataframe

    frame = make_dataframe([{"steps": 2**70}, {"steps": 1}], ["steps"], "polars")
    assert [float(value) for value in frame["steps"]] == [float(2**70), 1.0]
