"""What an extraction evaluation came to, beside the counts: digests, settings, and its own parts of the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goldgate.core.gate import GateResult
from goldgate.core.metric import Metrics
from goldgate.core.page import counted
from goldgate.core.remarks import Remark, remark
from goldgate.core.suite import Outcome, Report
from goldgate.core.tally import Tally
from goldgate.readers.layouts.layout import Fields
from goldgate.suites.extraction.breakdown import breakdown, error_names, reading
from goldgate.suites.extraction.confusions import confusions
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.form import GOLD_SHAPES, form_of, form_signature
from goldgate.suites.extraction.hints import hints
from goldgate.suites.extraction.measures.hallucination import HALLUCINATION_VERSION
from goldgate.suites.extraction.measures.thought import THOUGHT_VERSION
from goldgate.suites.extraction.settings import PROFILE_VERSION, ExtractionSettings
from goldgate.suites.extraction.stands_out import stands_out

_WAS = {False: "was", True: "were"}

PARSER_VERSION = 3  # raised whenever the same response may be read otherwise


class ExtractionOutcome(Outcome):
    """Records from memory have no digests; those of files are filled in when they were read."""

    def __init__(self, settings: ExtractionSettings, schema: EventSchema | None) -> None:
        digest = schema.sha256 if schema is not None else None
        super().__init__({"gold": [], "predictions": [], "schema": digest}, _signed(settings, schema))
        self._schema = schema
        self._form = form_of(settings.response)
        self._settings = settings
        self._by_order = False
        self._gold_shapes: dict[str, int] = {}  # shape → records

    def note_reading(self, fields: Fields, *, by_order: bool) -> None:
        """Say in the signature where ids and responses were found, if not under our names, and what joined them."""
        self._by_order = by_order
        named = {"id_field": fields.id, "response_field": fields.response, "joined": "by_order" if by_order else None}
        self.settings.update({name: value for name, value in named.items() if value is not None})

    def note_counts(self, tally: Tally) -> None:
        counts = {shape: tally.counts[f"gold_shape.{shape}"] for shape in GOLD_SHAPES}
        self._gold_shapes = {shape: count for shape, count in counts.items() if count}
        if self._gold_shapes:
            self.settings["gold_shape"] = "+".join(self._gold_shapes)

    def part_names(self) -> list[tuple[str, ...]]:
        roles = {} if self._schema is None else self._schema.role_order
        return [*((name,) for name in roles), *((name, role) for name, of in roles.items() for role in of)]

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> dict[str, Any]:
        return {
            "errors": error_names(tally),
            "confusions": confusions(tally),
            "reading": reading(tally),
            "hints": hints(tally, self._form),
            "breakdown": breakdown(tally, self._settings),
        }

    def remarks(self, report: Report) -> Iterable[Remark]:
        if self._by_order:
            message = "the predictions have no ids: they were joined with the gold by their order"
            yield remark("joined_by_order", message)
        for shape, count in self._gold_shapes.items():
            records = counted(count, "gold record")
            message = f"{records} {'has' if count == 1 else 'have'} {GOLD_SHAPES[shape]}, and {_WAS[count > 1]} read so"
            yield remark("gold_shape", message, records=count)
        yield from stands_out(report, self._form, self._schema)


def _signed(settings: ExtractionSettings, schema: EventSchema | None) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    relaxed, cot = settings.relaxed, settings.cot
    threshold = (
        relaxed.char_overlap_threshold
        if relaxed.match_mode == "include_or_char_overlap"
        else relaxed.span_iou_threshold
    )
    return {
        "parser": PARSER_VERSION,
        "thoughts": "+".join(settings.response.thought_tags) or "none",
        **form_signature(form_of(settings.response)),
        "norm": settings.normalization,
        "relaxed": f"{relaxed.match_mode}>={threshold.normalize():f}",
        "schema": settings.schema.mode,
        "hallucination": f"{settings.hallucination.match_mode}.v{HALLUCINATION_VERSION}",
        "cot": f"{cot.mode}.v{THOUGHT_VERSION}{'+block' if cot.require_thought_block else ''}"
        if cot.enabled
        else "off",
        "types": "none" if schema is None else schema.digest[:12],
        **({} if settings.profile is None else {"profile": f"{settings.profile}.v{PROFILE_VERSION}"}),
    }
