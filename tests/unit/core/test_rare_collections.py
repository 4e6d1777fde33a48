"""The threshold is raised inside and given back, also after an error; what somebody else set is respected."""

from __future__ import annotations

import gc

import pytest

from goldgate.core.process import GC_THRESHOLD, infrequent_gc
from tests.cases import cases


@cases(("before", "inside"), [(700, GC_THRESHOLD), (0, 0), (GC_THRESHOLD * 2, GC_THRESHOLD * 2)])
def test_the_threshold_is_given_back(before: int, inside: int) -> None:
    known = gc.get_threshold()
    try:
        gc.set_threshold(before, 7, 9)
        with pytest.raises(RuntimeError) as raised, infrequent_gc():
            raise RuntimeError(gc.get_threshold())
        assert raised.value.args == ((inside, 7, 9),)
        assert gc.get_threshold() == (before, 7, 9)
    finally:
        gc.set_threshold(*known)
