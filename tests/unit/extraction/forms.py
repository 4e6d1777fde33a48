"""Other forms of answers, as protocols declare them, and answers scored under them."""

from __future__ import annotations

import json
from typing import Any

import goldgate
from goldgate import Score
from goldgate.suites.extraction.events.answer_form import Form, form_of
from goldgate.suites.extraction.suite import SUITE
from goldgate.suites.plan import load_plan
from tests.unit.helpers import SCHEMA, Json, event, units_of

FLAT: Json = {"flat": {"event_type": {"from": "gold"}}}
FIXED: Json = {"flat": {"event_type": "Sue"}}
MAPPING: Json = {"arguments": "mapping"}
KEYS: Json = {
    "keys": {
        "events": ["results"],
        "event_type": ["event_type", "type"],
        "arguments": ["args", "arguments"],
        "role": ["name"],
        "argument": ["argument", "text", "span"],
    }
}
WORDS: Json = {"null_words": ["null", "None", "n/a", "无"]}
SUE = event("Sue", ("plaintiff", "Ann"), ("date", "May"))


def form(**settings: Any) -> Form:
    return form_of(load_plan(SUITE, {"metrics": {"response": settings}}).settings.response)


def score(response: Any, record: Any, strict: bool = False, **settings: Any) -> Score:
    mode = "schema_strict" if strict else "syntax_only"
    protocol = {"metrics": {"response": settings, "schema": {"mode": mode}}}
    text = response if isinstance(response, str) else json.dumps(response, ensure_ascii=False)
    scored: Score = goldgate.load_scorer(SCHEMA, protocol).score(text, record)
    return scored


def predicted(found: Score) -> Any:
    return units_of(found.record["predicted"])


def violations(found: Score) -> list[tuple[str, str]]:
    return [(entry["violation"], entry["path"]) for entry in found.record["violations"]]
