"""The base class of suites that compare gold with predictions, which are joined by id, in any order.

The pairs are cut into shards. A shard names records by location, so a worker process reads only what it scores. A suite
defines how a pair is compared.
"""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict
from functools import partial
from itertools import accumulate, islice, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, cast

from goldgate.core.finding import missing_answers_remarks, record_id, same_files_remarks
from goldgate.core.process import Promise, start_background_thread
from goldgate.core.suite import (
    ALLOW_EMPTY,
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
from goldgate.errors import InputError, InternalError, Place
from goldgate.files.reading import RandomAccess
from goldgate.readers.id_index import (
    NO_PREDICTION,
    IdIndex,
    Opener,
    index_files,
    index_stores,
    join_indexes,
    no_records_error,
    open_store,
    total_bytes,
)
from goldgate.readers.records import (
    LocatedRecord,
    RecordFile,
    RecordStore,
    open_records,
    record_group,
    require_unchanged_files,
)
from goldgate.shape.validation import problems, type_test

if TYPE_CHECKING:
    from goldgate.core.contracts import FileDigest, RemarkValue, SuiteReport

_RECHECK_SECONDS = 10.0  # for which a store elsewhere need not be asked again


class JoinedInputs:
    """Looks records up by id in open files. A file that was changed since is left out: that was not scored."""

    def __init__(self, indexes: Mapping[str, IdIndex]) -> None:
        self._indexes = indexes

    def for_unit(self, record: Mapping[str, Any]) -> dict[str, Any]:
        inputs: dict[str, Any] = {}
        for name, index in self._indexes.items():
            try:
                value = index.find(str(record["id"]))
                index.store.require_unchanged(_RECHECK_SECONDS)  # after reading: what was read is what was there before
            except InputError:
                continue
            if value is not None:
                inputs[name] = value
        return inputs


@contextmanager
def open_joined_inputs(inputs: Inputs, opener: Opener = open_records) -> Iterator[JoinedInputs]:
    """The files that are named of gold and predictions, opened and indexed."""
    with ExitStack() as stack:
        indexes: dict[str, IdIndex] = {}
        for name in ("gold", "predictions"):
            if inputs.get(name):
                indexes[name] = index_files(inputs[name], name, opener)
                stack.callback(indexes[name].store.close)
        yield JoinedInputs(indexes)


SHARD_SAMPLES = 1_000
SMALLEST_SHARD = 50
SHARD_BYTES = 4 << 20  # a shard is held in memory: a record larger than this is one of its own
WORTH_BYTES = 128 << 20  # less is searched for ids before the first worker has started
FILES_PER_WORKER = 4  # files of one size, more or less: all workers are done with them at about the same time
SHARDS_PER_SHARE = 3  # shards that a worker's part of the rest is cut into


class PairShard(NamedTuple):
    """Where the gold and the predictions of some samples are; a prediction of length 0 is not there."""

    gold_locations: array[int]
    gold_lengths: array[int]
    predicted_locations: array[int]
    predicted_lengths: array[int]


RecordPair = tuple[str, LocatedRecord, LocatedRecord | None]  # an id, its gold record, and its prediction if any


class PairReader:
    """Reads the pairs of a shard; a mistake in a record is an error with its line. It can be sent to a worker."""

    def __init__(self, gold: RecordStore, predictions: RecordStore) -> None:
        self.gold = gold
        self.predictions = predictions

    def pairs(self, shard: PairShard) -> Iterator[RecordPair]:
        lines = self.gold.read_many(shard.gold_locations, shard.gold_lengths)
        answers = self.predictions.read_many(shard.predicted_locations, shard.predicted_lengths)
        for at, line, predicted_at, answer in zip(
            shard.gold_locations, lines, shard.predicted_locations, answers, strict=True
        ):
            gold = self.gold.decode(at, line)
            identity = gold.require_one_id()
            prediction = self.predictions.decode(predicted_at, answer) if answer else None
            if prediction is not None and prediction.require_one_id() != identity:
                raise InternalError("internal.hash_collision", "two ids have the same hash; run the command again")
            yield identity, gold, prediction


class JoinedFiles:
    """Open files of gold and predictions, and which records belong together."""

    def __init__(
        self, gold: IdIndex, predictions: IdIndex, hashes: Promise[list[str]], engine: Mapper | None = None
    ) -> None:
        self._gold = gold
        self._predictions = predictions
        self._partners = join_indexes(gold, predictions, engine)
        self._hashes = hashes
        self._workers = engine.workers if engine is not None else 1
        self.reader = PairReader(gold.store, predictions.store)

    def __len__(self) -> int:
        return len(self._gold)

    def require_predictions(self) -> None:
        """Raise an InputError if there are no predictions."""
        if not len(self._predictions):
            raise no_predictions_error(self._predictions.store)

    def shards(self) -> Iterator[PairShard]:
        """All samples in the order of the gold, cut into pieces by number of samples and by bytes.

        Towards the end the pieces become smaller, so that all workers are done at about the same time.
        """
        begin = 0
        while begin < len(self):
            share = (len(self) - begin) // (self._workers * SHARDS_PER_SHARE) if self._workers > 1 else SHARD_SAMPLES
            shard = self._shard(begin, min(SHARD_SAMPLES, max(share, SMALLEST_SHARD)))
            begin += len(shard.gold_locations)
            yield shard

    def _shard(self, begin: int, samples: int) -> PairShard:
        """A shard of at most `samples` samples; fewer if they have too many bytes, but at least one."""
        gold, partners = self._gold, self._partners[begin : begin + samples]
        locations, lengths = self._predictions.locations, self._predictions.lengths
        shard = PairShard(
            gold.locations[begin : begin + samples],
            gold.lengths[begin : begin + samples],
            array("Q", [0 if partner == NO_PREDICTION else locations[partner] for partner in partners]),
            array(lengths.typecode, [0 if partner == NO_PREDICTION else lengths[partner] for partner in partners]),
        )
        if sum(shard.gold_lengths) + sum(shard.predicted_lengths) <= SHARD_BYTES:
            return shard
        sizes = accumulate(map(int.__add__, shard.gold_lengths, shard.predicted_lengths))
        fitting = sum(1 for _ in takewhile(SHARD_BYTES.__ge__, sizes))
        return PairShard(*(column[: fitting or 1] for column in shard))

    def place(self, identity: str) -> Place:
        """The file and line of a sample's prediction, or of its gold where there is none."""
        for index in (self._predictions, self._gold):
            for record in map(index.record, index.positions(identity)):
                if record_id(record.value) == identity:
                    return record.place()
        return Place()

    def lookup(self) -> JoinedInputs:
        """The records of a sample, by its id."""
        return JoinedInputs({"gold": self._gold, "predictions": self._predictions})

    def forms(self) -> dict[str, str]:
        """In which forms other programs wrote the files, by kind; a kind of which all are ours is left out."""
        stores = {"dialect": self._gold.store, "layout": self._predictions.store}
        forms = {kind: {file.form for file in store.files if file.form is not None} for kind, store in stores.items()}
        return {kind: "+".join(sorted(names)) for kind, names in forms.items() if names}

    def digests(self) -> dict[str, list[FileDigest]]:
        """What a report says of the files, sorted: in what order they were named changes nothing."""
        stores = {"gold": self._gold.store, "predictions": self._predictions.store}
        hashes = iter(self._hashes.result())
        return {
            kind: sorted(map(_file_digest, store.files, hashes), key=lambda digest: (*digest.values(),))
            for kind, store in stores.items()
        }


def no_predictions_error(store: RecordStore | None = None) -> InputError:
    """The error for predictions of which there are none: more likely than the model, what wrote them failed."""
    more = " to score every gold record as one without an answer: --allow-empty"
    return no_records_error("predictions", "predictions: nothing would be scored", store, more)


def _file_digest(file: RecordFile, sha256: str) -> FileDigest:
    digest: FileDigest = {"sha256": sha256, "samples": file.records}
    return digest if file.form is None else {**digest, "form": file.form}


@contextmanager
def open_joined(
    gold: Sequence[str | Path],
    predictions: Sequence[str | Path],
    opener: Opener = open_records,
    engine: Mapper | None = None,
) -> Iterator[JoinedFiles]:
    """The files, opened, hashed and joined. What was hashed is what is read inside, or it is an error."""
    with ExitStack() as stack:
        stores: list[RecordStore] = []
        for paths, kind in ((gold, "gold"), (predictions, "predictions")):
            stores.append(open_store(paths, kind, opener))
            stack.callback(stores[-1].close)
        worth = engine if sum(map(total_bytes, stores)) >= WORTH_BYTES else None
        with require_unchanged_files(stores):
            hashes = _start_hashing(stores, worth)
            gold_index, predicted_index = index_stores(stores, worth)
            yield JoinedFiles(gold_index, predicted_index, hashes, engine)


def _start_hashing(stores: Sequence[RecordStore], engine: Mapper | None) -> Promise[list[str]]:
    """The digests of all files: made beside everything else, or, where all workers get files enough, by them."""
    hashes: Promise[list[str]] = Promise()
    files = [file.stored for store in stores for file in store.files]
    if engine is None or len(files) < engine.workers * FILES_PER_WORKER:
        start_background_thread(  # takes no turn from the rest
            lambda: hashes.run(lambda: [digest for store in stores for digest in store.sha256s()])
        )
    else:
        digests = [*engine.map(partial(_file_sha256, files), range(len(files)))]
        hashes.run(lambda: digests)
    return hashes


def _file_sha256(files: Sequence[RandomAccess], number: int) -> str:
    return files[number].sha256()


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
        """The facts of a sample; `prediction` is None where there is none."""

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
        """The facts of several samples, in order."""
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
    """The outcome of a suite that joins gold and predictions, with the remarks that all such suites have."""

    def remarks(self, report: SuiteReport) -> Iterator[RemarkValue]:
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

    def place(self, unit: str) -> Place:
        return self._files.place(unit)

    def lookup(self) -> InputLookup:
        return self._work.lookup(self._files.lookup())


class JoinedSuite(Suite):
    """A suite whose inputs are gold and predictions, and whose settings all stand in the signature."""

    inputs = (GOLD, PREDICTIONS, ALLOW_EMPTY)
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
        if not inputs.get("allow_empty"):
            files.require_predictions()
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
