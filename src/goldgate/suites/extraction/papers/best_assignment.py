"""The most that a one-to-one assignment can reach: the largest sum of weights, whatever the order of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest


def best_assignment(weights: Sequence[Sequence[int]]) -> int:
    """The largest sum of weights, not below zero, of which no two are in one row or one column.

    Kuhn and Munkres, with one search for each row of the smaller side. Of a row only its best columns can be needed,
    as many as there are rows: of these, the others leave at least one.
    """
    rows = [*map(list, weights)]
    if rows and len(rows) > len(rows[0]):
        rows = [*map(list, zip(*rows, strict=True))]
    needed = sorted({at for row in rows for at in nlargest(len(rows), range(len(row)), key=row.__getitem__)})
    rows = [[row[at] for at in needed] for row in rows]
    if len(rows) == 1:
        return max(rows[0])
    return _largest_sum(rows) if rows and rows[0] else 0


def _largest_sum(rows: list[list[int]]) -> int:
    """The same for no more rows than columns. Costs are negated weights; numbering is from 1, 0 stands for none."""
    columns = len(rows[0])
    of_row, of_column = [0] * (len(rows) + 1), [0] * (columns + 1)  # potentials
    row_at = [0] * (columns + 1)
    for start in range(1, len(rows) + 1):
        row_at[0] = start
        before = [0] * (columns + 1)
        slack: list[float] = [float("inf")] * (columns + 1)
        seen = [False] * (columns + 1)
        here = 0
        while row_at[here]:
            seen[here] = True
            row, least, following = row_at[here], float("inf"), 0
            for column in range(1, columns + 1):
                if seen[column]:
                    continue
                cost = -rows[row - 1][column - 1] - of_row[row] - of_column[column]
                if cost < slack[column]:
                    slack[column], before[column] = cost, here
                if slack[column] < least:
                    least, following = slack[column], column
            for column in range(columns + 1):
                if seen[column]:
                    of_row[row_at[column]] += int(least)
                    of_column[column] -= int(least)
                else:
                    slack[column] -= least
            here = following
        while here:
            row_at[here] = row_at[before[here]]
            here = before[here]
    return sum(rows[row_at[column] - 1][column - 1] for column in range(1, columns + 1) if row_at[column])
