"""The files of a judged evaluation: items, labels and a draw, joined by id and question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
    ItemFiles,
    ItemKey,
    assign_strata,
    first_ids,
    judge_strata,
    load_draw,
    questions_by_id,
)
from goldgate.readers.id_index import no_records_error, open_store
from goldgate.readers.label_checks import (
    find_sampling,
    judge_is_older,
    people_setting,
    require_drawn,
    require_groups,
    require_shown,
    selective_people,
)
from goldgate.readers.labels import (
    ItemLabels,
    LabelSet,
    NamedLabel,
    file_digests,
    human_numbers,
    open_labels,
    read_labels,
)
from goldgate.readers.records import require_unchanged_files
from goldgate.stats.label_counts import HALF, LabelResolution, LabelScale, find_resolution, find_scale
from goldgate.suites.judged.measures import ItemFacts, judged_measures
from goldgate.suites.judged.report import JudgedOutcome
from goldgate.suites.judged.suite import JudgedSettings

SHARD_ITEMS = 1_000
GROUP = "group"

UnitFacts = tuple[ItemFacts, str | None]  # an item, and its group


class OpenedFiles(NamedTuple):
    """The files of labels and items; `items` is None without --items."""

    labels: LabelSet
    items: ItemFiles | None
    population: Mapping[ItemKey, str | None]  # every item that is to be judged, with its group
    outside: int  # labels of judges for what is not among the items

    @property
    def digests(self) -> Digests:
        """The digest of each item's content; empty without --items."""
        return {} if self.items is None else self.items.digests

    def for_unit(self, record: Mapping[str, object]) -> dict[str, Any]:
        """The item and all its labels, for the page of a unit."""
        key = ItemKey(str(record["item"]), str(record["question"]))
        parts: dict[str, Any] = {"labels": self.labels.located.records(key)}
        if self.items is not None and key in self.items:
            parts["items"] = self.items[key]
        return parts


def open_files(stack: ExitStack, inputs: Inputs, settings: JudgedSettings, *, checked: bool = True) -> OpenedFiles:
    """The files, read. Without items, they are what the judge labelled; without a judge, what people did."""
    items = None
    if inputs.get("items"):
        items = stack.enter_context(ItemFiles(open_store(inputs["items"], "items")))
        items.require_any()
    located = open_labels(inputs.get("labels", ()))
    stack.callback(located.store.close)
    people, questions = settings.people if checked else None, questions_by_id(items or ())
    labels = read_labels(located, settings.labels, "judged", single_input(inputs, "judge"), questions, people)
    if not labels.items:
        raise no_records_error("labels", "labels: no item would have a rate", located.store)
    if items is None:
        population = {key: each.group for key, each in labels.items.items() if each.judges or not labels.judges}
        return OpenedFiles(labels, None, population, 0)
    outside = sum(len(each.judges) for key, each in labels.items.items() if key not in items)
    return OpenedFiles(labels, items, items.groups, outside)


@contextmanager
def open_judged_source(
    inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
) -> Iterator[JudgedSource]:
    """The inputs, opened, checked against each other, and made into facts."""
    settings: JudgedSettings = plan.settings
    with ExitStack() as stack:
        files = open_files(stack, inputs, settings)
        stores = [each.store for each in (files.labels.located, files.items) if each is not None]
        stack.enter_context(require_unchanged_files(stores))
        path = single_input(inputs, "draw")
        draw = None if path is None else load_draw(path)
        yield JudgedSource(files, draw, inputs, settings)


@contextmanager
def open_judged_inputs(inputs: Inputs, plan: Plan | None) -> Iterator[InputLookup]:
    """The items and labels, for looking up what a record was made from."""
    from goldgate.core.unit_page import EmptyInputLookup

    if not inputs.get("labels"):
        yield EmptyInputLookup()
        return
    with ExitStack() as stack:
        yield open_files(stack, inputs, JudgedSettings() if plan is None else plan.settings, checked=plan is not None)


class JudgedWork(Work[Sequence[UnitFacts], ItemFacts]):
    """Give the facts of a shard as they are: items were joined with their labels when the files were read."""

    measures = judged_measures()

    def score(self, shard: Sequence[UnitFacts]) -> Iterator[ItemFacts]:
        return (facts for facts, _ in shard)

    def grouped(self, shard: Sequence[UnitFacts]) -> Sequence[UnitFacts]:
        return shard

    def unit_id(self, facts: ItemFacts) -> str:
        return facts.id

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

    def __init__(self, files: OpenedFiles, draw: Draw | None, inputs: Inputs, settings: JudgedSettings) -> None:
        self._files, self._draw, self._settings = files, draw, settings
        self._judge = single_input(inputs, "judge")
        self.units = len(files.population)
        strata = {} if draw is None else _check_draw(draw, files, inputs["labels"])
        require_shown(files.labels, files.digests)
        require_groups(files.labels, files.population)
        if files.items is None and draw is None:
            _require_groups_of_people(files.labels)
        _require_known(files)
        self._sampling = find_sampling(files.labels, draw, files.population, settings.sampling, "judged")
        self._facts = [*self._make_facts(strata)]

    def work(self) -> JudgedWork:
        return JudgedWork()

    def shards(self) -> Iterator[Sequence[UnitFacts]]:
        facts = iter(self._facts)
        while shard := [*islice(facts, SHARD_ITEMS)]:
            yield shard

    def finish(self) -> JudgedOutcome:
        files, draw, settings = self._files, self._draw, self._settings
        inputs: dict[str, Any] = {
            "labels": files.labels.digests(),
            "items": [] if files.items is None else file_digests(files.items.store, "items"),
            "draw": None if draw is None else draw.sha256,
        }
        signed: dict[str, object] = {
            "labels": ",".join(f"{word}={number}" for word, number in sorted(settings.labels.items())) or "numbers",
            "judge": self._judge or "all",
            "sampling": self._sampling,
            "people": people_setting(files.labels, settings.people),
            "draw": "none" if draw is None else draw.choice_sha256[:12],
            "steps": f"{self._steps.human}/{self._steps.judge}",
        }
        return JudgedOutcome(
            inputs, signed, files=files, draw=draw, sampling=self._sampling, steps=self._steps,
            facts=[facts for facts, _ in self._facts], findings=[*selective_people(files.labels.items)],
            stretched=sorted(name for name, scale in self._scales.items() if scale != LabelScale()),
        )  # fmt: skip

    def place(self, unit: str) -> Place:
        """Where the first label of an item is."""
        keys = (facts.key for facts, _ in self._facts if facts.id == unit)
        records = (record for key in keys for record in self._files.labels.located.located(key))
        return next((record.place() for record in records), Place())

    def lookup(self) -> OpenedFiles:
        return self._files

    def _make_facts(self, strata: Mapping[ItemKey, str]) -> Iterator[UnitFacts]:
        labels, population, draw = self._files.labels, self._files.population, self._draw
        nothing, keys = ItemLabels(), sorted(population, key=lambda key: (key.question, key.id))
        items = {key: labels.items.get(key, nothing) for key in keys}
        judge = {key: item.judge() for key, item in items.items()} if labels.judges else {}
        by_question: dict[str, set[Fraction | None]] = {}
        for key in keys:
            by_question.setdefault(key.question, set()).add(judge.get(key))
        self._scales = {question: find_scale(numbers) for question, numbers in by_question.items()}
        corrected = {key: self._scales[key.question](number) for key, number in judge.items()}
        counted = [*(HALF if number is None else number for number in judge.values()), *corrected.values()]
        least = self._settings.steps
        people = human_numbers(items.values())
        self._steps = LabelResolution(find_resolution(people, least), find_resolution(counted, least) if judge else 1)
        drawn = {*(labels.labelled if draw is None else draw.items)}
        older = judge_is_older(labels, draw)
        by_group = draw is not None and draw.header["by"] == GROUP
        for key, item in items.items():
            facts = ItemFacts(
                key,
                key.id if len(by_question) == 1 else f"{key.question}: {key.id}",
                *self._steps,
                key in drawn,
                item.human if key in drawn else None,
                tuple(NamedLabel(*each) for each in sorted(item.people.items())),
                judge.get(key),
                tuple(NamedLabel(*each) for each in sorted(item.judges.items())),
                corrected.get(key),
                strata.get(key),
                older,
            )
            yield facts, None if by_group else population[key]


def _check_draw(draw: Draw, files: OpenedFiles, paths: Sequence[str]) -> dict[ItemKey, str]:
    """Draw again; the stratum of each item, where it was drawn by strata."""
    by, judge = draw.header["by"], None
    if by == BY_JUDGE:
        digests = dict(zip(files.labels.located.store.sha256s(), paths, strict=True))
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
    items = files.items.items() if files.items is not None else ((key, {}) for key in files.population)
    strata = assign_strata(items, by, judge)
    draw.check(strata, files.digests or _digests_of_labels(draw, files))
    require_shown(files.labels, draw.digests)
    _require_same_groups(draw, files)
    require_drawn(draw, files.labels, files.population)
    return strata if by is not None else {}


def _digests_of_labels(draw: Draw, files: OpenedFiles) -> Digests | None:
    """What the items showed, by the draw and the labels; None where a label does not say so."""
    labels = files.labels.items
    digests = {key: draw.digests.get(key) or labels[key].item_sha256 or "" for key in files.population}
    return digests if all(digests.values()) else None


def _require_same_groups(draw: Draw, files: OpenedFiles) -> None:
    """The drawn items must have the groups of the items or, without those, of the labels."""
    for key, item in draw.items.items():
        group, today = item.get(GROUP), files.population[key]
        if today == (None if group is None else str(group)):
            continue
        if files.items is not None:
            raise draw.changed(f"an item that is not as in {files.items.store.name}: {key.id}")
        raise InputError(
            "draw.other_groups",
            "the labels do not have the groups of the items that were drawn",
            place=Place(draw.file),
            expected=f"{key.id} in {describe_value(group) if group is not None else 'no group'}",
            found=today or "no group",
            advice="add --items FILE: the items that `goldgate sample --from` was given",
        )


def _require_groups_of_people(labels: LabelSet) -> None:
    """Refuse groups that only a judge names: chosen by the labels of people, they would make the interval shorter."""
    others = [key for key in labels.labelled if labels.items[key].judge_groups]
    if others:
        record = next(each for each in labels.located.located(min(others)) if each.value.get(GROUP) is not None)
        raise InputError(
            "labels.other_group",
            "only labels of judges say which group these items are in",
            place=record.place(GROUP),
            expected="groups in the items (--items), in the draw, or in labels of people",
            found=f"{count_text(len(others), 'item')} that people labelled without a group: {first_ids(others)}",
        )


def _require_known(files: OpenedFiles) -> None:
    """A label of a person for what is not among the items is an error."""
    unknown = [key for key in files.labels.labelled if key not in files.population]
    if not unknown:
        return
    whose = "what the judge labelled" if files.items is None else "the items"
    raise InputError(
        "labels.unknown_id",
        f"people labelled what is not among {whose}",
        place=Place(files.labels.located.store.name),
        expected=f"ids of {whose}",
        found=f"{count_text(len(unknown), 'other id')}: {first_ids(unknown)}",
        advice="--items FILE names everything that is to be judged" if files.items is None else None,
    )
