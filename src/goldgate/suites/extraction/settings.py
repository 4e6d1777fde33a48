"""What a protocol may set for the extraction suite, with the defaults. The names are the file's own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypedDict

from goldgate.shape.kinds import Share


@dataclass(frozen=True, slots=True)
class RelaxedSettings:
    """When two arguments may be matched under relaxed scoring."""

    match_mode: Literal["include_or_char_overlap", "span_iou"] = "include_or_char_overlap"
    char_overlap_threshold: Share = Share("0.5")
    span_iou_threshold: Share = Share("0.5")


@dataclass(frozen=True, slots=True)
class SchemaSettings:
    """What schema compliance demands."""

    mode: Literal["syntax_only", "schema_strict"] = "schema_strict"


@dataclass(frozen=True, slots=True)
class HallucinationSettings:
    """When an argument counts as supported by the source text."""

    match_mode: Literal["normalized_substring", "exact_span"] = "normalized_substring"


@dataclass(frozen=True, slots=True)
class CotSettings:
    """Chain-of-thought diagnostics; off unless asked for."""

    enabled: bool = False
    require_thought_block: bool = False
    mode: Literal["strict_span", "weak_mention"] = "strict_span"


@dataclass(frozen=True, slots=True)
class KeySettings:
    """Under which keys an answer says what; of several in one object, the one that is listed first."""

    events: tuple[str, ...] = ("events", "event_list")
    event_type: tuple[str, ...] = ("event_type",)
    arguments: tuple[str, ...] = ("arguments",)
    role: tuple[str, ...] = ("role",)
    argument: tuple[str, ...] = ("argument",)


# Numbers that papers report, beside the specification's; `goldgate.suites.extraction.papers` has what each adds.
Profile = Literal["textee", "doc2edag", "duee-fin", "values", "all"]
PROFILE_VERSION = 2  # raised whenever a number of a profile may change

FromGold = TypedDict("FromGold", {"from": Literal["gold"]})  # a class could not have a field of this name


@dataclass(frozen=True, slots=True)
class FlatSettings:
    """The whole answer is one object from roles to values; its event type is a fixed name, or the gold event's."""

    event_type: str | FromGold


@dataclass(frozen=True, slots=True)
class ResponseSettings:
    """How raw responses are read, and what form the answers in them have."""

    thought_tags: tuple[str, ...] = ("thought", "think", "thinking")
    prefix: str | None = None
    keys: KeySettings = KeySettings()
    arguments: Literal["list", "mapping"] = "list"
    flat: FlatSettings | None = None
    null_words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """The section `metrics` of a protocol: everything that can change a number."""

    version: Literal["2.0"] = "2.0"
    normalization: Literal["nfkc-cjk-casefold.v1"] = "nfkc-cjk-casefold.v1"
    response: ResponseSettings = ResponseSettings()
    relaxed: RelaxedSettings = RelaxedSettings()
    schema: SchemaSettings = SchemaSettings()
    hallucination: HallucinationSettings = HallucinationSettings()
    cot: CotSettings = CotSettings()
    profile: Profile | None = None
