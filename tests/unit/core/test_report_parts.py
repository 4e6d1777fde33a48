"""A report that is written part by part has the bytes of one that is written as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core import evaluation
from goldgate.core.evaluation import json_parts, render_json

scalars = st.none() | st.booleans() | st.integers(-5, 2**65) | st.floats(allow_nan=False) | st.text(max_size=4)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@given(st.dictionaries(st.text(max_size=4), values | st.lists(values, min_size=3, max_size=9), min_size=1, max_size=4))
def test_the_parts_are_the_whole(report: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(evaluation, "_PIECE", 2)
        assert b"".join(json_parts(report)) == render_json(report)
