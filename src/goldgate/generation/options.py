"""What a user asks for, whatever the task is and whoever answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from goldgate.generation.plan import ResponseFormat
from goldgate.generation.shards import Shard


@dataclass(frozen=True, slots=True)
class GenerationOptions:
    """Where the answers go, of which model they are, and what may be spent on them.

    `out` is the folder of this process: of a shard, the one that it has in the folder of all.
    """

    out: Path
    model: str
    seeds: tuple[int, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    response_format: ResponseFormat = "auto"
    max_cost: Decimal | None = None
    max_total_tokens: int | None = None
    shard: Shard | None = None

    @property
    def all_seeds(self) -> tuple[int | None, ...]:
        """Each seed to ask with; None alone where none is sent."""
        return self.seeds or (None,)

    @property
    def whole(self) -> Path:
        """The folder of all shards; the same as `out` where there are none."""
        return self.out if self.shard is None else self.out.parents[1]

    def folder(self, seed: int | None) -> Path:
        """Where the files of one seed go: a folder each if there are several."""
        return self.out if len(self.seeds) < 2 else self.out / f"seed-{seed}"

    def folders(self) -> list[Path]:
        """One for each seed."""
        return [self.folder(seed) for seed in self.all_seeds]
