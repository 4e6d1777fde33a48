"""The most that a one-to-one assignment can reach: the largest sum of weights, whatever the order of the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldgate.suites.extraction.events.largest_matching import largest_matching, ones

Levels = Mapping[int, int]  # a row: weight above zero → the columns that have it, as bits


def best_assignment(rows: Sequence[Levels], columns: int) -> int:
    """The largest sum of weights of which no two are in one row or one column.

    Kuhn and Munkres, all free rows at once. Every row begins with the largest weight as its price, every column with
    0. Two prices are never below the weight that row and column have in common, and pairs are made only where they
    equal it. After a largest matching of these, the rows that free rows reach become cheaper and the columns dearer
    until a new pair is possible. When the free rows, which are always the cheapest, are down to 0, all prices together
    are the weights of the pairs: no assignment has more.
    """
    prices = _Prices(rows, columns)
    left_of: dict[int, int] = {}
    while prices.free > 0:
        equal: dict[int, int] = {}

        def row(number: int, equal: dict[int, int] = equal) -> int:
            if number not in equal:
                equal[number] = prices.equal_to_weight(number)
            return equal[number]

        left_of = largest_matching(len(rows), columns, row, left_of)
        reached, reached_columns = sorted({*range(len(rows))}.difference(left_of.values())), 0
        for number in reached:  # it grows on the way
            new = row(number) & ~reached_columns
            reached_columns |= new
            reached += [left_of[column] for column in ones(new)]
        if not reached:
            break
        prices.shift(reached, reached_columns)
    return prices.total()


class _Prices:
    """What rows and columns cost; `free` is the price of every row that has no partner."""

    def __init__(self, rows: Sequence[Levels], columns: int) -> None:
        self.rows = [dict(sorted(levels.items(), reverse=True)) for levels in rows]  # the largest weight first
        self.free = max((weight for levels in rows for weight in levels), default=0)
        self.of_row = [self.free] * len(rows)
        self.columns_at = {0: (1 << columns) - 1}  # price → the columns that have it

    def equal_to_weight(self, number: int) -> int:
        """The columns with which a row costs no more than their weight."""
        bits, price = 0, self.of_row[number]
        for weight, columns in self.rows[number].items():
            bits |= columns & self.columns_at.get(weight - price, 0)
        return bits

    def shift(self, reached: Sequence[int], reached_columns: int) -> None:
        """Lower the price of these rows, and raise that of these columns, until another pair is possible."""
        step = min(self.free, min(self._slack(number, ~reached_columns) for number in reached))
        self.free -= step
        for number in reached:
            self.of_row[number] -= step
        shifted: dict[int, int] = {}
        for price, columns in self.columns_at.items():
            for new, part in ((price, columns & ~reached_columns), (price + step, columns & reached_columns)):
                if part:
                    shifted[new] = shifted.get(new, 0) | part
        self.columns_at = dict(sorted(shifted.items()))  # the lowest price first

    def _slack(self, number: int, others: int) -> int:
        """By how much the price of a row may fall, as far as columns that were not reached are concerned."""
        least = own = self.of_row[number]
        for weight, places in self.rows[number].items():
            if own - weight >= least:
                break
            for price, columns in self.columns_at.items():
                if own + price - weight >= least:
                    break
                if places & columns & others:
                    least = own + price - weight
        return least

    def total(self) -> int:
        return sum(self.of_row) + sum(price * columns.bit_count() for price, columns in self.columns_at.items())
