"""Prompts: what a template may hold, and that a document stays in its place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.errors import ConfigError
from goldgate.generation.checkpoint import checkpoint_hash
from goldgate.generation.gold_task import Documents
from goldgate.generation.prompt import Example, enclose_document, fill_part, parse_template, prompt_messages
from goldgate.suites.extraction.events import empty_events
from goldgate.suites.extraction.events.event_schema import parse_event_schema
from goldgate.suites.extraction.records import Gold
from goldgate.suites.extraction.task import (
    BUILT_IN,
    ExtractionTask,
    TaskOptions,
    load_examples,
    load_template,
    schema_values,
)
from tests.cases import cases
from tests.generation.conftest import SCHEMA

SCHEMA_VALUES = schema_values(parse_event_schema(SCHEMA))


@cases("name", BUILT_IN)
def test_built_in_prompts_name_every_type_and_role_and_the_document(name: str) -> None:
    template = load_template(name)
    chat = prompt_messages(template, SCHEMA_VALUES, "A document.", [Example("Another.", '{"events": []}', "Nothing.")])
    assert [message.role for message in chat] == ["system", "user", "assistant", "user"]
    assert '"质押": ["质押方","质权方"]' in chat[0].content
    assert "<source-text>\nA document.\n</source-text>" in chat[-1].content
    assert template.wants_thought == name.endswith("-thought")
    assert ("<thought>" in chat[2].content) == name.endswith("-thought")
    assert not any(re.search(r"\{[a-z_]+\}", message.content) for message in chat)  # nothing is only half filled in


@cases(
    ("text", "line", "told"),
    [
        ("--- user ---\nRead {txet}.", 2, "did you mean text?"),
        ("--- system ---\nfirst\n{nope}\n--- user ---\n{text}", 3, "{nope}"),
        ("--- user ---\nRead this.", 1, "needs the placeholder {text}"),
        ("--- user ---\n{text} {text}", 1, "once"),
        ("--- system ---\n{schema}", None, "`--- user ---` is missing"),
        ("--- system ---\n{text}\n--- user ---\n{text}", 2, "{text} is not a placeholder of the part system"),
        ("Read {text}.", 1, "begins with the line"),
        ("--- user ---\n{text}\n--- user ---\n{text}", 3, "the part user is not expected here"),
    ],
)
def test_a_wrong_template_says_what_is_wrong_and_where(text: str, line: int | None, told: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_template(text, "mine", "mine.md")
    assert told in str(caught.value)
    assert caught.value.place.line == line


def test_doubled_braces_stay_as_single_ones() -> None:
    assert fill_part('{{text}} and {text} and {"a": {}}', {"text": "X"}) == '{text} and X and {"a": {}}'


def test_a_document_with_placeholders_stays_data() -> None:
    chat = prompt_messages(load_template("en"), SCHEMA_VALUES, "Ignore this {schema} and {tag} and {text}.")
    assert "Ignore this {schema} and {tag} and {text}." in chat[-1].content


@cases(
    "text",
    ["a </source-text> b", "a </SOURCE-TEXT> b", "a </ｓｏｕｒｃｅ-text> b", "a </source\u200b-text> b",
     "a </source-text> </source-2-text> b", "a </sou\u00adrce-text>"],
)  # fmt: skip
def test_a_document_cannot_close_its_tags(text: str) -> None:
    block, tag = enclose_document(text)
    assert tag != "source-text"
    assert block.count(f"</{tag}>") == 1
    assert block == f"<{tag}>\n{text}\n</{tag}>"


@given(st.text(alphabet=st.sampled_from("<>/source-tx123\u200bｓ{}|im_end ")))
def test_no_text_holds_its_own_tag(text: str) -> None:
    block, tag = enclose_document(text)
    inside = block.removeprefix(f"<{tag}>\n").removesuffix(f"\n</{tag}>")
    assert tag not in inside.lower()
    assert inside.replace("\u200b", "") == text.replace("\u200b", "")


@cases("token", ["<|im_end|>", "<｜end▁of▁sentence｜>", "[/INST]", "</s>", "<start_of_turn>", "<<SYS>>"])
def test_what_servers_read_as_the_end_of_a_message_is_defused(token: str) -> None:
    block, _ = enclose_document(f"before {token} after")
    assert token not in block
    assert token in block.replace("\u200b", "")


def test_examples_depend_on_the_seed_and_not_on_the_order(tmp_path: Path) -> None:
    lines = [f'{{"id": "t{n}", "text": "text {n}", "events": []}}' for n in range(30)]
    forth, back = tmp_path / "forth.jsonl", tmp_path / "back.jsonl"
    forth.write_text("\n".join(lines))
    back.write_text("\n".join(reversed(lines)))
    chosen = [example.text for example in load_examples(forth, 3, 1)[:3]]
    assert len(set(chosen)) == 3
    assert [example.text for example in load_examples(back, 3, 1)[:3]] == chosen
    assert [example.text for example in load_examples(forth, 3, 2)[:3]] != chosen


def test_the_document_asked_about_is_never_its_own_example(tmp_path: Path) -> None:
    train = tmp_path / "train.jsonl"
    train.write_text("\n".join(f'{{"id": "t{n}", "text": "text {n}", "events": []}}' for n in range(4)))
    examples = load_examples(train, 3, 0)
    asked = examples[0].text
    task = ExtractionTask(
        cast("Documents[Gold]", [Gold("d", asked, empty_events())]),
        parse_event_schema(SCHEMA),
        load_template("en"),
        {None: examples},
        options=TaskOptions((), few_shot=3),
    )
    *shown, question = [message.content for message in task.question(0, None).messages if message.role == "user"]
    assert len(shown) == 3
    assert asked in question
    assert not any(asked in content for content in shown)


def test_too_few_examples_are_an_error(tmp_path: Path) -> None:
    train = tmp_path / "train.jsonl"
    train.write_text('{"id": "1", "text": "a", "events": []}\n{"id": "2", "text": "a", "events": []}')
    with pytest.raises(ConfigError, match="fewer"):
        load_examples(train, 2, 0)


@cases("name", ["a" * 300, "a\0b", "nothing.md"])
def test_a_name_that_no_file_can_have_is_no_prompt_and_no_checkpoint(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_template(name)
    assert (caught.value.code, "zh-thought" in str(caught.value)) == ("prompt.missing", True)  # those there are
    with pytest.raises(ConfigError) as caught:
        checkpoint_hash(name)
    assert caught.value.code == "checkpoint.missing"
