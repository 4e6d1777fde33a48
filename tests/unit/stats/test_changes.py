from __future__ import annotations

from tests.cases import cases
from tests.unit.stats.changes import Changes, coverage


@cases(
    "changes",
    [
        Changes(1, 20, 0.2, False, "all"),
        Changes(1, 50, 0.02, True, "all"),
        Changes(3, 50, 0.1, False, "some"),
        Changes(10, 20, 0.05, False, "all"),  # whole answers are lost now and then
        Changes(10, 200, 0.02, False, "one"),
    ],
)
def test_the_interval_of_a_difference_holds_where_few_documents_differ(changes: Changes) -> None:
    assert coverage(changes, 200) >= 0.91  # 0.925 less the error of 200 data sets
