"""The files of a judged evaluation: items, labels and a draw, joined by id and question."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from itertools import islice
from typing import Any, NamedTuple

from goldgate.core.finding import Finding
from goldgate.core.page import count_text
from goldgate.core.suite import Inputs, Mapper, Plan, Source, Work, single_input
from goldgate.core.unit_page import InputLookup
from goldgate.errors import InputError, Place, describe_value
from goldgate.readers.draw import (
    BY_JUDGE,
    Digests,
    Draw,
    ItemKey,
    StoredDraw,
    assign_strata,
    first_ids,
    item_sha256,
    judge_strata,
    load_draw,
    new_item_key,
)
from goldgate.readers.label_checks import (
    find_sampling,
    require_drawn,
    require_groups,
    require_shown,
)
from goldgate.readers.labels import (
    ItemLabels,
    LabelBook,
    LocatedRecords,
    NamedLabel,
    file_digests,
    file_names,
    human_numbers,
    open_labels,
    read_labels,
)
from goldgate.readers.records import record_group, require_unchanged_files
from goldgate.stats.label_counts import HALF, Steps, Stretch, find_steps, find_stretch
from goldgate.suites.judged.measures import ItemFacts, judged_measures
from goldgate.suites.judged.report import JudgedOutcome
from goldgate.suites.judged.suite import JudgedSettings

SHARD_ITEMS = 1_000
GROUP = "group"

Items = dict[ItemKey, str | None]  # every item that is to be judged, with its group
UnitFacts = tuple[ItemFacts, str | None]


def read_items(located: LocatedRecords) -> tuple[Items, Digests]:
    """The items of all files, and what each shows; one that is there twice is an error with its line."""
    items, digests = Items(), dict[ItemKey, str]()
    for record in located:
        try:
            key = new_item_key(record.value, items)
            items[key], digests[key] = record_group(record.value), item_sha256(record.value)
        except InputError as error:
            error.code = error.code.replace("gold.", "items.", 1)
            raise record.at(error) from None
        located.add(key, record)
    if not items:
        raise InputError("items.empty", "there are no items", place=Place(file_names(located)), expected="at least one")
    return items, digests


def questions_by_id(items: Iterable[ItemKey]) -> dict[str, str | None]:
    """The question of each id; None where an id is asked several."""
    questions: dict[str, str | None] = {}
    for key in items:
        questions[key.id] = None if key.id in questions else key.question
    return questions


class OpenedFiles(NamedTuple):
    """The files of labels and items, read by item; `items` is None without --items."""

    labels: LocatedRecords
    book: LabelBook
    items: LocatedRecords | None
    population: Items
    digests: Digests  # of what each item shows; none without --items
    outside: int  # labels of judges for what is not among the items

    def for_unit(self, record: Mapping[str, object]) -> dict[str, Any]:
        """The item, and every label of it."""
        key = ItemKey(str(record["item"]), str(record["question"]))
        parts: dict[str, Any] = {"labels": self.labels.records(key)}
        if self.items is not None and key in self.items:
            parts["items"] = self.items.records(key)[0]
        return parts


def open_files(stack: ExitStack, inputs: Inputs, settings: JudgedSettings) -> OpenedFiles:
    """The files, read. Without items, they are what the judge labelled; without a judge, what people did."""
    items, population = None, Items()
    digests: Digests = {}
    if inputs.get("items"):
        items = open_labels(inputs["items"], "items")
        stack.callback(items.store.close)
        population, digests = read_items(items)
    labels = open_labels(inputs.get("labels", ()))
    stack.callback(labels.store.close)
    judge = single_input(inputs, "judge")
    book = read_labels(labels, settings.labels, "judged", judge, questions_by_id(population))
    outside = 0
    if items is None:
        population = {key: each.group for key, each in book.items.items() if each.judges or not book.judges}
    else:
        outside = sum(len(each.judges) for key, each in book.items.items() if key not in population)
    return OpenedFiles(labels, book, items, population, digests, outside)


@contextmanager
def open_judged_source(
    inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
) -> Iterator[JudgedSource]:
    """The inputs, opened, checked against each other, and made into facts."""
    settings: JudgedSettings = plan.settings
    with ExitStack() as stack:
        files = open_files(stack, inputs, settings)
        stores = [each.store for each in (files.labels, files.items) if each is not None]
        stack.enter_context(require_unchanged_files(stores))
        drawn = [*(inputs.get("draw") or ())]
        stored = open_labels(drawn, "draw")
        stack.callback(stored.store.close)
        draw = StoredDraw(load_draw(drawn[0]), stored.store.sha256s()[0]) if drawn else None
        yield JudgedSource(files, draw, [*inputs["labels"]], settings, single_input(inputs, "judge"))


@contextmanager
def open_judged_inputs(inputs: Inputs, plan: Plan | None) -> Iterator[InputLookup]:
    """The items and labels, for looking up what a record was made from."""
    from goldgate.core.unit_page import EmptyInputLookup

    if not inputs.get("labels"):
        yield EmptyInputLookup()
        return
    with ExitStack() as stack:
        yield open_files(stack, inputs, plan.settings if plan is not None else JudgedSettings())


class JudgedWork(Work[Sequence[UnitFacts], ItemFacts]):
    """Give the facts of a shard as they are: items were joined with their labels when the files were read."""

    measures = judged_measures()

    def score(self, shard: Sequence[UnitFacts]) -> Iterator[ItemFacts]:
        return (facts for facts, _ in shard)

    def grouped(self, shard: Sequence[UnitFacts]) -> Sequence[UnitFacts]:
        return shard

    def record(self, facts: ItemFacts) -> Mapping[str, object]:
        return {
            "id": facts.id,
            "item": facts.key.id,
            "question": facts.key.question,
            "stratum": facts.stratum,
            "drawn": facts.drawn,
            "human": _number(facts.human),
            "judge": _number(facts.judge),
            "people": [*map(_label_entry, facts.people)],
            "judges": [*map(_label_entry, facts.judges)],
        }

    def findings(self, facts: ItemFacts) -> Iterator[Finding]:
        if facts.is_unsure:
            message = "no person could say" if facts.people else "it was drawn and has no label of a person"
            yield Finding("unsure", "warning", "labels", None, "", message, facts.id)


def _number(label: Fraction | None) -> float | None:
    return None if label is None else float(label)


def _label_entry(named: NamedLabel) -> dict[str, object]:
    return {"by": named.by, "label": _number(named.label) if isinstance(named.label, Fraction) else named.label}


class JudgedSource(Source[Sequence[UnitFacts], ItemFacts]):
    """Items with their labels, in the order of question and id."""

    def __init__(
        self,
        files: OpenedFiles,
        stored: StoredDraw | None,
        paths: Sequence[str],
        settings: JudgedSettings,
        judge: str | None,
    ) -> None:
        self._files, self._settings, self._judge, self._stored = files, settings, judge, stored
        draw = self._draw = None if stored is None else stored.draw
        self.units = len(files.population)
        self._strata = _check_draw(draw, files, paths) if draw is not None else {}
        require_shown(files.book, files.digests)
        require_groups(files.book, files.population)
        _require_known(files)
        self.sampling = find_sampling(files.book, draw, files.population, settings.sampling, "judged")
        drawn = {*draw.items} if draw is not None else {*files.book.labelled}
        self._facts = [*self._make_facts(drawn)]

    def work(self) -> JudgedWork:
        return JudgedWork()

    def shards(self) -> Iterator[Sequence[UnitFacts]]:
        facts = iter(self._facts)
        while shard := [*islice(facts, SHARD_ITEMS)]:
            yield shard

    def finish(self) -> JudgedOutcome:
        files, draw, settings = self._files, self._draw, self._settings
        items = [] if files.items is None else file_digests(files.items, "items")
        drawn = None if self._stored is None else self._stored.sha256
        inputs: dict[str, Any] = {"labels": file_digests(files.labels, "labels"), "items": items, "draw": drawn}
        signed: dict[str, object] = {
            "labels": ",".join(f"{word}={number}" for word, number in sorted(settings.labels.items())) or "numbers",
            "judge": self._judge or "all",
            "sampling": self.sampling,
            "draw": "none" if draw is None else draw.choice_sha256[:12],
            "steps": f"{self._steps[0]}/{self._steps[1]}",
        }
        return JudgedOutcome(
            inputs, signed, files=files, draw=draw, sampling=self.sampling, steps=self._steps,
            facts=[facts for facts, _ in self._facts],
            stretched=sorted(name for name, stretch in self._stretches.items() if stretch != Stretch()),
        )  # fmt: skip

    def lookup(self) -> OpenedFiles:
        return self._files

    def _make_facts(self, drawn: Collection[ItemKey]) -> Iterator[UnitFacts]:
        book, population = self._files.book, self._files.population
        questions = {key.question for key in population}
        nothing = ItemLabels()
        labels = {key: book.items.get(key, nothing) for key in sorted(population, key=lambda key: (key[1], key[0]))}
        labels_by_question: dict[str, set[Fraction | None]] = {question: set() for question in sorted(questions)}
        for key, item in labels.items():
            labels_by_question[key.question].add(item.judge())
        self._stretches = {question: find_stretch(numbers) for question, numbers in labels_by_question.items()}
        has_judge = bool(book.judges)
        least = self._settings.steps
        judge_steps = find_steps(self._judge_numbers(labels), least) if has_judge else 1
        self._steps = Steps(find_steps(human_numbers(labels.values()), least), judge_steps)
        by_group = self._draw is not None and self._draw.header["by"] == GROUP
        for key, item in labels.items():
            judge = item.judge() if has_judge else None
            facts = ItemFacts(
                key,
                key.id if len(questions) == 1 else f"{key.question}: {key.id}",
                *self._steps,
                key in drawn,
                item.human if key in drawn else None,
                tuple(NamedLabel(*each) for each in sorted(item.people.items())),
                judge,
                tuple(NamedLabel(*each) for each in sorted(item.judges.items())),
                self._stretches[key.question](judge) if has_judge else None,
                self._strata.get(key),
            )
            yield facts, None if by_group else population[key]

    def _judge_numbers(self, labels: Mapping[ItemKey, ItemLabels]) -> Iterator[Fraction]:
        """Every number of a judge that is counted: as it was given, and as the correction takes it."""
        for key, item in labels.items():
            judge = item.judge()
            yield HALF if judge is None else judge
            yield self._stretches[key.question](judge)


def _check_draw(draw: Draw, files: OpenedFiles, paths: Sequence[str]) -> dict[ItemKey, str]:
    """Draw again; the stratum of each item, where it was drawn by strata."""
    by, judge = draw.header["by"], None
    if by == BY_JUDGE:
        digests = dict(zip(files.labels.store.sha256s(), paths, strict=True))
        path = digests.get(str(draw.header["labels_sha256"]))
        if path is None:
            raise InputError(
                "draw.no_judge_labels",
                "the labels by which this was drawn are not among the labels",
                place=Place(draw.file),
                expected=f"a file of labels with the sha256 {str(draw.header['labels_sha256'])[:12]}",
                advice="add the file that `goldgate sample --labels` was given to --labels",
            )
        judge = judge_strata(path)
    elif by is not None and files.items is None:
        raise InputError(
            "draw.no_items",
            f"this was drawn by {by}, which the items say",
            place=Place(draw.file),
            advice="add --items FILE: the items that `goldgate sample --from` was given",
        )
    strata = assign_strata(_whole_items(files), by, judge)
    draw.check(strata, files.digests or _digests_of_labels(draw, files))
    require_shown(files.book, draw.digests())
    _require_same_groups(draw, files)
    require_drawn(draw, files.book, files.population)
    return strata if by is not None else {}


def _digests_of_labels(draw: Draw, files: OpenedFiles) -> Digests | None:
    """What the items showed, by the draw and the labels; None where a label does not say so."""
    labels, drawn = files.book.items, draw.digests()
    digests = {key: drawn.get(key) or labels[key].item_sha256 or "" for key in files.population}
    return digests if all(digests.values()) else None


def _require_same_groups(draw: Draw, files: OpenedFiles) -> None:
    """The drawn items must have the groups of the items or, without those, of the labels."""
    for key, item in draw.items.items():
        group, today = item.get(GROUP), files.population[key]
        if today == (None if group is None else str(group)):
            continue
        if files.items is not None:
            raise draw.changed(f"an item that is not as in {file_names(files.items)}: {key.id}")
        raise InputError(
            "draw.other_groups",
            "the labels do not have the groups of the items that were drawn",
            place=Place(draw.file),
            expected=f"{key.id} in {describe_value(group) if group is not None else 'no group'}",
            found=today or "no group",
            advice="add --items FILE: the items that `goldgate sample --from` was given",
        )


def _whole_items(files: OpenedFiles) -> Iterator[tuple[ItemKey, Mapping[str, Any]]]:
    for key in files.population:
        yield key, {} if files.items is None else files.items.records(key)[0]


def _require_known(files: OpenedFiles) -> None:
    """A label of a person for what is not among the items is an error."""
    unknown = [key for key in files.book.labelled if key not in files.population]
    if not unknown:
        return
    whose = "what the judge labelled" if files.items is None else "the items"
    raise InputError(
        "labels.unknown_id",
        f"people labelled what is not among {whose}",
        place=Place(file_names(files.labels)),
        expected=f"ids of {whose}",
        found=f"{count_text(len(unknown), 'other id')}: {first_ids(unknown)}",
        advice="--items FILE names everything that is to be judged" if files.items is None else None,
    )
