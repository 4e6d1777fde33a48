"""Settings of the fields suite: its section of a protocol, and what a schema may say beside a path."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, Literal

from goldgate.core.suite import Plan
from goldgate.errors import ConfigError
from goldgate.shape import Share

Compare = Literal["text", "exact", "number", "date", "boolean", "enum", "fuzzy", "contains", "ignore"]
ListOrder = Literal["any_order", "ordered"]
WEIGHT_DECIMALS = 3  # of a weight, at most: counts of weighted leaves are whole numbers


@dataclass(frozen=True, slots=True)
class PathSettings:
    """How the values at one path are compared, what they weigh, and how the items of a list are paired."""

    compare: Compare | None = None
    abs: Decimal | None = None  # number: how far from gold a value may be
    rel: Decimal | None = None  # number: the same as a share of gold
    decimal: Literal[",", "."] | None = None  # number: the decimal mark, where a text has two readings
    formats: tuple[str, ...] = ()  # date: as for Python's strptime
    threshold: Share | None = None  # fuzzy: the least similarity
    share: Share | None = None  # contains: the least part of the longer text
    weight: Decimal | None = None
    list: ListOrder | None = None
    key: tuple[str, ...] = ()  # paths inside an item: items pair where these are alike
    pair_share: Share | None = None  # of the smaller item's leaves: the least hits of a pair

    def with_defaults(self, other: PathSettings) -> PathSettings:
        """These settings, with the other's where nothing is set here."""
        own = {each.name: getattr(self, each.name) for each in fields(self)}
        return replace(other, **{name: value for name, value in own.items() if value not in (None, ())})


@dataclass(frozen=True, slots=True)
class ReviewSettings:
    """What need not be looked at: leaves above a confidence at which at most this share is wrong."""

    max_error: Share = Share("0.01")


@dataclass(frozen=True, slots=True)
class FieldsSettings:
    """The section `fields` of a protocol: everything that can change a number."""

    version: Literal["1.0"] = "1.0"
    normalization: Literal["nfkc-cjk-casefold.v1"] = "nfkc-cjk-casefold.v1"
    paths: dict[str, PathSettings] = field(default_factory=dict)
    outside_schema: Literal["leave_out", "count"] = "leave_out"
    pair_share: Share = Share("0.5")
    null_words: tuple[str, ...] = ()
    thought_tags: tuple[str, ...] = ("thought", "think", "thinking")
    review: ReviewSettings = ReviewSettings()


NOT_SET = PathSettings()

# Any of these makes an object a JSON Schema; the annotations alone do so where nothing else is expected.
ANNOTATIONS = frozenset("$comment default description examples title".split())
_KEYWORDS = frozenset(
    "$anchor $defs $dynamicRef $id $ref $schema additionalProperties allOf anyOf const contains definitions "
    "dependentRequired dependentSchemas else enum exclusiveMaximum exclusiveMinimum format if items maxItems maxLength "
    "maxProperties maximum minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties "
    "prefixItems properties propertyNames required then type unevaluatedProperties uniqueItems x-goldgate".split()
)


def is_json_schema(document: Any) -> bool:
    """Whether an object has a keyword of JSON Schema; an event schema has `event_types` instead."""
    return isinstance(document, Mapping) and "event_types" not in document and bool(_KEYWORDS & document.keys())


_OF_COMPARATORS = {  # a setting → the comparator that reads it
    "abs": "number",
    "rel": "number",
    "decimal": "number",
    "formats": "date",
    "threshold": "fuzzy",
    "share": "contains",
}


def check_settings_of_paths(plan: Plan) -> None:
    """Raise a ConfigError for a setting of a path that could do nothing, or that no number can have."""
    settings: FieldsSettings = plan.settings
    for path, entry in settings.paths.items():
        for name, comparator in _OF_COMPARATORS.items():
            if getattr(entry, name) not in (None, ()) and entry.compare not in (None, comparator):
                raise _wrong_setting(plan, path, name, f"compare: {comparator}", f"compare: {entry.compare}")
        for name in ("abs", "rel", "weight"):
            number = getattr(entry, name)
            if number is not None and number < 0:
                raise _wrong_setting(plan, path, name, "a number from 0 on", str(number))
        weight = entry.weight
        if weight is not None and weight != round(weight, WEIGHT_DECIMALS):
            raise _wrong_setting(plan, path, "weight", f"at most {WEIGHT_DECIMALS} decimals", str(weight))


def _wrong_setting(plan: Plan, path: str, name: str, expected: str, found: str) -> ConfigError:
    place = plan.place(f"fields.paths.{path}.{name}")
    return ConfigError(
        "protocol.wrong_value", f"{name} is not allowed here", place=place, expected=expected, found=found
    )
