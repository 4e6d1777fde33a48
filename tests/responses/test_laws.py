"""The two laws of repair, at every cut and for every missing mark: nothing is invented, little is lost."""

from __future__ import annotations

import json
import random
from functools import cache

import pytest

from goldgate.suites.extraction.events.answer_form import parse_response
from tests.responses.corpus import load_corpus
from tests.responses.damage import (
    SEED,
    complete_values,
    corpus_answers,
    event_units,
    made_answers,
    marks,
    strings,
    texts_of,
    units_of,
    written,
)
from tests.responses.moving import DAMAGES, is_json, make_answer, moved, values_read

pytestmark = pytest.mark.law  # `make fuzz` makes other answers

MOST_LOST = 5  # per cent of the units, over all answers with one mark missing
LEAST_READ = 60  # per cent of the values, over all answers with more damage than that
MOST_INVENTED = 8  # per cent of such answers; json_repair: 8


# `make test` takes every fifth answer or response.
each_and_every_fifth = pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])


@cache
def answers() -> tuple[str, ...]:
    """Every complete answer of the corpus that has units, and lists made of their events."""
    complete = corpus_answers(load_corpus())
    return (*complete, *made_answers(complete))


@each_and_every_fifth
def test_no_cut_of_an_answer_invents_text(step: int) -> None:
    invented = []
    for answer in answers()[::step]:
        known = written(answer)
        for end in range(1, len(answer)):
            if more := strings(parse_response(answer[:end]).value) - known:
                invented.append((answer[:end], sorted(more)))
    assert len(invented) == 0, invented[:5]


@each_and_every_fifth
def test_no_cut_of_a_response_invents_events(step: int) -> None:
    """The same with the prose, fences, thoughts and drafts around the answer."""
    invented = []
    for case in load_corpus()[::step]:
        known = set().union(*map(written, complete_values(case.response)))
        if case.expect.status != "raw" or not known:
            continue
        # Cut inside a thought, it is one that was never closed, and a draft in it may be the answer.
        for end in range(max(1, case.response.rfind("</think") + 1), len(case.response)):
            if more := texts_of(event_units(parse_response(case.response[:end]).value)) - known:
                invented.append((case.name, case.response[:end], sorted(more)))
    assert len(invented) == 0, invented[:5]


@each_and_every_fifth
def test_one_missing_mark_costs_little_and_invents_little(step: int) -> None:
    lost = meant = invented = texts = 0
    for answer in answers()[::step]:
        whole = json.loads(answer)
        known, units = strings(whole), units_of(whole)
        for place in marks(answer):
            read = units(parse_response(answer[:place] + answer[place + 1 :]).value)
            lost += len(units(whole) - read)
            meant += len(units(whole))
            invented += bool(texts_of(read) - known)
            texts += 1
    assert 100 * lost <= MOST_LOST * meant, f"{lost} of {meant} units lost"
    assert 100 * invented <= MOST_INVENTED * texts, f"{invented} of {texts} texts have units that nobody wrote"


@pytest.mark.parametrize("answers_made", [500, pytest.param(10_000, marks=pytest.mark.slow)])
def test_no_damage_moves_a_value_to_another_role_or_event(answers_made: int) -> None:
    rng = random.Random(SEED)
    moves, read, meant = [], 0, 0
    for _ in range(answers_made):
        answer = make_answer(rng)
        text = rng.choice(DAMAGES)(answer.text, rng)
        if is_json(text):  # nothing shows that it is damaged
            continue
        value = parse_response(text, form=answer.form).value
        moves += [(text, move) for move in moved(answer, value)]
        read += len(values_read(answer, value))
        meant += len(answer.places)
    assert moves == [], moves[:5]
    assert 100 * read >= LEAST_READ * meant, f"{read} of {meant} values read"


def test_complete_answer_loses_and_invents_nothing() -> None:
    """The other side of the laws: without damage, everything is read."""
    for answer in answers():
        whole = json.loads(answer)
        if strings(whole) != written(answer):
            continue  # a key comes twice, and only the reader keeps both values
        assert units_of(whole)(parse_response(answer).value) == units_of(whole)(whole), answer
