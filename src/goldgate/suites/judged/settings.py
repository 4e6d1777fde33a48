"""Settings of the judged suite: its section of a protocol."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from goldgate.shape import AtLeast, Share


@dataclass(frozen=True, slots=True)
class JudgedSettings:
    """The section `judged` of a protocol: everything that can change a number."""

    version: Literal["1.0"] = "1.0"
    labels: dict[str, Share] = field(default_factory=dict)  # words that are labels, and the number of each
    # trusted: take labels of people that goldgate did not draw as if they were a random sample; it stands out.
    sampling: Literal["drawn", "trusted"] = "drawn"
    # The least steps in which labels are counted: two results that are compared need the same.
    steps: Annotated[int, AtLeast(1)] = 1
