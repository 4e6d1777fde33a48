"""Goldgate: from stored model outputs to numbers that can be trusted and a verdict that can gate a release.

The public names below are imported when they are first used, so `import goldgate` costs nothing.
"""

from typing import TYPE_CHECKING

__version__ = "0.1.0"

__all__ = [
    "Comparison",
    "Evaluation",
    "EventSchema",
    "GoldgateError",
    "Protocol",
    "Score",
    "Scorer",
    "__version__",
    "compare",
    "evaluate",
    "evaluate_fields",
    "evaluate_files",
    "evaluate_outputs",
    "load_event_schema",
    "load_protocol",
    "load_scorer",
    "parse_gold",
    "parse_response",
    "render",
    "track",
]

if TYPE_CHECKING:
    from goldgate.api import load_scorer
    from goldgate.comparison import Comparison, compare
    from goldgate.core.evaluation import Evaluation
    from goldgate.errors import GoldgateError
    from goldgate.protocol import Protocol
    from goldgate.report import render
    from goldgate.suites.extraction.api import evaluate, evaluate_files
    from goldgate.suites.extraction.events.answer_form import parse_response
    from goldgate.suites.extraction.events.event_schema import EventSchema, load_event_schema
    from goldgate.suites.extraction.records import parse_gold
    from goldgate.suites.extraction.scorer import Score, Scorer
    from goldgate.suites.fields.api import evaluate_fields
    from goldgate.suites.plan import load_protocol
    from goldgate.suites.research.suite import evaluate_outputs
    from goldgate.tracking import track
else:
    _HOMES = {
        "Comparison": "goldgate.comparison",
        "Evaluation": "goldgate.core.evaluation",
        "EventSchema": "goldgate.suites.extraction.events.event_schema",
        "GoldgateError": "goldgate.errors",
        "Protocol": "goldgate.protocol",
        "Score": "goldgate.suites.extraction.scorer",
        "Scorer": "goldgate.suites.extraction.scorer",
        "compare": "goldgate.comparison",
        "evaluate": "goldgate.suites.extraction.api",
        "evaluate_fields": "goldgate.suites.fields.api",
        "evaluate_files": "goldgate.suites.extraction.api",
        "evaluate_outputs": "goldgate.suites.research.suite",
        "load_event_schema": "goldgate.suites.extraction.events.event_schema",
        "load_protocol": "goldgate.suites.plan",
        "load_scorer": "goldgate.api",
        "parse_gold": "goldgate.suites.extraction.records",
        "parse_response": "goldgate.suites.extraction.events.answer_form",
        "render": "goldgate.report",
        "track": "goldgate.tracking",
    }

    def __getattr__(name):
        if name not in _HOMES and name != "rewards":
            raise AttributeError(f"module 'goldgate' has no attribute {name!r}")
        from importlib import import_module

        if name == "rewards":
            return import_module("goldgate.rewards")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value

    def __dir__():
        return sorted({*globals(), *__all__})
