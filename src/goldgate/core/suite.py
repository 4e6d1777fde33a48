"""The contract of a suite. The pipeline, the commands, the engines and the renderers need to know no more.

A suite is one folder with a `Suite` in it, and a line in `goldgate.suites.SUITES` or an entry point of another package.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar, cast

from goldgate.core.finding import Finding
from goldgate.core.gate import Gate, GateResult
from goldgate.core.metric import Metric, Metrics
from goldgate.core.plugins import load_target
from goldgate.core.tally import Tally, UnitCounts
from goldgate.errors import Place

if TYPE_CHECKING:
    from goldgate.core.contracts import RemarkValue, SuiteReport
    from goldgate.core.evaluation import StoredRates
    from goldgate.core.page import Page, Picture
    from goldgate.core.unit_page import InputLookup, UnitPage, UnitSummary


@dataclass(frozen=True, slots=True)
class ProtocolInfo:
    """The version and name of a protocol."""

    version: str = "1.0"
    name: str = "default"


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings and gates of one suite; gates of the protocol replace the suite's own."""

    settings: Any  # an instance of `Suite.settings`
    gates: dict[str, Gate] = field(default_factory=dict)
    protocol: ProtocolInfo = ProtocolInfo()
    file: str | None = None  # path of the protocol, as in the command
    sha256: str | None = None
    lines: dict[str, int] = field(default_factory=dict)  # line of each setting in the protocol
    baseline_sha256: str | None = None

    def place(self, setting: str) -> Place:
        """File and line of a setting."""
        return Place(self.file, self.lines.get(setting), setting)


# No count depends on these: a protocol's settings are listed one by one, and layouts of two systems may differ.
IGNORED_SETTINGS = ("goldgate", "protocol", "interval", "layout", "id_field", "response_field", "joined", "people")


class SignatureDifference(NamedTuple):
    """A setting in which two signatures differ."""

    name: str
    mine: str
    theirs: str


def signature(settings: Mapping[str, object]) -> str:
    """`name:value` for each setting, in the order given, joined by `|`."""
    return "|".join(f"{name}:{_escape_value(value)}" for name, value in settings.items())


def parse_signature(signature: str) -> dict[str, str]:
    """The parts of a signature by name."""
    return dict(part.partition(":")[::2] for part in signature.split("|"))


def signature_differences(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[SignatureDifference]:
    """The settings in which two signatures differ, without those that no count depends on."""
    parts = [SignatureDifference(name, mine.get(name, "none"), theirs.get(name, "none")) for name in {**mine, **theirs}]
    return [part for part in parts if part.name not in IGNORED_SETTINGS and part.mine != part.theirs]


def _escape_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "/").replace("\n", " ")


Shard = TypeVar("Shard")
Facts = TypeVar("Facts")
MeasuredFacts = TypeVar("MeasuredFacts", contravariant=True)

Inputs = Mapping[str, Sequence[Any]]  # paths as they were given, or values in memory, by the name of the input


class Input(NamedTuple):
    """Something that a suite reads. It becomes an option of its command."""

    name: str
    help: str
    metavar: str = "FILE"
    many: bool = False
    required: bool = True
    judged: bool = False  # what a system made: it differs between systems that can be compared
    is_path: bool = True  # else a word that says how the others are read
    default: str | int | None = None  # a number: only whole numbers from 0 are accepted
    choices: tuple[str, ...] = ()
    is_flag: bool = False  # its only value is its name
    example: str | None = None  # its value in the command's example; else one that is required has its name

    @property
    def option(self) -> str:
        """The option that it becomes."""
        return "--" + self.name.replace("_", "-")


Options = Mapping[str, Any]  # the inputs of an ability by name, as a command line has them


class Ability(NamedTuple):
    """Something that a suite can do for a command beside scoring. Its inputs become options of that command.

    Every function takes `options` last. What else it takes, and what it gives:

    - `check`: paths; a `CheckResult`. Several kinds of files are several abilities.
    - `convert`: paths, a binary stream to write gold to; what was written in a few words, and lines on what was lost.
    - `generate`: the plan, seeds, the response format; a `Task`.
    - `items`: a unit's record, its part of each input; items for people and judges. A kind is an ability.
    - `judge`: as `generate`; a `JudgingTask`.
    - `import-runs`: paths of traces, the folder to make; a `CheckResult`.
    - `label`: the path of items, the file for labels; a site of the viewer's server, which also says how far a person
      has come (`summary`) and is closed at the end (`close`).
    - `power`: a stored result; its plan, and the function that makes a page of it.
    - `read`: the plan; an `AnswerReader` (`goldgate.report.answers_text`).
    - `scorer`: a schema, a protocol and options of its own, not `options`; an object that scores single answers.
    - `sample`: the path of a file of items; the lines of a draw, and what was drawn in a few words.
    - `schema`: paths of gold; the schema, and a text that says what is in it.
    """

    command: str
    function: str  # "module:name", imported when it is called
    inputs: tuple[Input, ...] = ()
    kind: str = ""  # of files that are checked, or of items
    # Whether a path is of this kind, or a schema of this suite; None: whatever no other takes.
    recognizes: Callable[[Any], bool] | None = None

    def load(self) -> Callable[..., Any]:
        """The function."""
        function: Callable[..., Any] = load_target(self.function)
        return function


def deferred(target: str) -> Any:
    """A method or an attribute of a suite as "module:name": a function without `self`, imported when it is used.

    The help of the command line names every suite, so a suite's own module imports nothing heavy.
    """
    return _Deferred(target)


class _Deferred:
    def __init__(self, target: str) -> None:
        self._target = target

    def __get__(self, suite: Suite | None, owner: type[Suite]) -> Any:
        return self if suite is None else load_target(self._target)


class CheckResult(NamedTuple):
    """The result of a check."""

    report: dict[str, Any]  # with `status` and `findings`
    summary: str  # how much was checked, in a few words
    remarks: tuple[str, ...] = ()


class Pairing(NamedTuple):
    """How records of two systems are paired: by this field of a record, which says what was asked for."""

    field: str = "id"
    unit: str | None = None  # what a pair is of, where that is not the suite's unit
    several: bool = False  # a system may have several records with the same value: they are added up


# The inputs of a suite that joins records by id.
GOLD = Input("gold", "Gold records, JSON Lines or a JSON array, may be gzipped; - is standard input.", many=True)
ANSWERS = "answers"  # beside the inputs of a report: the digest of all answers, in any order
PREDICTIONS = Input("predictions", "A model's stored answers, in the same formats.", many=True, judged=True)


def word_input(name: str, help_text: str, metavar: str = "FIELD", default: str | int | None = None) -> Input:
    """An input that may be left out, and is not a path: a place in a record, a name, a number."""
    return Input(name, help_text, metavar=metavar, required=False, is_path=False, default=default)


ID_FIELD = word_input(
    "id_field", "Dotted path to a prediction's id, such as metadata.doc_id; also for gold records without id."
)
GOLD_ID_FIELD = ID_FIELD._replace(help="Dotted path to the id of gold records without id, such as meta.doc_id.")
RESPONSE_FIELD = word_input("response_field", "Dotted path to what the model wrote, such as choices.0.text.")
_ALLOW_EMPTY = "Score even if there are no predictions; every gold record then counts as missing."
ALLOW_EMPTY = Input("allow_empty", _ALLOW_EMPTY, required=False, is_path=False, is_flag=True)


def single_input(inputs: Inputs, name: str) -> Any:
    """The one value of an input, or None."""
    return next(iter(inputs.get(name) or ()), None)


Contract = tuple[str, Any]  # the title and the type of a file: validators and JSON Schemas are made from it


class Measure(Protocol[MeasuredFacts]):
    """Says what a unit counts, and makes metrics of the sum. It counts what it divides by."""

    section: str  # section of the report's metrics, such as main

    def count(self, facts: MeasuredFacts) -> UnitCounts:
        """What a unit counts, by table: the sum has an interval, and the record of the unit has these counts."""

    def totals(self, facts: MeasuredFacts) -> Mapping[str, int]:
        """Counts that are only summed, by name."""

    def metrics(self, tally: Tally) -> Metrics: ...


# Units that go through each step of the line together: what a step needs then stays near the processor. It was a tenth
# faster than one by one; with many more at once, what they hold is too far away.
BATCH_SIZE = 16


class Work(ABC, Generic[Shard, Facts]):
    """Scores the units of a shard, and makes their records and findings.

    It is sent to worker processes, so it must be picklable.
    """

    measures: Sequence[Measure[Facts]] = ()

    @abstractmethod
    def score(self, shard: Shard) -> Iterable[Facts]:
        """The facts of each unit of a shard, which is read here."""

    def record(self, facts: Facts) -> Mapping[str, object]:
        """The record of a unit without what it counted. By default: the facts themselves."""
        if isinstance(facts, Mapping):
            return facts
        return {each.name: getattr(facts, each.name) for each in fields(cast(Any, facts))}

    def multiplicity(self, facts: Facts) -> int:
        """How many equal units these facts are counted as."""
        return 1

    def fingerprint(self, facts: Facts) -> int | None:
        """A hash of what should differ between units, by which copies are counted; None where nothing is compared."""
        return None

    def answer(self, facts: Facts) -> int:
        """The digest of what a system answered to a unit, by which equal runs are known; 0 where there is none."""
        return 0

    def unit_id(self, facts: Facts) -> str:
        """The id of a unit, as in its record."""
        return str(self.record(facts)["id"])

    def weight(self, facts: Facts) -> int | None:
        """How much is wrong in a unit, the same number as in its summary; None: the summary is made to get it."""
        return None

    def grouped(self, shard: Shard) -> Iterable[tuple[Facts, str | None]]:
        """Like `score`, each unit with the group that it is part of, where units that belong together count as one."""
        return ((facts, None) for facts in self.score(shard))

    def findings(self, facts: Facts) -> Iterable[Finding]:
        """The findings of a unit, for the report."""
        return ()


class Mapper(Protocol):
    """Carries out work on shards: an engine."""

    @property
    def workers(self) -> int:
        """How many shards can be worked on at the same time."""

    def map(self, work: Any, shards: Iterable[Any]) -> Iterator[Any]: ...


@dataclass
class Outcome:
    """What a report needs beside counts, once all inputs were read: their digests, settings and findings.

    A suite whose report has parts of its own, or whose verdict has rules of its own, overrides the methods.
    """

    inputs: dict[str, Any] = field(default_factory=dict)  # digests and sizes of what was read: no path, no clock
    settings: dict[str, object] = field(default_factory=dict)  # what else can change a number, for the signature
    findings: list[Finding] = field(default_factory=list)

    def note_counts(self, tally: Tally) -> None:
        """Complete inputs and settings from the sum of all counts, before the signature is made."""

    def part_names(self) -> Sequence[tuple[str, ...]]:
        """The parts of metrics that there are by the inputs, whether or not they occur: a schema's event types."""
        return ()

    def overrule(self, gates: list[GateResult], tally: Tally) -> list[GateResult]:
        """The results, with FAIL where a rule says so that no threshold can express."""
        return gates

    def causes(self, gate: GateResult) -> Iterable[Finding] | None:
        """What keeps a gate from passing; None: the units that cost it most are named."""
        return None

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> Mapping[str, object]:
        """The suite's own parts of the report, in their order."""
        return {}

    def remarks(self, report: SuiteReport) -> Iterable[RemarkValue]:
        """The remarks of this suite on a report, beside those that every suite has."""
        return ()


class Source(ABC, Generic[Shard, Facts]):
    """The opened inputs of one evaluation."""

    units: int = 0  # in all, for the progress line
    needs_all: bool = False  # True: units can be counted only when all are known, see `finalize`

    @abstractmethod
    def work(self) -> Work[Shard, Facts]: ...

    @abstractmethod
    def shards(self) -> Iterable[Shard]:
        """The units, cut into pieces that a worker can hold."""

    def finalize(self, scored: Iterator[Any], engine: Mapper) -> Iterator[Facts]:
        """The facts to count, from the results of all shards in their order. Only called where `needs_all` is set."""
        return scored

    @abstractmethod
    def finish(self) -> Outcome: ...

    def place(self, unit: str) -> Place:
        """The file and line of what was judged of a unit, by its id."""
        return Place()

    def lookup(self) -> InputLookup:
        """The opened inputs, for looking up what a record was made from, as long as they are open."""
        from goldgate.core.unit_page import EmptyInputLookup

        return EmptyInputLookup()


class Suite(ABC):
    """One kind of task whose stored outputs are scored: its inputs, work, measures, report and pages."""

    name: ClassVar[str]
    about: ClassVar[str]  # a line for the help
    unit: ClassVar[str] = "sample"
    records: ClassVar[str] = "samples.jsonl"  # the file with a line for each unit
    inputs: ClassVar[tuple[Input, ...]]
    section: ClassVar[str]  # name of its section in the protocol
    settings: ClassVar[type]  # type of that section
    metrics_version: ClassVar[str]
    headline: ClassVar[tuple[str, ...]]  # the main metrics of which more is better, the first one first
    default_gates: ClassVar[Mapping[str, Gate]] = {}
    pairing: ClassVar[Pairing] = Pairing()
    overrules: ClassVar[bool] = False  # whether it may fail gates that pass by their numbers, see `Outcome.overrule`
    writes_report: ClassVar[bool] = False  # to `report_file`, where the command names no other place
    drawings: ClassVar[tuple[str, ...]] = ()  # the kinds of its pictures that not every suite has
    abilities: ClassVar[tuple[Ability, ...]] = ()  # what it can do beside scoring

    @property
    def preload(self) -> str:
        """The module that holds the work: worker processes import it while inputs are being opened."""
        return type(self).__module__

    @property
    def contracts(self) -> Mapping[str, Contract]:
        """The files that it reads and writes, by the name of their JSON Schema."""
        return {}

    def check(self, plan: Plan) -> None:  # noqa: B027  # most suites have nothing to check
        """Raise a ConfigError where settings contradict each other."""

    def gates(self, plan: Plan) -> Mapping[str, Gate]:
        """The gates that are judged where the protocol sets no other."""
        return self.default_gates

    @abstractmethod
    def measures(self, settings: Any) -> Sequence[Measure[Any]]:
        """Every measure under these settings, in the order of the report."""

    @abstractmethod
    def open(
        self, inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
    ) -> AbstractContextManager[Source[Any, Any]]:
        """The inputs, opened. `written` are the paths that a command writes to: they are not inputs.

        `engine` carries out what can be done in pieces before there are shards, such as looking for ids.
        """

    def describe(self, report: SuiteReport) -> Page:
        """A report as a page: what to show, not how. By default: its metrics and its findings."""
        from goldgate.core.report_page import default_report_page

        return default_report_page(report, self.unit)

    def input_digest(self, name: str, path: str) -> str | None:
        """What a report has as the digest of an input, where that is not the one of a file's bytes; otherwise None."""
        return None

    def open_inputs(self, inputs: Inputs, plan: Plan | None) -> AbstractContextManager[InputLookup]:
        """The inputs, opened for looking up what a record was made from; those that are not named are left out.

        `plan` is the one that the records were made with; None where it is not known any more. A file that cannot be
        read is an InputError. By default: nothing can be looked up.
        """
        from goldgate.core.unit_page import EmptyInputLookup

        return nullcontext(EmptyInputLookup())

    def pictures(self, report: SuiteReport) -> tuple[Picture, ...]:
        """What of a report is worth drawing, beside its gates. By default: its main rates."""
        from goldgate.core.page import score_pictures

        return score_pictures(report, self.headline)

    def summary(self, record: Mapping[str, object]) -> UnitSummary:
        """A unit in a list, from its line in the file of records."""
        from goldgate.core.unit_page import UnitSummary

        return UnitSummary(str(record["id"]))

    def snippet(self, record: Mapping[str, object], inputs: Mapping[str, Any]) -> str:
        """What a unit is about, of which a list shows the beginning. By default: the longest text of its gold."""
        from goldgate.core.unit_page import longest_text

        return longest_text(inputs)

    def unit_page(self, record: Mapping[str, object], inputs: Mapping[str, Any]) -> UnitPage:
        """A unit to look at, from its record and its part of each input. By default: these as they stand."""
        from goldgate.core.unit_page import default_unit_page

        return default_unit_page(record, inputs)

    def stored_rates(self, report: SuiteReport) -> StoredRates:
        """The rates of a stored report that a baseline sums up; a ContradictionError if it contradicts itself."""
        from goldgate.core.evaluation import default_stored_rates

        return default_stored_rates(report)

    def report_file(self, inputs: Inputs) -> str | None:
        """The default path of the JSON report; None if it is not written."""
        return None

    def recorded_settings(self, signed: Mapping[str, str]) -> Any:
        """Settings with the measures that a report with this signature has; without more: those of every report."""
        return self.settings()

    def setting_for(self, metric: str, settings: Any) -> str | None:
        """The setting, as YAML, that adds a metric which these settings do not have; None if none does."""
        return None

    def known_metrics(self, settings: Any) -> dict[str, Metric]:
        """The metrics that there are, by name, as they are when nothing was counted."""
        return dict(item for measure in self.measures(settings) for item in measure.metrics(Tally()).items())
