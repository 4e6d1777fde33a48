"""The shape that values should have: a JSON Schema read path by path, and one derived from gold where none is given."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import partial
from typing import Any

from goldgate.errors import ConfigError, Place, describe_value, did_you_mean
from goldgate.files.parsing import YamlTree
from goldgate.protocol import exact_numbers
from goldgate.shape.validation import build_dataclass
from goldgate.suites.fields.comparators import TEXT, Comparator, FunctionComparator, Key, make_comparator
from goldgate.suites.fields.suite import KEYWORDS, NOT_SET, WEIGHT_DECIMALS, FieldsSettings, PathSettings

JsonObject = Mapping[str, Any]
EXTENSION = "x-goldgate"
UNDECLARED_ROW = "(undeclared)"
KEEP_SCHEMA = "to keep them: goldgate schema --suite fields --from GOLD --out schema.json"
MAX_DEPTH = 100  # levels of gold, and of declared paths: alignment calls itself a few times for each
_MAX_BRANCHES = 500  # subschemas that one place may have: anyOf in anyOf doubles them
_MAX_PATHS = 5_000  # declared paths that are listed
_WORDS_BELOW = ("properties", "items", "additionalProperties", "patternProperties", "prefixItems")
_WORDS_BESIDE = ("$ref", "$dynamicRef", "anyOf", "oneOf", "allOf", "not", "if", "enum", "const")
_SPELLING = 0.8  # how much a misspelt word is like the one that is meant: propertys has 0.84 of properties
_SCALARS = frozenset({"string", "number", "integer", "boolean"})
_PLAIN_KEY = re.compile(r"[^.\[\]\"'*$\s][^.\[\]\"']*")
_STEP = re.compile(r'\.?(?:(\[\])|"((?:[^"\\]|\\.)*)"|([^.\[\]"]+))')


def step_text(key: str) -> str:
    """A key in a path; in quotes where it has a dot, a bracket or a quote."""
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def parse_path(path: str) -> list[str]:
    """The steps of a path such as `items[].price`: keys, and `[]` for a level of a list; or a ValueError."""
    steps, at = [], 1 if path.startswith("$") else 0
    while at < len(path):
        match = _STEP.match(path, at)
        if match is None:
            raise ValueError(path)
        level, quoted, plain = match.groups()
        steps.append(level or (json.loads(f'"{quoted}"') if quoted is not None else plain))
        at = match.end()
    return steps


class PathShape:
    """One path of a schema: which kinds of values it may hold, how they are compared, and what is below it.

    What is below is looked up when a value has it: a schema may refer to itself. Paths that the schema does not have
    share one row.
    """

    __slots__ = (
        "_additional", "_branches", "_item", "_schema", "children", "comparator", "declared", "has_items", "is_choice",
        "is_entry", "is_enum", "is_free", "is_ignored", "is_scalar", "kept_keys", "key", "kinds", "name", "ordered",
        "pair_share", "parts", "settings", "weight",
    )  # fmt: skip

    def __init__(self, schema: FieldSchema, branches: list[JsonObject], name: str, parts: tuple[str, ...]) -> None:
        self._schema = schema
        self._branches = branches
        self.children: dict[str, PathShape] = {}
        self._item: PathShape | None = None
        self._additional = self._find_additional()  # the schemas of keys that are not listed, if such are declared
        self.name = name  # also of the row of the report that counts its leaves
        self.parts = parts
        self.declared = True
        types = {kind for branch in branches for kind in _types_of(branch)}
        self.kinds = frozenset("scalar" if kind in _SCALARS else kind for kind in types)
        self.is_free = not self.kinds
        self.has_items = self.is_free or "array" in self.kinds
        self.is_entry = parts[-1:] == ("*",)  # of a map: its key is compared after normalization
        self.is_enum = any("enum" in branch or "const" in branch for branch in branches)
        self._configure(types)

    def _configure(self, types: set[str]) -> None:
        settings = self._schema.settings_for(self)
        self.settings = settings
        default = _default_compare(self._branches, types & _SCALARS, is_enum=self.is_enum)
        function = self._schema.functions.get(self.name)
        compare = settings.compare or default
        self.comparator: Comparator = make_comparator(compare, settings).with_blanks(self._schema.blanks)
        if function is not None:
            self.comparator = FunctionComparator("function", function).with_blanks(self._schema.blanks)
        self.is_ignored = self.comparator.name == "ignore"
        self.weight = None if settings.weight is None else int(settings.weight * 10**WEIGHT_DECIMALS)
        self.ordered = settings.list == "ordered"
        self.key = tuple(tuple(parse_path(path)) for path in settings.key)
        self.pair_share = self._schema.pair_share if settings.pair_share is None else settings.pair_share
        self.is_scalar = self.kinds == {"scalar"} and not self.is_ignored
        self.kept_keys: dict[str | float, Key] = {}
        if self.is_scalar and self.comparator.equivalence:
            self.kept_keys = self.comparator.memo
        self.is_choice = self.is_enum or compare in ("boolean", "enum")

    @property
    def undeclared(self) -> PathShape:
        """The path of everything that the schema does not have."""
        return self._schema.undeclared

    def child(self, key: str) -> PathShape:
        """The path of a key of an object at this path."""
        child = self.children.get(key)
        if child is None:
            child = self._find_child(key)
            if child.declared and child is not self and not child.is_entry:
                self.children[key] = child
        return child

    def _find_child(self, key: str) -> PathShape:
        if not self.declared or self.is_free:
            return self
        below = [branch["properties"][key] for branch in self._branches if key in (branch.get("properties") or ())]
        if below:
            return self._below(below, key, step_text(key))
        if self._additional is None:
            return self._schema.undeclared
        if "*" not in self.children:
            self.children["*"] = self._below(self._additional, "*", "*")
        return self.children["*"]

    def _find_additional(self) -> list[Any] | None:
        below: list[Any] = []
        for branch in self._branches:
            extra = branch.get("additionalProperties")
            if isinstance(extra, Mapping) or (extra is True and not branch.get("properties")):
                below.append(extra)
            below += (branch.get("patternProperties") or {}).values()
        return below or None

    @property
    def item(self) -> PathShape:
        """The path of an item of a list at this path."""
        if self._item is None:
            if not self.declared or self.is_free:
                return self
            below = [branch["items"] for branch in self._branches if "items" in branch]
            below += [part for branch in self._branches for part in branch.get("prefixItems") or ()]
            self._item = self._below(below or [True], "[]", "[]")
        return self._item

    def _below(self, below: list[Any], step: str, text: str) -> PathShape:
        if len(self.parts) >= MAX_DEPTH:
            return self._schema.undeclared
        branches = self._schema.expand(below, f"{self.name}.{step}")
        if text == "[]":
            name = f"{'' if self.name == '$' else self.name}[]"
        else:
            name = text if self.name == "$" else f"{self.name}.{text}"
        return PathShape(self._schema, branches, name, (*self.parts, step))

    def listed_children(self) -> Iterator[PathShape]:
        """Every declared path one step below."""
        for key in dict.fromkeys(key for branch in self._branches for key in branch.get("properties") or ()):
            yield self.child(key)
        if self._additional is not None:
            yield self.child("\0")  # no schema lists this key
        if "array" in self.kinds:
            yield self.item

    def branch_ids(self) -> frozenset[int]:
        """Which subschemas it is made of: the same ones again below it are a recursion."""
        return frozenset(map(id, self._branches))


class FieldSchema:
    """A JSON Schema as paths, with the settings of a protocol, which win over those in the schema."""

    def __init__(
        self,
        document: JsonObject,
        settings: FieldsSettings,
        *,
        is_derived: bool = False,
        sha256: str | None = None,
        functions: Mapping[str, Callable[[Any, Any], object]] | None = None,
    ) -> None:
        self.document = document
        self.settings = settings
        self.is_derived = is_derived
        self.sha256 = sha256
        self.functions = dict(functions or {})
        self.pair_share: Decimal = settings.pair_share
        self.blanks = settings.blanks
        self._by_path = {tuple(_checked_path(path)): value for path, value in settings.paths.items()}
        self.undeclared = PathShape(self, [], UNDECLARED_ROW, ("\0",))
        self.undeclared.declared, self.undeclared.comparator = False, TEXT.with_blanks(settings.blanks)
        self.root = PathShape(self, self.expand([document], "$"), "$", ())

    def __reduce__(self) -> tuple[object, ...]:
        again = partial(FieldSchema, is_derived=self.is_derived, sha256=self.sha256, functions=self.functions)
        return (again, (self.document, self.settings))

    def settings_for(self, shape: PathShape) -> PathSettings:
        """What the protocol says of a path, over what the schema says. A list's settings may stand at its items."""
        settings = self._by_path.get(shape.parts, NOT_SET)
        if shape.kinds == {"array"}:
            settings = settings.with_defaults(self._by_path.get((*shape.parts, "[]"), NOT_SET))
        for branch in shape._branches:
            if EXTENSION in branch:
                settings = settings.with_defaults(_extension(branch[EXTENSION], shape.name))
        return settings

    def expand(self, schemas: Iterable[Any], place: str) -> list[JsonObject]:
        """The plain subschemas of a place: references followed, branches of anyOf, oneOf and allOf side by side."""
        branches: list[JsonObject] = []
        waiting, seen = [*schemas][::-1], set[int]()
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, bool):
                continue
            if not isinstance(schema, Mapping):
                raise _bad_schema(place, "a schema: an object, true or false", describe_value(schema))
            if id(schema) in seen:
                continue
            seen.add(id(schema))
            if len(seen) > _MAX_BRANCHES:
                raise _bad_schema(place, f"at most {_MAX_BRANCHES} subschemas in one place", "more")
            if "$ref" in schema:
                waiting.append(self._resolve(schema["$ref"], place))
            for word in ("anyOf", "oneOf", "allOf"):
                options = schema.get(word) or []
                if not isinstance(options, list):
                    raise _bad_schema(f"{place}.{word}", "a list of schemas", describe_value(options))
                waiting += options[::-1]
            _check_keywords(schema, place)
            _check_spelling(schema, place)
            branches.append(schema)
        return branches

    def _resolve(self, reference: Any, place: str) -> Any:
        if not isinstance(reference, str) or not reference.startswith("#"):
            raise _bad_schema(
                place, "a reference inside this schema, such as #/$defs/Address", describe_value(reference)
            )
        value: Any = self.document
        for step in reference[1:].split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(value, Mapping) and step in value:
                value = value[step]
            elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
                value = value[int(step)]
            else:
                raise _bad_schema(place, "a reference to a part of this schema", f"{reference}, which is not there")
        return value

    def paths(self) -> Iterator[PathShape]:
        """Every declared path, the root first; a recursion is followed once."""
        waiting: list[tuple[PathShape, tuple[frozenset[int], ...]]] = [(self.root, ())]
        count = 0
        while waiting and count < _MAX_PATHS:
            shape, above = waiting.pop(0)
            count += 1
            yield shape
            own = shape.branch_ids()
            if own and own in above:
                continue
            waiting += [(child, (*above, own)) for child in shape.listed_children() if child.declared]

    def has_path(self, steps: Iterable[str]) -> bool:
        """Whether a path is declared."""
        shape = self.root
        for step in steps:
            if step == "[]":
                if "array" not in shape.kinds and not shape.is_free:
                    return False
                shape = shape.item
            else:
                shape = shape.child(step)
            if not shape.declared:
                return False
        return True

    def require_paths(self, derive_from_gold: Callable[[], FieldSchema], place: Callable[[str], Place]) -> None:
        """Raise a ConfigError for a path of the protocol that neither the schema nor any gold document has."""
        unknown = [path for path in self.settings.paths if not self.has_path(parse_path(path))]
        of_gold = derive_from_gold() if unknown and not self.is_derived else self
        for path in unknown:
            if not of_gold.has_path(parse_path(path)):
                message = f"no document and no schema has the path {path}"
                raise self.unknown_path(path, message, place(f"fields.paths.{path}"))

    def unknown_path(self, path: str, message: str, place: Place) -> ConfigError:
        """The error for a path that is not declared, with those that are."""
        names = [shape.name for shape in self.paths()]
        expected = "a path of the schema: " + ", ".join(names[1:9]) + (", …" if len(names) > 9 else "")
        return ConfigError(
            "fields.unknown_path", message, place=place, expected=expected, found=path,
            advice=did_you_mean(path, names),
        )  # fmt: skip


def _types_of(branch: JsonObject) -> Iterator[str]:
    """The JSON types that a subschema allows, null aside; by its keywords where it names none."""
    kinds = branch.get("type")
    if kinds is not None:
        yield from (kind for kind in ([kinds] if isinstance(kinds, str) else kinds) if kind != "null")
    elif "enum" in branch or "const" in branch:
        for value in branch.get("enum", [branch.get("const")]):
            if value is not None:
                yield _json_type(value)
    elif "properties" in branch or "additionalProperties" in branch or "patternProperties" in branch:
        yield "object"
    elif "items" in branch or "prefixItems" in branch:
        yield "array"


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (dict, list)):
        return "object" if isinstance(value, dict) else "array"
    if isinstance(value, int):
        return "integer"
    return "string" if isinstance(value, str) else "number"


def _default_compare(branches: list[JsonObject], types: set[str], *, is_enum: bool) -> str:
    if is_enum:
        return "enum"
    if types and types <= {"number", "integer"}:
        return "number"
    if types == {"boolean"}:
        return "boolean"
    formats = {branch.get("format") for branch in branches if "string" in _types_of(branch)}
    return "date" if types == {"string"} and formats and formats <= {"date", "date-time"} else "text"


def _check_keywords(schema: JsonObject, place: str) -> None:
    for word in ("properties", "patternProperties"):
        if not isinstance(schema.get(word) or {}, Mapping):
            raise _bad_schema(f"{place}.{word}", "an object of schemas", describe_value(schema[word]))
    kinds = schema.get("type")
    words = [kinds] if isinstance(kinds, str) else kinds
    if kinds is not None and not (
        isinstance(words, list) and all(word in (*_SCALARS, "null", "object", "array") for word in words)
    ):
        raise _bad_schema(f"{place}.type", "a JSON type, or a list of them", describe_value(kinds))


def _check_spelling(schema: JsonObject, place: str) -> None:
    """Refuse an object or a list that declares nothing below it, and has a word that is nearly one that would."""
    from difflib import get_close_matches

    types = {*_types_of(schema)}
    if (types and types <= _SCALARS) or not schema.keys().isdisjoint((*_WORDS_BELOW, *_WORDS_BESIDE)):
        return
    for word in schema:
        if word in KEYWORDS or not isinstance(word, str) or not isinstance(schema[word], Mapping):
            continue
        near = [] if word.startswith("x-") else get_close_matches(word, _WORDS_BELOW, n=1, cutoff=_SPELLING)
        if near:
            raise _bad_schema(f"{place}.{step_text(word)}", "a word of JSON Schema", word, f"did you mean {near[0]}?")


def _bad_schema(place: str, expected: str, found: str, advice: str | None = None) -> ConfigError:
    return ConfigError(
        "schema.wrong_value",
        "not a JSON Schema that can be read",
        place=Place(field=place),
        expected=expected,
        found=found,
        advice=advice or "goldgate schema --suite fields --from GOLD writes one for your gold",
    )


def _checked_path(path: str) -> list[str]:
    try:
        return parse_path(path)
    except ValueError:
        raise ConfigError(
            "fields.bad_path", "this is not a path", place=Place(field=f"fields.paths.{path}"),
            expected='keys joined by dots, [] for a level of a list: items[].price', found=path,
        ) from None  # fmt: skip


def _extension(value: Any, name: str) -> PathSettings:
    """The settings that stand in a schema beside a path."""
    try:
        return build_dataclass(PathSettings, YamlTree("schema", exact_numbers(value)), "schema")
    except ConfigError as error:
        inside = "" if error.place.field is None else f".{error.place.field}"
        error.place = Place(field=f"{name}.{EXTENSION}{inside}")
        raise


class ShapeDeriver:
    """The shape of all values that were added, as a JSON Schema: which keys there are, and which types they have."""

    def __init__(self) -> None:
        self._types: set[str] = set()
        self._has_null = False
        self._properties: dict[str, ShapeDeriver] = {}
        self._items: ShapeDeriver | None = None

    def add(self, value: Any) -> None:
        """Take note of a value; an empty one says nothing, and null only that it may be null."""
        self._has_null |= value is None
        if value is None or value in ("", [], {}):
            return
        kind = _json_type(value)
        self._types.add(kind)
        if kind == "object":
            for key, entry in value.items():
                self._properties.setdefault(key, ShapeDeriver()).add(entry)
        elif kind == "array":
            self._items = self._items or ShapeDeriver()
            for entry in value:
                self._items.add(entry)

    def as_schema(self) -> dict[str, Any]:
        """The shape so far; keys are sorted, so that any order of the values gives the same."""
        types = self._types - ({"integer"} if "number" in self._types else set())
        schema: dict[str, Any] = {}
        if types:
            types |= {"null"} if self._has_null else set()
            schema["type"] = sorted(types)[0] if len(types) == 1 else sorted(types)
        if self._properties:
            schema["properties"] = {key: self._properties[key].as_schema() for key in sorted(self._properties)}
        if self._items is not None:
            schema["items"] = self._items.as_schema()
        return schema
