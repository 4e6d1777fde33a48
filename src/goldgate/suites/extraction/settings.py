"""Settings of the extraction suite in a protocol: defaults, and a check that they do not contradict each other."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal, TypedDict

from goldgate.core.suite import Plan
from goldgate.core.value_text import Blanks
from goldgate.errors import ConfigError, describe_value
from goldgate.shape import Share


@dataclass(frozen=True, slots=True)
class RelaxedSettings:
    """When two arguments may be matched under relaxed scoring."""

    match_mode: Literal["include_or_char_overlap", "span_iou"] = "include_or_char_overlap"
    char_overlap_threshold: Share = Share("0.5")
    span_iou_threshold: Share = Share("0.5")
    unit: Literal["character", "word"] = "character"  # of what contains, overlaps, or is a common stretch


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
PROFILE_VERSION = 3  # raised whenever a number of a profile may change

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
    flat: FlatSettings | bool | None = None  # true: events are flat, and have their type beside their roles
    null_words: tuple[str, ...] = ()
    next_example: tuple[str, ...] = ()  # how a line begins that begins the next example of a prompt
    said_none: Literal["error", "empty"] = "error"  # how an answer is read that says in words that there is nothing


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """The section `metrics` of a protocol: everything that can change a number."""

    version: Literal["2.0"] = "2.0"
    normalization: Literal["nfkc-cjk-casefold.v1"] = "nfkc-cjk-casefold.v1"
    blanks: Blanks = "remove"
    response: ResponseSettings = ResponseSettings()
    relaxed: RelaxedSettings = RelaxedSettings()
    schema: SchemaSettings = SchemaSettings()
    hallucination: HallucinationSettings = HallucinationSettings()
    cot: CotSettings = CotSettings()
    profile: Profile | None = None
    profile_offsets: Literal["gold", "words"] = "gold"  # of textee: what has none is wrong where gold has some


_KEYS = "metrics.response.keys"
# The names that stand in one object: what a key says there must be clear.
SIDE_BY_SIDE = (("events", "event_type", "arguments"), ("role", "argument"))


def check_settings(plan: Plan) -> None:
    """Raise a ConfigError for an invalid tag name, settings that exclude each other, or one without effect."""
    settings: ResponseSettings = plan.settings.response
    for number, tag in enumerate(settings.thought_tags):
        if not tag.replace("-", "").replace("_", "").isalnum():
            place = f"metrics.response.thought_tags.{number}"
            raise _wrong(plan, place, "not the name of a tag", "a name without brackets and blanks, such as think", tag)
    for number, beginning in enumerate(settings.next_example):
        if not any(map(str.isalpha, beginning)):
            place = f"metrics.response.next_example.{number}"
            raise _wrong(plan, place, "the beginning has no words", "words, such as Article: or Task 2", beginning)
    changed = [name for name, keys in asdict(settings.keys).items() if keys != getattr(KeySettings(), name)]
    if settings.flat and settings.arguments == "mapping":
        raise _excluded(plan, "metrics.response.arguments", "mapping", "metrics.response.flat")
    for name in changed:
        keys = getattr(settings.keys, name)
        if not keys:
            raise _wrong(plan, f"{_KEYS}.{name}", "this list names no key", "one key or more", describe_value(keys))
        if settings.flat and (settings.flat is not True or name not in ("events", "event_type")):
            raise _excluded(plan, f"{_KEYS}.{name}", " ".join(keys), "metrics.response.flat")
        if settings.arguments == "mapping" and name in ("role", "argument"):
            raise _excluded(plan, f"{_KEYS}.{name}", " ".join(keys), "metrics.response.arguments: mapping")
    _check_clear(settings.keys, plan, changed)
    if plan.settings.profile_offsets != "gold" and plan.settings.profile not in ("textee", "all"):
        setting, needed = "metrics.profile_offsets", "metrics.profile: textee, or all"
        raise _wrong(plan, setting, "only the profile textee compares offsets", needed, str(plan.settings.profile))


def all_keys(keys: KeySettings) -> KeySettings:
    """The keys in the order in which they are looked for: those declared, then our own."""
    own = asdict(KeySettings())
    return KeySettings(**{name: tuple(dict.fromkeys((*keys_of, *own[name]))) for name, keys_of in asdict(keys).items()})


def _check_clear(keys: KeySettings, plan: Plan, changed: list[str]) -> None:
    """One key must not say two things in the same object."""
    read = asdict(all_keys(keys))
    for names in SIDE_BY_SIDE:
        for name in names:
            for other in names:
                both = set(read[name]) & set(read[other])
                if name != other and name in changed and both:
                    key = min(both)
                    raise _wrong(
                        plan,
                        f"{_KEYS}.{name}",
                        f"the key {key} is also read as {other}",
                        "another key",
                        describe_value(key),
                    )


def _excluded(plan: Plan, setting: str, value: str, by: str) -> ConfigError:
    return ConfigError(
        "protocol.wrong_value",
        f"{setting} does nothing beside {by}",
        place=plan.place(setting),
        expected=f"one of the two: {setting} or {by}",
        found=f"{value}, and {by}",
        advice="keep the one that says what the answers look like",
    )


def _wrong(plan: Plan, setting: str, message: str, expected: str, found: str) -> ConfigError:
    return ConfigError("protocol.wrong_value", message, place=plan.place(setting), expected=expected, found=found)
