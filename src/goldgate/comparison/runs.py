"""Several runs of one system by themselves: the mean of each rate, with the spread between runs and between units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldgate.comparison.joint_units import join_results
from goldgate.comparison.load import load_run
from goldgate.comparison.measured import of_runs
from goldgate.comparison.rates import columns_by_table, compared_rates


def summarize_folders(folders: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Each rate of the runs in these folders, which are of one suite and one gold."""
    runs = [load_run(folder) for folder in folders]
    suite = runs[0].suite
    rates = compared_rates(suite, runs[0].measured_by)
    joined = join_results(runs, columns_by_table(rates), rates[suite.headline[0]].table)
    places = range(len(runs))
    unit = "group" if joined.is_grouped else suite.pairing.unit or suite.unit
    return {
        name: of_runs(joined.pairs((rate.table,), rate.form), places, rate.share, unit) for name, rate in rates.items()
    }
