"""How well broken and rambling answers are read: our reader beside json_repair, as ratios of counts.

The texts are the corpus of `tests/responses`, answers made from it at random (the seed is fixed), and each of these
damaged: cut at every character, and with every single mark of structure taken out. No clock, and the same figures every
time. `--responses FILE.jsonl` takes other responses instead (objects with `response`), for which no reading is known.
`--time` measures instead how long both take for the corpus and for hostile texts: trust the ratios.

json_repair finds no answer in prose by itself, so it is given the text from its first bracket and the whole text, and
the better of the two counts. Empty strings that it puts in place of missing values are not held against it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import json_repair

from goldgate.suites.extraction.events.answer_form import parse_response

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the corpus and its oracle lie among the tests

from tests.responses.corpus import Case, load_corpus  # after the line above
from tests.responses.damage import (
    SEED,
    canonical,
    complete_values,
    corpus_answers,
    events,
    items,
    made_answers,
    marks,
    plain_pairs,
    strings,
    texts_of,
    units_of,
    written,
)

MOST = 300  # answers of one kind that are damaged; more are sampled

Reader = Callable[[str], list[Any]]  # a text → the values that it may be read as; the best one counts


@dataclass(frozen=True)
class Row:
    """A line of the table: the same count for both readers, over the same denominator."""

    what: str
    ours: int
    theirs: int
    of: int


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--responses", type=Path, action="append", help="JSONL with `response`, instead of the corpus")
    parser.add_argument("--most", type=int, default=MOST, help=f"answers to damage; more are sampled (default {MOST})")
    parser.add_argument("--time", action="store_true", help="measure how long both readers take, and nothing else")
    arguments = parser.parse_args()
    if arguments.time:
        print_times()
        return
    if arguments.responses:
        for path in arguments.responses:
            try:
                with path.open(encoding="utf-8") as lines:
                    texts = [str(json.loads(line)["response"]) for line in lines if line.strip()]
            except (OSError, ValueError, KeyError, TypeError) as error:
                parser.error(f"{path}: expected a JSON object with `response` on every line; found {error!r}")
            found = [answer for text in texts for answer in complete_values(text)[:1]]
            _print(f"{path.name}: {len(texts)} responses", found_rows(texts))
            _print_damage(path.name, found, arguments.most)
        return
    cases = load_corpus()
    _print(f"Corpus: {len(cases)} responses, read exactly as expected", corpus_rows(cases))
    answers = corpus_answers(cases)
    _print_damage("Corpus", answers, arguments.most)
    _print_damage("Made from the corpus", made_answers(answers), arguments.most)


def _print(title: str, rows: Iterable[Row]) -> None:
    print(f"\n{title}\n{'':56}{'ours':>22}{'json_repair':>22}")
    for row in rows:
        print(f"{row.what:56}{_share(row.ours, row.of):>22}{_share(row.theirs, row.of):>22}")


def _share(part: int, whole: int) -> str:
    return f"{part}/{whole} {100 * part / whole:6.2f} %" if whole else "n/a"


def _print_damage(name: str, answers: list[str], most: int) -> None:
    answers = sorted(set(answers))
    if len(answers) > most:
        answers = sorted(random.Random(SEED).sample(answers, most))
    _print(f"{name}: {len(answers)} complete answers, cut at every character", cut_rows(answers))
    _print(f"{name}: {len(answers)} complete answers, each mark of structure removed", removal_rows(answers))


# What both readers make of a text.


def ours(text: str) -> list[Any]:
    return [parse_response(text).value]


def theirs(text: str) -> list[Any]:
    """What json_repair makes of the text from the first bracket, and of all of it if that is another text."""
    first = re.search(r"[\[{]", text)
    texts = [text] if first is None else list(dict.fromkeys((text[first.start() :], text)))
    values = []
    for given in texts:
        try:
            values.append(json_repair.loads(given))
        except (ValueError, RecursionError):
            values.append(None)
    return values


READERS: tuple[tuple[str, Reader], ...] = (("ours", ours), ("theirs", theirs))


# What is counted.


def corpus_rows(cases: Iterable[Case]) -> Iterator[Row]:
    """(a) Events, roles and values exactly as expected, manner by manner."""
    total: Counter[Any] = Counter()
    for case in cases:
        for group in (case.manner, "all", "all but judgements" if not case.judgement else "judgements"):
            total[group, "of"] += 1
            total[group, "ours"] += any(_as_expected(value, case) for value in ours(case.response))
            total[group, "theirs"] += any(_as_expected(value, case) for value in theirs(case.response))
    groups = dict.fromkeys(group for group, _ in total)
    last = [group for group in ("judgements", "all but judgements", "all") if group in groups]
    for group in [group for group in groups if group not in last] + last:
        yield Row(group, total[group, "ours"], total[group, "theirs"], total[group, "of"])


def _as_expected(value: Any, case: Case) -> bool:
    wanted = case.expect.events
    if wanted is None:
        return events(value) is None and (not case.expect.has_value or value == case.expect.value)
    return events(value) == [(event_type, plain_pairs(pairs)) for event_type, pairs in wanted]


def found_rows(texts: Iterable[str]) -> list[Row]:
    """(a) Without a known reading: is a complete value of the response read whole, and nothing but complete values?"""
    count: Counter[Any] = Counter()
    for text in texts:
        complete = [json.loads(answer) for answer in complete_values(text)]
        if not complete:
            count["none"] += 1
            continue
        known = {canonical(item) for value in complete for item in items(value)}
        count["of"] += 1
        for name, reader in READERS:
            values = reader(text)
            count[name, "whole"] += any(strings(one) <= strings(value) for value in values for one in complete)
            read = [{canonical(item) for item in items(value)} for value in values]
            count[name, "exact"] += any(found and found <= known for found in read)
    rows = [("a complete value of it is read whole", "whole"), ("complete values are read, and nothing else", "exact")]
    return [Row(what, count["ours", key], count["theirs", key], count["of"]) for what, key in rows]


def cut_rows(answers: Iterable[str]) -> list[Row]:
    """(b) Every cut of every answer: is there a string in the result that is no whole string of the answer?"""
    count: Counter[Any] = Counter()
    for answer in answers:
        whole = json.loads(answer)
        known, units = written(answer), units_of(whole)
        cuts = len(answer) - 1
        count.update({"answers": 1, "cuts": cuts, "units": len(units(whole)) * cuts})
        for name, reader in READERS:
            bad = 0
            for end in range(1, len(answer)):
                read = [
                    (len(strings(value) - known), len(units(whole) - units(value))) for value in reader(answer[:end])
                ]
                invented, lost = min(read)
                bad += invented > 0
                count[name, "units"] += len(units(whole)) - lost
            count.update({(name, "cuts"): bad, (name, "answers"): int(bad > 0)})
    rows = [
        ("cuts that give invented text", "cuts"),
        ("answers that some cut makes invented", "answers"),
        ("units still read, over all cuts", "units"),
    ]
    return [Row(what, count["ours", key], count["theirs", key], count[key]) for what, key in rows]


def removal_rows(answers: Iterable[str]) -> list[Row]:
    """(c) Each quotation mark, bracket, brace, comma and colon removed: units lost, texts with invented units."""
    count: Counter[Any] = Counter()
    for answer in answers:
        whole = json.loads(answer)
        known, units = written(answer), units_of(whole)
        for place in marks(answer):
            groups = ("all marks", _KINDS.get(answer[place], "brackets and braces"))
            for group in groups:
                count.update({(group, "texts"): 1, (group, "units"): len(units(whole))})
            for name, reader in READERS:
                found = [units(value) for value in reader(answer[:place] + answer[place + 1 :])]
                lost, invented = min((len(units(whole) - read), len(texts_of(read) - known)) for read in found)
                for group in groups:
                    count.update({(group, name, "units"): lost, (group, name, "texts"): int(invented > 0)})
    return [
        Row(f"{what}: {group}", count[group, "ours", key], count[group, "theirs", key], count[group, key])
        for key, what in (("units", "units lost"), ("texts", "texts with invented units"))
        for group in ("all marks", *_KINDS.values(), "brackets and braces")
    ]


# How long it takes.

# Pieces that are repeated: what a reader that goes back, or one that recurses, takes longest for.
HOSTILE = {'{"': (4_000, 8_000), "[": (1_000, 100_000), "[{": (10_000, 100_000), '{"a":': (10_000, 100_000)}


def print_times() -> None:
    """The mean for a response of the corpus, and the time for each hostile text; one run each, an error by its name."""
    texts = [case.response for case in load_corpus()]
    print(f"\n{'':34}{'ours':>24}{'json_repair':>24}")
    means = []
    for reader in (ours, _their_value):
        _seconds(reader, texts)  # warm
        means.append(f"{_seconds(reader, texts)[0] / len(texts) * 1e6:.0f} µs")
    print(f"{'a response of the corpus, mean':34}{means[0]:>24}{means[1]:>24}")
    for piece, lengths in HOSTILE.items():
        for times in lengths:
            taken = (_seconds(reader, [piece * times]) for reader in (ours, _their_value))
            shown = [f"{took:.3f} s{raised}" for took, raised in taken]
            print(f"{f'{piece} x {times:,}':34}{shown[0]:>24}{shown[1]:>24}")


def _their_value(text: str) -> list[Any]:
    return [json_repair.loads(text)]


def _seconds(reader: Reader, texts: Iterable[str]) -> tuple[float, str]:
    """How long a reader takes for the texts, and what it raised, if anything."""
    began, raised = time.perf_counter(), ""
    for text in texts:
        try:
            reader(text)
        except (ValueError, RecursionError) as problem:
            raised = f" {type(problem).__name__}"
    return time.perf_counter() - began, raised


_KINDS = {'"': "quotation marks", ",": "commas", ":": "colons"}


if __name__ == "__main__":
    main()
