"""What a prompt already held of the answer is put before the response, and is not taken for the model's own words."""

from __future__ import annotations

import goldgate
from tests.cases import cases
from tests.unit.helpers import gold

from .forms import SUE, form, predicted, score

PREFIX = '[{"event_type":'


@cases(
    "response",
    [
        ' "Sue", "arguments": [{"role": "date", "argument": "May"}]}]',
        '"Sue", "arguments": [{"role": "date", "argument": "May"}]}]\nThat is all.',
        # The model began again: the prefix is not put twice.
        '[{"event_type": "Sue", "arguments": [{"role": "date", "argument": "May"}]}]',
        '\n[\n  {\n    "event_type": "Sue", "arguments": [{"role": "date", "argument": "May"}]}]',
        '```json\n[{"event_type": "Sue", "arguments": [{"role": "date", "argument": "May"}]}]\n```',
    ],
)
def test_the_prefix_is_put_before_a_response_that_does_not_begin_with_it(response: str) -> None:
    found = score(response, gold(SUE), strict=True, prefix=PREFIX)
    assert predicted(found) == {("Sue", "date", "may")}
    assert found["parse_raw_success"] == 1


@cases("response", ["", " \n"])
def test_a_model_that_said_nothing_did_not_say_the_prefix(response: str) -> None:
    found = score(response, gold(SUE), prefix='[{"event_type": "Sue", "arguments": [')
    assert (found["parse_errors"], found["parse_extraction_failures"], found.record["predicted"]) == (1, 1, {})


def test_a_prefix_may_open_a_thought() -> None:
    parsed = score("No: [1]</think>[]", gold(), prefix="<think>\n").facts.parsed
    assert parsed is not None
    assert (parsed.value, parsed.thought_state, parsed.thought.strip()) == ([], "closed", "No: [1]")


@cases(
    ("response", "preamble"),
    [('{"event_type": "A", "arguments": []}]', ""), ('first some words: [{"event_type": "A"}]', "first some words: ")],
)
def test_words_of_the_prefix_are_no_preamble(response: str, preamble: str) -> None:
    parsed = goldgate.parse_response(response, form=form(prefix="These are the events: ["))
    assert parsed.preamble == preamble
