"""Supported claims: labels of people and judges on what a claim quotes, counted for each run.

What people label are the verified claims with valid evidence, which `goldgate sample --from RESULT` draws from. Every
other verified claim is not supported, and so is every claim of a broken run, whatever labels say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from fractions import Fraction
from typing import Any, NamedTuple

from goldgate.core.contracts import RemarkValue
from goldgate.core.finding import Finding, limit_length, remark
from goldgate.core.page import count_text
from goldgate.core.suite import Inputs, Plan
from goldgate.core.sums import Counts
from goldgate.errors import ConfigError, InputError, Place
from goldgate.readers.draw import Digests, Draw, ItemKey, first_ids, load_draw
from goldgate.readers.label_checks import (
    LabelDraws,
    Sampling,
    find_label_draws,
    find_sampling,
    judge_is_older,
    judge_remarks,
    people_remarks,
    people_setting,
    require_drawn,
    require_shown,
    sampling_remarks,
    selective_people,
)
from goldgate.readers.labels import ItemLabels, LabelSet, human_numbers, open_labels, read_labels
from goldgate.readers.records import require_unchanged_files
from goldgate.stats.label_counts import (
    COLUMNS,
    LabelResolution,
    LabelScale,
    agreement_remarks,
    count_item,
    find_resolution,
    find_scale,
    split_judge,
    uneven_judge,
)
from goldgate.suites.research.contracts import SupportValue
from goldgate.suites.research.measures import SUPPORT_METRIC
from goldgate.suites.research.run import RunFacts
from goldgate.suites.research.run.claims import claim_key
from goldgate.suites.research.run.files import OUTPUT
from goldgate.suites.research.suite import ResearchSettings


class ClaimLabels(NamedTuple):
    """The labels of claims as they were given, and which claims were drawn for people."""

    book: LabelSet
    draw: Draw | None
    settings: ResearchSettings


def open_claim_labels(stack: ExitStack, inputs: Inputs, plan: Plan) -> ClaimLabels | None:
    """The labels that are given; None where none are, which no gate may need."""
    settings: ResearchSettings = plan.settings
    paths, drawn = inputs.get("labels") or (), [*(inputs.get("draw") or ())]
    if not paths:
        needed_by = "--draw" if drawn else SUPPORT_METRIC if SUPPORT_METRIC in plan.gates else None
        if needed_by is not None:
            raise ConfigError(
                "labels.none_given",
                f"{needed_by} needs labels of people",
                place=Place(drawn[0]) if drawn else plan.place(f"gates.{SUPPORT_METRIC}"),
                advice="add --labels FILE...: what people, and maybe a judge, say of the claims. To get labels, run "
                f"without the gate on {SUPPORT_METRIC} and with --out RESULT, then goldgate sample --from RESULT and "
                "goldgate label",
            )
        return None
    located = open_labels(paths)
    stack.callback(located.store.close)
    stack.enter_context(require_unchanged_files([located.store]))
    book = read_labels(located, settings.labels, "research", people=settings.people)
    draw = load_draw(drawn[0]) if drawn else None
    if draw is not None and draw.header["by"] is not None:
        raise InputError(
            "draw.strata",
            f"{SUPPORT_METRIC} takes a draw without strata",
            place=Place(draw.file),
            found=f"a draw by {draw.header['by']}",
            advice="draw without --by; goldgate judged takes a draw by strata",
        )
    return ClaimLabels(book, draw, settings)


class ClaimFacts(NamedTuple):
    """A claim that people can label: what is counted of it."""

    drawn: bool
    human: Fraction | None
    judge: Fraction | None  # None: it gave no label, or there is no judge
    failed: bool  # 0, whatever the labels say


class CountedLabels(NamedTuple):
    """The labels of all runs: their digests, what each run counts, what the report says of them, what stands out."""

    inputs: dict[str, Any]
    by_run: Mapping[str, Counts]
    value: SupportValue
    remarks: list[RemarkValue]
    findings: list[Finding]
    people: str  # for the signature
    unsupported: list[Finding]  # claims with the worst labels, those of people before those of a judge


def count_claim_labels(labels: ClaimLabels, runs: Sequence[RunFacts], copies: Sequence[RunFacts]) -> CountedLabels:
    """Check the labels against the claims of all runs and of their copies, and count them for each run."""
    book, draw = labels.book, labels.draw
    population = {key: run for run in runs for key in run.claim_ids.items}
    digests = {key: digest for run in runs for key, digest in run.claim_ids.items.items()}
    _require_known(book, [*runs, *copies])
    if draw is not None:
        _check_draw(draw, digests)
        require_drawn(draw, book, population)
    require_shown(book, digests)
    sampling = find_sampling(book, draw, population, labels.settings.sampling, "research")
    drawn = {*draw.items} if draw is not None else {*book.labelled}
    no_labels, facts = ItemLabels(), dict[ItemKey, ClaimFacts]()
    for key, run in population.items():
        item, failed = book.items.get(key, no_labels), run.broken is not None
        facts[key] = ClaimFacts(key in drawn, item.human if key in drawn else None, item.judge(), failed)
    agreed = {key: each.human == each.judge for key, each in facts.items() if each.human is not None and book.judges}
    draws = find_label_draws(book, draw, len(population), agreed)
    scale = find_scale(_judge_labels(facts, book))
    value = _support_value(facts, book, draw, sampling, draws, sum(run.verified for run in runs))
    judged = [(each.drawn, scale(each.judge)) for each in facts.values() if not each.failed]
    remarks = [
        *sampling_remarks(book, draw, sampling, draws),
        *_labels_outside(book, population),
        *people_remarks(book, [book.items.get(key, no_labels) for key in population], "claim"),
        *_count_remarks(value, [*agreed.values()]),
        *judge_remarks(book, draw, value["without_judge_label"], "claim"),
        *uneven_judge(split_judge(judged) if book.judges else []),
    ]
    inputs = {"labels": book.digests(), "draw": None if draw is None else draw.sha256}
    by_run = _count_runs(runs, facts, book, scale, older=judge_is_older(book, draw))
    people = people_setting(book, labels.settings.people)
    unsupported = _unsupported_claims(facts, population)
    return CountedLabels(inputs, by_run, value, remarks, [*selective_people(book.items)], people, unsupported)


def _unsupported_claims(facts: Mapping[ItemKey, ClaimFacts], runs: Mapping[ItemKey, RunFacts]) -> list[Finding]:
    rows = []
    for key, each in facts.items():
        label, who = (each.judge, "a judge") if each.human is None else (each.human, "people")
        if label is not None and label < 1 and not each.failed:
            words = f"the claim {limit_length(key.id)} has the label {float(label):g} of {who}"
            cause = Finding("unsupported_claim", "error", f"{runs[key].name}/{OUTPUT}", None, "/claims", words)
            rows.append((each.human is None, label, key.id, cause))
    return [cause for *_, cause in sorted(rows)]


def _support_value(
    facts: Mapping[ItemKey, ClaimFacts],
    book: LabelSet,
    draw: Draw | None,
    sampling: Sampling,
    draws: LabelDraws | None,
    claims: int,
) -> SupportValue:
    """What the report says of the labels; `claims` is the number of verified ones."""
    every = facts.values()
    return {
        "claims": claims,
        "items": len(facts),
        "labelled": sum(each.human is not None for each in every),
        "unsure": sum(each.drawn and each.human is None and not each.failed for each in every),
        "without_judge_label": sum(each.judge is None for each in every) if book.judges else 0,
        "sampling": sampling,
        "people": sorted(book.people),
        "judges": sorted(book.judges),
        "label_draws": draws,
        "draw": None if draw is None else draw.header,
    }


def _labels_outside(book: LabelSet, population: Mapping[ItemKey, RunFacts]) -> Iterator[RemarkValue]:
    outside = [key for key in book.labelled if key not in population]
    if outside:
        claims = count_text(len(outside), "claim")
        message = (
            f"people labelled {claims} that are not verified with valid evidence, or are in a copy of another run: "
            f"these labels change nothing ({first_ids(outside)})"
        )
        yield remark("labels_outside", message, claims=len(outside))


def _count_remarks(value: SupportValue, agreed: Sequence[bool]) -> Iterator[RemarkValue]:
    if value["unsure"]:
        claims = count_text(value["unsure"], "drawn claim")
        message = (
            f"{claims} unsure or without a label of a person: the interval reaches from none of them supported to all"
        )
        yield remark("unsure", message, unsure=value["unsure"])
    yield from agreement_remarks(sum(agreed), len(agreed), "claim")


def _judge_labels(facts: Mapping[ItemKey, ClaimFacts], book: LabelSet) -> list[Fraction | None]:
    """The judge's labels for the correction, not yet rescaled: a claim of a broken run is 0."""
    return [Fraction(0) if each.failed else each.judge for each in facts.values()] if book.judges else []


def _count_runs(
    runs: Sequence[RunFacts], facts: Mapping[ItemKey, ClaimFacts], book: LabelSet, scale: LabelScale, *, older: bool
) -> dict[str, Counts]:
    has_judge = bool(book.judges)
    judge_steps = find_resolution(scale(each) for each in _judge_labels(facts, book))
    steps = LabelResolution(find_resolution(human_numbers(book.items.values())), judge_steps)
    by_run = {}
    for run in runs:
        keys = run.claim_ids.items
        total = [0] * len(COLUMNS)
        for each in map(facts.__getitem__, keys):
            human, judge = each.human, scale(each.judge) if has_judge else None
            if each.failed:
                human, judge = Fraction(0) if each.drawn else None, Fraction(0) if has_judge else None
            counts = count_item(human, judge, steps, is_unsure=each.drawn and human is None, older=older)
            total = [one + other for one, other in zip(total, counts, strict=True)]
        by_run[run.name] = (*total, run.verified - len(keys))
    return by_run


def _require_known(book: LabelSet, runs: Iterable[RunFacts]) -> None:
    """A label for a claim that no run has is an error."""
    ids = {key for run in runs for key in run.claim_ids.every}
    unknown = [key for key in book.items if key not in ids]
    if unknown:
        raise InputError(
            "labels.unknown_id",
            "there are labels for claims that are not in the outputs",
            place=Place(book.located.store.name),
            expected="ids of claims: the folder of a run, a slash and the claim_id; no question beside that",
            found=f"{count_text(len(unknown), 'other id')}: {first_ids(unknown)}",
            advice="give the labels of these outputs: goldgate sample --from RESULT makes the items that people label",
        )


def _check_draw(draw: Draw, digests: Digests) -> None:
    try:
        draw.check(dict.fromkeys(digests, ""), digests)
    except InputError as error:
        if error.code == "draw.other_items":
            error.advice = "draw from the result of these outputs under this protocol: goldgate sample --from RESULT"
        if error.code == "draw.items_changed":
            error.advice = (
                "score these outputs with --out and without --labels, draw from that result, which draws the same "
                "claims, and label again what was changed"
            )
        raise


def labels_by_claim(book: LabelSet, run: str, output: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The labels of each claim of a run as they were given, by the claim's id."""
    names = {str(claim.get("claim_id")) for claim in output.get("claims", ()) if type(claim) is dict}
    return {name: book.located.records(claim_key(run, name)) for name in sorted(names)}
