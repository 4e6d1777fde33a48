"""The base of suites that join gold and predictions by id: such a suite defines how a pair is compared."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, cast

from goldgate.core.finding import missing_answers_remarks, same_files_remarks
from goldgate.core.suite import (
    BATCH_SIZE,
    GOLD,
    PREDICTIONS,
    Facts,
    Inputs,
    Mapper,
    Measure,
    Outcome,
    Plan,
    Source,
    Suite,
    Work,
)
from goldgate.core.unit_page import InputLookup
from goldgate.errors import InputError, Place
from goldgate.readers.id_index import Opener
from goldgate.readers.join import JoinedFiles, PairReader, PairShard, RecordPair, open_joined, open_joined_inputs
from goldgate.readers.records import LocatedRecord, open_records, record_group
from goldgate.shape.validation import problems, type_test

if TYPE_CHECKING:
    from goldgate.core.contracts import FileDigest, StandsOut, SuiteReport


class JoinedWork(Work[PairShard, Facts]):
    """Compares pairs of gold and prediction. An error in a record gets its file and line here."""

    gold_kind: ClassVar[Any] = object  # the types of the records: one that does not fit is an error
    prediction_kind: ClassVar[Any] = object

    def __init__(self, reader: PairReader, measures: Sequence[Measure[Facts]], settings: Any) -> None:
        self.reader = reader
        self.measures = measures
        self.settings = settings

    @abstractmethod
    def compare(self, identity: str, gold: Any, prediction: Any | None) -> Facts:
        """What can be said of a sample; without a prediction that is None."""

    def read_gold(self, identity: str, record: LocatedRecord) -> Any:
        """A gold record, checked; an InputError need only name the field."""
        return _check_record(self.gold_kind, record, "gold")

    def read_prediction(self, record: LocatedRecord) -> Any:
        """A prediction, checked; an InputError need only name the field."""
        return _check_record(self.prediction_kind, record, "predictions")

    def read_group(self, gold: Any, record: LocatedRecord) -> str | None:
        """The group that a gold record names, if it names one."""
        return record_group(record.value)

    def lookup(self, records: InputLookup) -> InputLookup:
        """What the page of a unit is made from: its records, and what the suite adds to them."""
        return records

    def score(self, shard: PairShard) -> Iterator[Facts]:
        return (facts for facts, _ in self.grouped(shard))

    def compare_all(self, samples: Sequence[tuple[str, Any, Any | None]]) -> Iterable[Facts]:
        """What can be said of each of several samples, in order."""
        return [self.compare(*sample) for sample in samples]

    def grouped(self, shard: PairShard) -> Iterator[tuple[Facts, str | None]]:
        pairs = self.reader.pairs(shard)
        while some := [self._read(pair) for pair in islice(pairs, BATCH_SIZE)]:
            yield from zip(self.compare_all([sample for sample, _ in some]), [group for _, group in some], strict=True)

    def _read(self, pair: RecordPair) -> tuple[tuple[str, Any, Any | None], str | None]:
        """A sample as `compare` takes it, and its group."""
        identity, record, prediction = pair
        answer = None
        try:
            gold = self.read_gold(identity, record)
            group = self.read_group(gold, record)
            if prediction is not None:
                record = prediction  # an error is one of this record now
                answer = self.read_prediction(prediction)
        except InputError as error:
            raise record.at(error) from None
        return (identity, gold, answer), group


class JoinedOutcome(Outcome):
    """What can stand out wherever gold and predictions are joined."""

    def remarks(self, report: SuiteReport) -> Iterator[StandsOut]:
        gold, predictions = (cast("list[FileDigest]", report["inputs"][kind]) for kind in ("gold", "predictions"))
        samples, answers = (sum(file["samples"] for file in files) for files in (gold, predictions))
        yield from same_files_remarks(gold, predictions)
        yield from missing_answers_remarks(samples - answers, samples)


class JoinedSource(Source[PairShard, Facts]):
    """Joined files and the work on them. Their digests become inputs of the outcome."""

    def __init__(self, files: JoinedFiles, work: JoinedWork[Facts], outcome: Outcome) -> None:
        self._files = files
        self._work = work
        self._outcome = outcome
        self.units = len(files)

    def work(self) -> JoinedWork[Facts]:
        return self._work

    def shards(self) -> Iterator[PairShard]:
        return self._files.shards()

    def finish(self) -> Outcome:
        self._outcome.inputs.update(self._files.digests())
        return self._outcome

    def lookup(self) -> InputLookup:
        return self._work.lookup(self._files.lookup())


class JoinedSuite(Suite):
    """A suite whose inputs are gold and predictions, and whose settings all stand in the signature."""

    inputs = (GOLD, PREDICTIONS)
    work: ClassVar[type[JoinedWork[Any]]]

    def open(
        self, inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
    ) -> AbstractContextManager[JoinedSource[Any]]:
        settings, measures = plan.settings, self.measures(plan.settings)
        outcome = JoinedOutcome({}, asdict(settings))
        return open_pairs(inputs, lambda reader: self.work(reader, measures, settings), outcome, engine=engine)

    def open_inputs(self, inputs: Inputs, plan: Plan | None) -> AbstractContextManager[InputLookup]:
        return open_joined_inputs(inputs)


@contextmanager
def open_pairs(
    inputs: Inputs,
    make_work: Callable[[PairReader], JoinedWork[Facts]],
    outcome: Outcome,
    opener: Opener = open_records,
    engine: Mapper | None = None,
) -> Iterator[JoinedSource[Facts]]:
    """The inputs `gold` and `predictions`, opened and joined. What form other programs wrote is signed."""
    with open_joined(inputs["gold"], inputs["predictions"], opener, engine) as files:
        outcome.settings.update(files.forms())
        yield JoinedSource(files, make_work(files.reader), outcome)


def _check_record(kind: Any, record: LocatedRecord, name: str) -> Any:
    if not type_test(kind)(record.value):
        problem = next(problems(kind, record.value))
        raise InputError(
            f"{name}.wrong_type",
            f"this {name} record is malformed",
            place=Place(field=problem.pointer.strip("/").replace("/", ".")),
            expected=problem.expected,
            found=problem.found,
        )
    return record.value
