"""The extraction suite: a model read documents and answered with events; its answers are compared with gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast, get_args

from goldgate.core.plan import Plan
from goldgate.core.suite import (
    GOLD,
    PREDICTIONS,
    Ability,
    Contract,
    Input,
    Inputs,
    Mapper,
    Measure,
    StoredRates,
    Suite,
)
from goldgate.core.tally import Tally
from goldgate.errors import as_yaml
from goldgate.suites.extraction.settings import ExtractionSettings, Profile

if TYPE_CHECKING:  # nothing heavy before it is used: the help of the command line names every suite
    from goldgate.core.contracts import SuiteReport
    from goldgate.core.page import Page, Picture
    from goldgate.core.unit_page import InputLookup, UnitPage, UnitSummary
    from goldgate.readers.joined_suite import JoinedSource
    from goldgate.suites.extraction.contracts import ExtractionReport, SampleRecord
    from goldgate.suites.extraction.sample import Facts


DIALECT = Input(
    "dialect",
    "Published format of the gold. Default: recognized. goldgate convert --help lists them.",
    metavar="NAME",
    required=False,
    is_path=False,
)


ID_FIELD = Input(
    "id_field",
    "Dotted path to a prediction's id, such as metadata.doc_id; also for gold records without id.",
    metavar="FIELD",
    required=False,
    is_path=False,
)
RESPONSE_FIELD = Input(
    "response_field",
    "Dotted path to what the model wrote, such as choices.0.text.",
    metavar="FIELD",
    required=False,
    is_path=False,
)

# Of commands beside the suite's own.
_GOLD_DIALECT = DIALECT._replace(help="Published format of the gold. Default: recognized.")
_GOLD_ID_FIELD = ID_FIELD._replace(help="Dotted path to the id of gold records without id, such as meta.doc_id.")
_CHECKED_SCHEMA = Input(
    "schema", "For gold: the event schema. Without it, types and roles are not checked.", required=False
)
_ROLES = Input("schema", "The event schema, for gold whose roles are keys of the event itself.", required=False)
_COREF = Input(
    "coref", "Coreference files of WikiEvents: arguments get all mentions of their entity.", many=True, required=False
)
_TASK_INPUTS = (
    GOLD._replace(help="Gold records with text."),
    Input("schema", "The event schema: event types and their roles. Without it: those of the gold.", required=False),
    DIALECT._replace(help="Published format of --gold and --train. Default: recognized."),
    Input(
        "prompt",
        "Prompt: en, en-thought, zh, zh-thought or a file.",
        metavar="NAME|FILE",
        required=False,
        is_path=False,
        default="en",
    ),
    Input("train", "Gold records to take examples from.", required=False),
    Input("few_shot", "Number of examples in a prompt.", metavar="N", required=False, is_path=False, default=0),
)
_FOLDER = "goldgate.suites.extraction"


class ExtractionSuite(Suite):
    """Strict, relaxed and type P/R/F1, parse diagnostics, schema compliance, hallucination, thoughts."""

    name = "extraction"
    about = "Score stored answers of an event extraction model."
    inputs = (
        GOLD,
        PREDICTIONS,
        Input(
            "schema",
            "The event schema: event types and their roles. Without it: those of the gold.",
            required=False,
        ),
        DIALECT,
        ID_FIELD,
        RESPONSE_FIELD,
    )
    section = "metrics"
    settings = ExtractionSettings
    metrics_version = "2.0"
    headline = ("strict_f1", "relaxed_f1", "type_f1")
    preload = f"{_FOLDER}.source"
    drawings = ("errors", "types", "confused-event-types", "confused-roles")
    abilities = (
        Ability("check", f"{_FOLDER}.check_gold:run_check", (_CHECKED_SCHEMA, _GOLD_DIALECT, _GOLD_ID_FIELD), "gold"),
        Ability("convert", f"{_FOLDER}.convert:run_convert", (_GOLD_DIALECT, _GOLD_ID_FIELD, _COREF, _ROLES)),
        Ability("generate", f"{_FOLDER}.task:open_task", _TASK_INPUTS),
        Ability("items", f"{_FOLDER}.explain:boundary_items", kind="boundary"),
        Ability("read", f"{_FOLDER}.read_responses:open_answer_reader"),
        Ability("schema", f"{_FOLDER}.convert:run_schema", (_GOLD_DIALECT,)),
        Ability("scorer", f"{_FOLDER}.api:load_event_scorer"),
    )

    @property
    def contracts(self) -> Mapping[str, Contract]:
        from goldgate.suites.extraction.contracts import CONTRACTS

        return CONTRACTS

    def check(self, plan: Plan) -> None:
        from goldgate.suites.extraction.settings import check_settings

        check_settings(plan)

    def measures(self, settings: ExtractionSettings) -> Sequence[Measure[Facts]]:
        from goldgate.suites.extraction.measures import extraction_measures

        return extraction_measures(settings)

    def recorded_settings(self, signed: Mapping[str, str]) -> ExtractionSettings:
        profile_name = signed.get("profile", "").partition(".")[0]
        return ExtractionSettings(
            profile=next((profile for profile in get_args(Profile) if profile == profile_name), None)
        )

    def setting_for(self, metric: str, settings: ExtractionSettings) -> str | None:
        from goldgate.core.gate import find_gate_target
        from goldgate.suites.extraction.papers import ALL, PROFILES

        for profile, made in PROFILES.items():
            added = [make(settings) for make in made]
            if (
                any(metric in measure.metrics(Tally()) for measure in added)
                or find_gate_target(metric, added) is not None
            ):
                return as_yaml("metrics.profile", profile if settings.profile is None else ALL)
        return None

    def open(
        self, inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
    ) -> AbstractContextManager[JoinedSource[Facts]]:
        from goldgate.suites.extraction.source import open_extraction_source

        return open_extraction_source(inputs, plan, engine)

    def open_inputs(self, inputs: Inputs, plan: Plan | None) -> AbstractContextManager[InputLookup]:
        from goldgate.suites.extraction.source import open_extraction_inputs

        return open_extraction_inputs(inputs, plan)

    def describe(self, report: SuiteReport) -> Page:
        from goldgate.suites.extraction.page import extraction_page

        return extraction_page(cast("ExtractionReport", report))

    def pictures(self, report: SuiteReport) -> tuple[Picture, ...]:
        from goldgate.suites.extraction.page import extraction_pictures

        return extraction_pictures(cast("ExtractionReport", report))

    def summary(self, record: Mapping[str, object]) -> UnitSummary:
        from goldgate.suites.extraction.explain import sample_summary

        return sample_summary(cast("SampleRecord", record))

    def unit_page(self, record: Mapping[str, object], inputs: Mapping[str, Any]) -> UnitPage:
        from goldgate.suites.extraction.explain.page import sample_page

        return sample_page(cast("SampleRecord", record), inputs)

    def stored(self, report: SuiteReport) -> StoredRates:
        from goldgate.suites.extraction.page import extraction_rates

        return extraction_rates(cast("ExtractionReport", report))


SUITE = ExtractionSuite()
