"""A person's labels on disk: what a label writes, what a sitting begins with, and whose file it is."""

from __future__ import annotations

import errno
import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldgate.cli.main import goldgate as command
from goldgate.errors import GoldgateError
from tests.cases import error_from

from .labelling import made_up_items, open_site, post, read_lines, see, shown_sha256, write_lines

LABEL = {"id": "claim-0", "label": "supported", "by": "ann", "kind": "human"}


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "items.jsonl", made_up_items(4))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


def test_a_label_is_a_line_before_the_next_item_is_named(items: Path, out: Path) -> None:
    site = open_site(items, out)
    assert out.read_bytes() == b""  # it can be written
    response = post(site, 1, do="2", note=" doubtful\r\nsource ")
    assert out.read_text() == (
        '{"id":"claim-0","label":"unsupported","by":"ann","kind":"human","group":"run-0","note":"doubtful\\nsource",'
        f'"item_sha256":"{shown_sha256(made_up_items(1)[0])}"}}\n'
    )
    assert (response.status, response.headers["Location"]) == (303, "/items/2?saved=1")
    site.close()
    assert [each.name for each in items.parent.iterdir() if each.name.startswith(".")] == []


def test_a_changed_label_takes_the_place_of_the_first(items: Path, out: Path) -> None:
    site = open_site(items, out)
    for number, wish in ((1, "1"), (2, "1"), (1, "unsure"), (2, "1")):
        post(site, number, do=wish, note="")
    assert [(line["id"], line["label"]) for line in read_lines(out)] == [
        ("claim-0", "unsure"),
        ("claim-1", "supported"),
    ]
    site.close()


def test_the_same_label_twice_is_one_line_and_no_second_write(items: Path, out: Path) -> None:
    site = open_site(items, out)
    post(site, 1, do="1", note="x")
    written = os.stat(out)
    assert post(site, 1, do="1", note="x").status == 303
    assert os.path.samestat(written, os.stat(out))
    assert len(read_lines(out)) == 1
    site.close()


def test_the_next_sitting_goes_on_where_this_one_ended(items: Path, out: Path) -> None:
    site = open_site(items, out)
    post(site, 1, do="1", note="first")
    post(site, 3, do="2", note="")
    site.close()
    before = out.read_bytes()
    again = open_site(items, out, by=None)  # the name is in the file
    assert out.read_bytes() == before
    assert again.summary == f"2 of 4 items labelled in {out}"
    assert again.respond(_get("/")).headers["Location"] == "/items/2"
    assert "first" in see(again, "/items/1").text
    assert post(again, 2, do="1", note="").headers["Location"] == "/items/4?saved=2"
    assert post(again, 4, do="1", note="").headers["Location"] == "/done"
    assert {line["by"] for line in read_lines(out)} == {"ann"}
    assert [line["id"] for line in read_lines(out)] == ["claim-0", "claim-2", "claim-1", "claim-3"]  # as labelled
    again.close()


def _get(path: str) -> Any:
    from goldgate.viewer.server import HttpRequest

    return HttpRequest("GET", path, "")


def test_lines_that_another_program_wrote_keep_their_bytes(items: Path, out: Path) -> None:
    line = '{"kind": "human", "id": "claim-0",  "label": "unsure", "by": "ann", "seconds": 4}\n'
    out.write_text(line)
    site = open_site(items, out)
    post(site, 2, do="1", note="")
    assert out.read_text().startswith(line)
    site.close()


def test_a_line_that_was_cut_off_at_the_end_is_asked_again(items: Path, out: Path) -> None:
    whole = json.dumps(LABEL) + "\n"
    for cut in ('{"id": "claim-1", "lab', '{"id": "claim-1", "label": "unsupp', "{", "\x00\x00"):
        out.write_text(whole + cut)
        site = open_site(items, out)
        assert site.respond(_get("/")).headers["Location"] == "/items/2"
        post(site, 2, do="2", note="")
        assert [line["id"] for line in read_lines(out)] == ["claim-0", "claim-1"]
        site.close()


def test_a_last_line_without_its_end_of_line_counts(items: Path, out: Path) -> None:
    out.write_text(json.dumps(LABEL))
    site = open_site(items, out)
    post(site, 2, do="2", note="")
    assert len(read_lines(out)) == 2
    site.close()


REFUSED: dict[str, tuple[list[Any], str, str]] = {
    "another person": ([{**LABEL, "by": "bob"}], "label.other_person", "every person needs a file of their own"),
    "two people": ([LABEL, {**LABEL, "id": "claim-1", "by": "bob"}], "label.other_person", ":2: by"),
    "a judge": ([{**LABEL, "kind": "judge"}], "label.not_a_label", "a label of a judge"),
    "no label": ([{"id": "claim-0"}], "label.not_a_label", "choose another file"),
    "a list": ([[1, 2]], "label.not_a_label", "choose another file"),
    "other words": ([{**LABEL, "label": "good"}], "label.other_words", "--labels or the --protocol"),
    "a number": ([{**LABEL, "label": 1}], "label.other_words", "the number 1"),
    "other items": ([{**LABEL, "id": "elsewhere"}], "label.other_items", "the items that the file was begun with"),
    "another question": ([{**LABEL, "question": "tone"}], "label.other_items", "claim-0"),
    "two labels": ([LABEL, {**LABEL, "label": "unsure"}], "label.two_labels", "supported and unsure"),
}


def test_labels_that_this_sitting_cannot_go_on_with_are_refused_and_kept(items: Path, out: Path) -> None:
    for name, (lines, code, words) in REFUSED.items():
        before = "".join(json.dumps(line) + "\n" for line in lines)
        out.write_text(before)
        error = error_from(GoldgateError, open_site, items, out)
        assert (name, error.code) == (name, code)
        assert words in str(error), name
        assert out.read_text() == before
    out.write_text("{\n" + json.dumps(LABEL) + "\n")
    with pytest.raises(GoldgateError, match="not JSON") as refused:
        open_site(items, out)
    assert f"{out}:1: this line is not JSON" in str(refused.value)


def test_one_page_at_a_time_writes_a_file_and_two_people_have_two(items: Path, out: Path, tmp_path: Path) -> None:
    first = open_site(items, out)
    (tmp_path / "link.jsonl").symlink_to(out)
    for name in (out, tmp_path / "link.jsonl"):
        error = error_from(GoldgateError, open_site, items, name)
        assert error.code == "label.in_use"
        assert "another file for --out" in str(error)
    second = open_site(items, tmp_path / "bob.jsonl", by="bob")
    post(first, 1, do="1", note="")
    post(second, 1, do="2", note="")
    first.close()
    second.close()
    open_site(items, out).close()
    assert [read_lines(path)[0]["by"] for path in (out, tmp_path / "bob.jsonl")] == ["ann", "bob"]


@pytest.mark.parametrize("place", ["folder", "device"])
def test_labels_go_into_a_file(place: str, items: Path, tmp_path: Path) -> None:
    out = {"folder": tmp_path, "device": Path("/dev/null")}[place]
    assert error_from(GoldgateError, open_site, items, out).code == "label.not_a_file"


def test_without_a_name_the_login_name_is_used(items: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOGNAME", "carla")
    site = open_site(items, out, by=None)
    post(site, 1, do="1", note="")
    assert read_lines(out)[0]["by"] == "carla"
    site.close()
    with pytest.raises(GoldgateError, match="whose labels these are is not known"):
        open_site(items, out.with_name("new.jsonl"), by="  ")


def test_a_full_disk_keeps_the_item_the_note_and_the_old_file(
    items: Path, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = open_site(items, out)
    post(site, 1, do="1", note="")
    before = out.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        response = post(site, 2, do="2", note="a long thought")
    assert response.status == 500
    assert "Not saved: No space left on device" in response.html
    assert "a long thought</textarea>" in response.html
    assert "Item 2 of 4" in response.html
    assert (out.read_bytes(), site.summary) == (before, f"1 of 4 items labelled in {out}")
    assert post(site, 2, do="2", note="a long thought").status == 303
    assert len(read_lines(out)) == 2
    site.close()


def test_a_question_of_an_item_is_in_its_label(tmp_path: Path, out: Path) -> None:
    questions = [{"id": "a", "question": "tone"}, {"id": "a", "question": "facts"}, {"id": "a"}, {"id": 7, "group": 3}]
    site = open_site(write_lines(tmp_path / "items.jsonl", questions), out)
    for number in range(1, 5):
        post(site, number, do="1", note="")
    site.close()
    keys = [(line["id"], line.get("question"), line.get("group")) for line in read_lines(out)]
    assert keys == [("a", "tone", None), ("a", "facts", None), ("a", None, None), ("7", None, "3")]
    again = open_site(tmp_path / "items.jsonl", out)
    assert again.summary.startswith("4 of 4 items")
    again.close()


def test_when_all_of_a_draw_is_labelled_the_next_command_is_named(tmp_path: Path, items: Path, out: Path) -> None:
    drawn = tmp_path / "drawn.jsonl"
    sampled = CliRunner().invoke(command, ["sample", "--from", str(items), "--n", "2", "--out", str(drawn)])
    assert sampled.exit_code == 0, sampled.output
    site = open_site(drawn, out)
    post(site, 1, do="1", note="")
    assert "next:" not in site.summary
    post(site, 2, do="2", note="")
    assert site.summary == (
        f"2 of 2 items labelled in {out}\n"
        f"next: goldgate judged --labels {out} [JUDGE.jsonl] --items ITEMS.jsonl --draw {drawn} "
        "--protocol FILE, with judged: {labels: {supported: NUMBER, unsupported: NUMBER}} in it"
    )
    site.close()


def test_yes_and_no_are_stored_as_true_and_false(items: Path, out: Path) -> None:
    site = open_site(items, out, labels=None)
    post(site, 1, do="1", note="")
    post(site, 2, do="2", note="")
    assert [line["label"] for line in read_lines(out)] == [True, False]
    site.close()
    with pytest.raises(GoldgateError, match="this label cannot be given here"):
        open_site(items, out)  # other labels than it was begun with


def test_words_come_from_the_protocol(items: Path, out: Path, tmp_path: Path) -> None:
    protocol = tmp_path / "protocol.yaml"
    protocol.write_text("judged: {labels: {supported: 1, partly: 0.5, unsupported: 0}}\n")
    site = open_site(items, out, labels=None, protocol=str(protocol))
    post(site, 1, do="2", note="")
    assert read_lines(out)[0]["label"] == "partly"
    site.close()


@pytest.mark.parametrize(
    ("section", "word"),
    [
        ("research: {labels: {yes: 1, no: 0}}", "no"),
        ("judged: {steps: 2}\nresearch: {labels: {yes: 1, no: 0}}", "no"),
        ("research: {labels: {yes: 1, no: 0}}\njudged: {labels: {good: 1, bad: 0}}", "bad"),
    ],
)
def test_words_for_claims_come_from_the_section_for_research(
    section: str, word: str, items: Path, out: Path, tmp_path: Path
) -> None:
    protocol = tmp_path / "protocol.yaml"
    protocol.write_text(f"{section}\n")
    site = open_site(items, out, labels=None, protocol=str(protocol))
    post(site, 1, do="2", note="")
    assert read_lines(out)[0]["label"] == word
    site.close()


def test_bad_words_of_a_protocol_are_an_error_with_their_section(items: Path, out: Path, tmp_path: Path) -> None:
    protocol = tmp_path / "protocol.yaml"
    protocol.write_text("research: {labels: {only: 1}}\n")
    error = error_from(GoldgateError, open_site, items, out, labels=None, protocol=str(protocol))
    assert (error.code, error.place.file) == ("label.bad_words", f"{protocol}: research.labels")


def test_a_label_without_a_question_is_for_no_item_that_is_asked_several(tmp_path: Path, out: Path) -> None:
    items = write_lines(tmp_path / "items.jsonl", [{"id": "a", "question": "one"}, {"id": "a", "question": "two"}])
    write_lines(out, [{"id": "a", "label": "supported", "by": "ann", "kind": "human"}])
    assert error_from(GoldgateError, open_site, items, out).code == "label.other_items"


@pytest.mark.parametrize("words", ["", "one", "a,a", "a,,b", "yes,unsure", ",".join("abcdefghij")])
def test_words_that_cannot_be_chosen_from_are_an_error(words: str, items: Path, out: Path) -> None:
    assert error_from(GoldgateError, open_site, items, out, labels=words).code == "label.bad_words"
    assert not out.exists()


def test_labels_of_a_draw_say_how_many_were_drawn(items: Path, out: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "drawn.jsonl"
    for size, number in ((2, 1), (3, 3)):
        sample = ["sample", "--from", str(items), "--n", str(size), "--out", str(drawn)]
        assert CliRunner().invoke(command, sample).exit_code == 0
        site = open_site(drawn, out)
        post(site, number, do="1", note="")
        site.close()
    assert [label["drawn"] for label in read_lines(out)] == [2, 3]


def test_labels_of_a_draw_name_the_labels_of_the_judge_that_it_names(items: Path, out: Path, tmp_path: Path) -> None:
    drawn, judge = tmp_path / "drawn.jsonl", tmp_path / "judge.jsonl"
    judge.write_text('{"id": "claim-1", "label": true, "by": "model", "kind": "judge"}\n', encoding="utf-8")
    sample = ["sample", "--from", str(items), "--n", "2", "--labels", str(judge), "--out", str(drawn)]
    assert CliRunner().invoke(command, sample).exit_code == 0
    site = open_site(drawn, out)
    post(site, 1, do="1", note="")
    site.close()
    assert [label["labels_sha256"] for label in read_lines(out)] == [sha256(judge.read_bytes()).hexdigest()]


def test_labels_of_items_that_were_changed_since_are_refused(items: Path, out: Path) -> None:
    site = open_site(items, out)
    post(site, 1, do="1", note="")
    post(site, 2, do="1", note="")
    site.close()
    renamed = [{**item, "group": "another"} for item in made_up_items(4)]
    open_site(write_lines(items, renamed), out).close()  # a group is not shown
    changed = [made_up_items(1)[0], {**made_up_items(2)[1], "text": "Another text."}, *made_up_items(4)[2:]]
    error = error_from(GoldgateError, open_site, write_lines(items, changed), out)
    assert error.code == "label.other_item"
    assert (error.place.line, error.place.field) == (2, "item_sha256")
    assert "take the line out" in str(error.advice)
    write_lines(out, read_lines(out)[:1])
    open_site(items, out).close()
    write_lines(out, [LABEL])  # written by hand: it does not say what was shown
    open_site(items, out).close()
