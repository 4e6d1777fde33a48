"""One-to-one pairs of rows and columns with the largest sum of weights. Sets of columns are bits of integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldgate.core.bitset import bitset, set_bits

RowWeights = Sequence[tuple[int, int]]  # weight, mask of the columns that have it
_FEW_COLUMNS = 8


def weight_levels(counters: Sequence[int]) -> RowWeights:
    """The columns that have each weight above 0; bit j of counter k is binary digit k of the weight of column j."""
    levels: list[tuple[int, int]] = [(0, -1)]
    for place, counter in reversed([*enumerate(counters)]):
        split = []
        for weight, mask in levels:
            above, below = mask & counter, mask & ~counter
            if above:
                split.append((weight | 1 << place, above))
            if below:
                split.append((weight, below))
        levels = split
    return [(weight, mask) for weight, mask in levels if weight]


def mask_of(columns: Sequence[int]) -> int:
    """The columns as bits, in time that grows with the last one, not with their product."""
    if len(columns) < _FEW_COLUMNS:
        return sum([1 << column for column in columns])
    return bitset(columns, max(columns) + 1)


def best_pairs(rows: Sequence[RowWeights], columns: int) -> dict[int, int]:
    """Row → column, so that the sum of weights is as large as possible. Earlier rows and columns win ties."""
    return _Assignment(rows, columns).solve()


def heaviest_pairs(weights: Sequence[Sequence[int]]) -> dict[int, int]:
    """Row → column, so that the sum of weights is as large as possible; pairs of weight 0 are left out.

    The Hungarian method with a table of weights of any size: n steps for each of n rows, in each of which n columns are
    looked at. 64 rows and columns take 50 ms at most, where `best_pairs` can take seconds.
    """
    size = max(map(len, (weights, *weights)))
    most = 1 + max((weight for row in weights for weight in row), default=0)
    table = [[*(most - weight for weight in row), *[most] * (size - len(row))] for row in weights]
    duals, column_duals = [0] * len(table), [0] * size
    row_of: dict[int, int] = {}
    for start in range(len(table)):
        slack = {column: cost - column_duals[column] for column, cost in enumerate(table[start])}
        before: dict[int, int] = {}  # the reached column from whose row each has its slack
        reached: list[int] = []
        while True:
            last = min(slack, key=slack.__getitem__)
            step = slack.pop(last)
            duals[start] += step
            for column in reached:
                duals[row_of[column]] += step
                column_duals[column] -= step
            reached.append(last)
            row = row_of.get(last)
            if row is None:
                break
            for column, least in slack.items():
                cost = table[row][column] - duals[row] - column_duals[column]
                slack[column] = min(cost, least - step)
                if cost < least - step:
                    before[column] = last
        while last in before:  # every row on the path moves on by one column
            row_of[last], last = row_of[before[last]], before[last]
        row_of[last] = start
    return {row: column for column, row in row_of.items() if column < len(weights[row]) and weights[row][column]}


def total_weight(rows: Sequence[RowWeights], pairs: Mapping[int, int]) -> int:
    """The sum of the weights of these pairs of a row and a column."""
    return sum(next((weight for weight, mask in rows[row] if mask >> column & 1), 0) for row, column in pairs.items())


class _Assignment:
    """The Hungarian method with whole duals, for small whole weights.

    All free rows have the same dual, which falls from the largest weight to 0, and at each level as many rows as
    possible are paired along tight edges. A row looks at all columns in one step, for they are bits: 2,000 rows and
    columns take a second at most, however dense.
    """

    def __init__(self, rows: Sequence[RowWeights], columns: int) -> None:
        self._rows = rows
        most = max((weight for row in rows for weight, _ in row), default=0)
        self._row_duals = [most] * len(rows)
        self._columns = {0: (1 << columns) - 1}  # dual → the columns that have it
        self._free_columns = (1 << columns) - 1
        self._row_of: dict[int, int] = {}
        self._column_of: dict[int, int] = {}
        self._free_rows = [row for row in range(len(rows)) if rows[row]]
        self._level = most

    def solve(self) -> dict[int, int]:
        while self._level > 0 and self._free_rows:
            reached = self._pair_tight()
            if not self._free_rows:
                break
            self._lower(reached)
        return self._column_of

    def _tight(self, row: int) -> int:
        dual, tight = self._row_duals[row], 0
        for weight, mask in self._rows[row]:
            columns = self._columns.get(weight - dual)
            if columns:
                tight |= mask & columns
        return tight

    def _pair_tight(self) -> int:
        """Pair as many free rows as tight edges allow; the columns that the others reach."""
        while True:
            visited, left = 0, []
            for row in self._free_rows:
                visited, paired = self._augment(row, visited)
                if not paired:
                    left.append(row)
            progress = len(left) < len(self._free_rows)
            self._free_rows = left
            if not progress or not left:
                return visited

    def _augment(self, row: int, visited: int) -> tuple[int, bool]:
        """Look for a free column along tight edges, depth first; the columns seen so far, and whether one was found."""
        path: list[tuple[int, int]] = []  # row, and the column by which the next row was reached
        while True:
            tight = self._tight(row) & ~visited
            free = tight & self._free_columns
            if free:
                column = (free & -free).bit_length() - 1
                self._free_columns ^= free & -free
                visited |= free & -free
                self._pair(row, column)
                for above, taken in reversed(path):
                    self._pair(above, taken)
                return visited, True
            if tight:
                low = tight & -tight
                visited |= low
                column = low.bit_length() - 1
                path.append((row, column))
                row = self._row_of[column]
            elif path:
                row, _ = path.pop()
            else:
                return visited, False

    def _pair(self, row: int, column: int) -> None:
        self._column_of[row] = column
        self._row_of[column] = row

    def _lower(self, reached: int) -> None:
        """Lower the duals of free rows and of those they reach until another edge is tight, or nothing is left."""
        rows = [*self._free_rows, *(self._row_of[column] for column in set_bits(reached))]
        step = self._level
        duals = sorted(self._columns)
        for row in rows:
            dual = self._row_duals[row]
            for weight, mask in self._rows[row]:
                if dual - weight >= step or not (outside := mask & ~reached):
                    continue
                for level in duals:
                    if dual + level - weight >= step:
                        break
                    if self._columns[level] & outside:
                        step = dual + level - weight
                        break
        for row in rows:
            self._row_duals[row] -= step
        self._level -= step
        lowered: dict[int, int] = {}
        for dual, columns in self._columns.items():
            for new, part in ((dual + step, columns & reached), (dual, columns & ~reached)):
                if part:
                    lowered[new] = lowered.get(new, 0) | part
        self._columns = lowered
