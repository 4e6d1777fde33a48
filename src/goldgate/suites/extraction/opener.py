"""How the files of the suite are opened: in which dialect, and under which names ids and responses stand."""

from __future__ import annotations

from typing import Any

from goldgate.core.suite import Inputs
from goldgate.readers.layouts.layout import Fields
from goldgate.readers.pair_files import PairOpener


def pair_opener(inputs: Inputs) -> PairOpener:
    """What opens gold and predictions as these inputs say."""
    return PairOpener(one(inputs, "dialect"), Fields(one(inputs, "id_field"), one(inputs, "response_field")))


def one(inputs: Inputs, name: str) -> Any:
    """The one value of an input, or None."""
    return next(iter(inputs.get(name) or ()), None)
