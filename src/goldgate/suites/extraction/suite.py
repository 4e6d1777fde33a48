"""The extraction suite: a model read documents and answered with events; its answers are compared with gold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from goldgate.core.suite import (
    ALLOW_EMPTY,
    GOLD,
    GOLD_ID_FIELD,
    ID_FIELD,
    PREDICTIONS,
    RESPONSE_FIELD,
    Ability,
    Input,
    Suite,
    deferred,
    word_input,
)
from goldgate.core.tally import Tally
from goldgate.errors import as_yaml
from goldgate.suites.extraction.settings import ExtractionSettings, Profile

DIALECT = word_input(
    "dialect", "Published format of the gold. Default: recognized. goldgate convert --help lists them.", "NAME"
)

# Of commands beside the suite's own.
_GOLD_DIALECT = DIALECT._replace(help="Published format of the gold. Default: recognized.")
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
    word_input("prompt", "Prompt: en, en-thought, zh, zh-thought or a file.", "NAME|FILE", "en"),
    Input("train", "Gold records to take examples from.", required=False),
    word_input("few_shot", "Number of examples in a prompt.", "N", 0),
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
        ALLOW_EMPTY,
    )
    section = "metrics"
    settings = ExtractionSettings
    metrics_version = "2.0"
    headline = ("strict_f1", "relaxed_f1", "type_f1")
    preload = f"{_FOLDER}.source"
    drawings = ("errors", "types", "confused-event-types", "confused-roles")
    abilities = (
        Ability("check", f"{_FOLDER}.gold_commands:run_check", (_CHECKED_SCHEMA, _GOLD_DIALECT, GOLD_ID_FIELD), "gold"),
        Ability("convert", f"{_FOLDER}.gold_commands:run_convert", (_GOLD_DIALECT, GOLD_ID_FIELD, _COREF, _ROLES)),
        Ability("generate", f"{_FOLDER}.task:open_task", _TASK_INPUTS),
        Ability("items", f"{_FOLDER}.explain:boundary_items", kind="boundary"),
        Ability("read", f"{_FOLDER}.explain:open_answer_reader"),
        Ability("schema", f"{_FOLDER}.gold_commands:run_schema", (_GOLD_DIALECT,)),
        Ability("scorer", f"{_FOLDER}.api:load_event_scorer"),
    )

    contracts = deferred(f"{_FOLDER}.contracts:CONTRACTS")
    check = deferred(f"{_FOLDER}.settings:check_settings")
    measures = deferred(f"{_FOLDER}.measures:extraction_measures")
    open = deferred(f"{_FOLDER}.source:open_extraction_source")
    open_inputs = deferred(f"{_FOLDER}.source:open_extraction_inputs")
    describe = deferred(f"{_FOLDER}.page:extraction_page")
    pictures = deferred(f"{_FOLDER}.page:extraction_pictures")
    stored_rates = deferred(f"{_FOLDER}.page:extraction_rates")
    summary = deferred(f"{_FOLDER}.explain:sample_summary")
    unit_page = deferred(f"{_FOLDER}.sample_page:sample_page")

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


SUITE = ExtractionSuite()
