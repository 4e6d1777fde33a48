"""A matrix of counts: as a table of its pairs, and as grids to draw."""

from __future__ import annotations

from goldgate.core.page import Grid, Matrix, MatrixCell, Name

CELLS = (MatrixCell("a", "b", 3), MatrixCell("c", "a", 2), MatrixCell("a", "c", 1))


def test_a_grid_orders_rows_and_columns_alike_with_the_most_first() -> None:
    # a takes part in 3 + 2 + 1, b in 3, c in 2 + 1; of b and c the first by name.
    assert Matrix("gold", "predicted", CELLS).grids() == (
        Grid("", ("a", "c"), ("a", "b", "c"), ((0, 3, 1), (2, 0, 0))),
    )


def test_each_group_is_a_grid_of_its_own() -> None:
    cells = (MatrixCell("a", "b", 2, "T"), MatrixCell("a", "b", 3, "U"))
    matrix = Matrix("gold", "predicted", cells, "type")
    assert [(grid.group, grid.counts) for grid in matrix.grids()] == [("U", ((3,),)), ("T", ((2,),))]
    assert [row[0] for row in matrix.as_table().rows] == [Name("T"), Name("U")]
