"""What the page of an item shows, and what it keeps back; items of every kind stay text and stay small."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import GoldgateError
from goldgate.suites.judged.ask import text_digest
from goldgate.suites.judged.item_parts import QuoteSearch
from goldgate.viewer.server import HttpRequest
from tests.cases import error_from
from tests.viewer.stored import require_harmless

from .labelling import made_up_items, open_site, post, read_lines, see, shown_sha256, write_lines

HEADER = {"goldgate_draw": 2, "items": 9, "n": 3, "by": "judge", "strata": [{"name": "WONDERFUL"}], "signature": "x"}


@pytest.fixture
def items(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "items.jsonl", made_up_items(3))


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "labels.jsonl"


def test_an_item_shows_its_claim_its_quotes_and_its_text_with_them_marked(items: Path, out: Path) -> None:
    site = open_site(items, out)
    page = see(site, "/items/1")
    assert "Item 1 of 3" in page.text
    assert "The Rotterdam plant closed in 2021." in page.text
    assert "“closed in March 2021”" in page.text
    assert [a["class"] for tag, a in page.tags if tag == "mark"] == ["other", "other"]  # the legend and the quote
    assert "claim-0" not in page.text  # an id may name the system
    assert "run-0" not in page.text
    site.close()


def test_what_is_asked_can_be_said(items: Path, out: Path) -> None:
    for question, words in ((None, "Do the quotes support the claim?"), ("Is it <b>true</b>?", "Is it <b>true</b>?")):
        site = open_site(items, out, question=question)
        assert words in see(site, "/items/1").text
        site.close()


def test_the_draws_header_is_not_an_item_and_not_shown(tmp_path: Path, out: Path) -> None:
    drawn = write_lines(tmp_path / "drawn.jsonl", [HEADER, *made_up_items(3)[::-1]])
    site = open_site(drawn, out)
    assert "All workers lost their jobs." in see(site, "/items/1").text  # the order of the draw
    pages = "".join(site.respond(HttpRequest("GET", f"/items/{number}", "")).html for number in (1, 2, 3))
    assert "WONDERFUL" not in pages
    assert site.respond(HttpRequest("GET", "/items/4", "")).status == 404
    site.close()


@pytest.mark.parametrize(
    ("records", "code"),
    [
        ([], "items.empty"),
        ([HEADER], "items.empty"),
        ([HEADER, *made_up_items(2)], "draw.cut_off"),
        ([{"claim": "no id"}], "items.bad_id"),
        ([{"id": "a"}, {"id": "a"}], "items.duplicate_id"),
        ([{"id": "a", "group": []}], "items.wrong_type"),
        ([{"id": "a", "question": 5}], "items.bad_question"),
        ([{"id": "a", "label": True, "by": "gpt", "kind": "judge"}], "items.are_labels"),
    ],
)
def test_what_is_not_a_file_of_items_is_refused(records: list[Any], code: str, tmp_path: Path, out: Path) -> None:
    error = error_from(GoldgateError, open_site, write_lines(tmp_path / "items.jsonl", records), out)
    assert error.code == code
    assert str(error.place).startswith(str(tmp_path / "items.jsonl"))
    assert not out.exists()


def test_items_that_change_meanwhile_are_not_labelled_as_the_old_ones(items: Path, out: Path) -> None:
    site = open_site(items, out)
    time.sleep(0.01)
    write_lines(items, [{"id": "claim-0", "claim": "other"}] * 3)
    for response in (site.respond(HttpRequest("GET", "/items/1", "")), post(site, 1, do="1", note="")):
        assert response.status == 500
        assert "changed" in response.html
    assert read_lines(out) == []
    site.close()


def test_people_are_asked_what_the_items_were_drawn_for(tmp_path: Path, out: Path) -> None:
    signed = {**HEADER, "question_sha256": text_digest("Is it polite?")}
    drawn = write_lines(tmp_path / "drawn.jsonl", [signed, *made_up_items(3)])
    for question in (None, "Is it true?"):
        assert error_from(GoldgateError, open_site, drawn, out, question=question).code == "draw.other_question"
    (tmp_path / "question.txt").write_text("Is it polite?\n")
    site = open_site(drawn, out, question=str(tmp_path / "question.txt"))
    assert "Is it polite?" in see(site, "/items/1").text
    site.close()


def judge_file(folder: Path) -> Path:
    labels = [
        {"id": "claim-0", "label": "unsupported", "by": "model-j", "kind": "judge", "reason": "TELLTALE <b>"},
        {"id": "claim-1", "label": None, "by": "model-j", "kind": "judge"},
        {"id": "elsewhere", "label": True, "by": "model-j", "kind": "judge"},
    ]
    return write_lines(folder / "judge.jsonl", labels)


def test_the_judge_is_nowhere_on_a_page_before_the_person_has_labelled(items: Path, out: Path, tmp_path: Path) -> None:
    site = open_site(items, out, judge=str(judge_file(tmp_path)))
    without = open_site(items, tmp_path / "other.jsonl")
    for address in ("/items/1", "/items/2", "/done"):
        path, query = HttpRequest("GET", address, ""), HttpRequest("GET", address, "saved=1")
        pages = [each.respond(request).html for each in (site, without) for request in (path, query)]
        pages = [page.replace("other.jsonl", "labels.jsonl") for page in pages]
        assert pages[0] == pages[1] == pages[2] == pages[3]  # not a byte of the judge's
    assert "TELLTALE" not in post(site, 1, do="", note="").html
    post(site, 1, do="1", note="")
    assert "Saved item 1: supported. Judge: unsupported (TELLTALE <b>)." in see(site, "/items/2?saved=1").text
    assert "Judge: unsupported (TELLTALE <b>)" in see(site, "/items/1").text
    assert "no label" not in see(site, "/items/2?saved=2").text  # its own judge stays hidden
    site.close()
    without.close()


def test_a_label_that_was_changed_after_the_judges_was_shown_says_so(items: Path, out: Path, tmp_path: Path) -> None:
    site = open_site(items, out, judge=str(judge_file(tmp_path)))
    for number, wish in ((1, "1"), (1, "2"), (1, "1"), (2, "1"), (3, "1"), (3, "2")):
        post(site, number, do=wish, note="")
    post(site, 2, do="1", note="a note is no other label")
    assert [line.get("judge_seen") for line in read_lines(out)] == [True, None, None]  # the third has no judge
    site.close()
    again = open_site(items, out)
    post(again, 1, do="unsure", note="")
    assert read_lines(out)[0]["judge_seen"] is True  # and goes on saying it
    again.close()


def test_labels_of_people_are_not_a_judges(items: Path, out: Path, tmp_path: Path) -> None:
    people = write_lines(tmp_path / "people.jsonl", [{"id": "claim-0", "label": True, "by": "bob", "kind": "human"}])
    assert error_from(GoldgateError, open_site, items, out, judge=str(people)).code == "labels.not_judge"


def test_back_and_on_keep_the_note(items: Path, out: Path) -> None:
    site = open_site(items, out)
    assert post(site, 1, do="next", note="for later").headers["Location"] == "/items/2"
    assert read_lines(out) == []  # a note without a label is no label
    assert post(site, 2, do="back", note="").headers["Location"] == "/items/1"
    assert "for later" in see(site, "/items/1").text
    post(site, 1, do="2", note="for later")
    assert post(site, 1, do="back", note="now another").headers["Location"] == "/items/1"
    assert read_lines(out)[0] == {
        "id": "claim-0", "label": "unsupported", "by": "ann", "kind": "human", "group": "run-0", "note": "now another",
        "item_sha256": shown_sha256(made_up_items(1)[0]),
    }  # fmt: skip
    assert post(site, 3, do="next", note="").headers["Location"] == "/done"
    assert "Go on with item 2" in see(site, "/done").text
    site.close()


def test_the_end_says_how_many_have_which_label(items: Path, out: Path) -> None:
    site = open_site(items, out)
    for number, wish in ((1, "1"), (2, "1"), (3, "unsure")):
        last = post(site, number, do=wish, note="")
    assert last.headers["Location"] == "/done"
    page = see(site, "/done")
    assert "All items have a label" in page.text
    assert "supported2unsupported0unsure1" in page.text.replace(" ", "")
    assert site.respond(HttpRequest("GET", "/", "")).headers["Location"] == "/done"
    site.close()


def test_forms_that_the_page_does_not_send_change_nothing(items: Path, out: Path) -> None:
    site = open_site(items, out)
    for body in (b"", b"\xff\xfe", b"do=", b"do=3", b"do=0", b"do=true", b"label=1", b"do=1" + b"&a=b" * 50, b"{}"):
        response = site.respond(HttpRequest("POST", "/items/1", "", (), body))
        assert (body, response.status) == (body, 400)
    for path in ("/", "/done", "/items/0", "/items/4", "/items/01", "/items/1/", "/items/9999999999", "/x"):
        assert site.respond(HttpRequest("POST", path, "", (), b"do=1")).status == 404
    long = post(site, 1, do="1", note="x" * 5_001)
    assert (long.status, "at most 5,000 characters" in long.html) == (400, True)
    assert read_lines(out) == []
    site.close()


QUOTES = [
    ("as it stands", "two lines", [(4, 13)]),
    ("with another line end", "one two\nlines three", [(0, 19)]),
    ("with other blanks", "lines  three", [(8, 19)]),
    ("a part of words", "wo lines thr", [(5, 17)]),
    ("not there", "four", []),
    ("nothing", " ", []),
    ("twice", "e", [(2, 3), (11, 12), (17, 18), (18, 19)]),
]


@pytest.mark.parametrize(("name", "quote", "places"), QUOTES, ids=[name for name, *_ in QUOTES])
def test_quotes_are_found(name: str, quote: str, places: list[tuple[int, int]]) -> None:
    assert QuoteSearch("one two lines three").find(quote) == places


DEEP: Any = "bottom"
for _ in range(200):
    DEEP = [DEEP]

HOSTILE: dict[str, dict[str, Any]] = {
    "script": {"claim": "<script>alert(1)</script></textarea></form>", "text": "</main><img src=x onerror=alert(1)>"},
    "fields": {"<b>": "<i>", "onclick": "x", "__proto__": {"a": 1}, "do": "1", "note": "2", "": ""},
    "direction": {
        "claim": "abc\u202egnp.exe\u2066\u200f",
        "quotes": ["\u200b\u200b", "a\ufeffb"],
        "text": "a\ufeffb\x00",
    },
    "unseen": {"claim": "\u200b" * 10_000, "text": "\u202e" * 20_000},
    "other types": {"claim": ["a"], "quotes": "no list", "text": 5, "sources": 7},
    "odd quotes": {"quotes": [{"text": 5}], "text": "x"},
    "long": {"claim": "c" * 1_000_000, "quotes": ["needle"], "text": "x" * 5_000_000 + "needle" + "x" * 5_000_000},
    "no blanks": {"quotes": ["a " * 5_000], "text": "a\n" * 400_000},
    "many quotes": {"quotes": ["q"] * 1_000_000, "text": "q" * 100_000},
    "many sources": {"quotes": ["q"], "sources": {f"s{n}": "q" * 1_000 for n in range(5_000)}},
    "many fields": {f"field {n}": "x" * 10_000 for n in range(3_000)},
    "deep": {"claim": "c", "deep": DEEP},
    "half a pair": {"claim": "\ud83d", "note": "\udc00"},
}
CUT = {
    "long": "characters …",
    "many quotes": "999,900 of 1,000,000 quotes are not shown.",
    "many sources": "4,950 of 5,000 sources are not shown.",
    "many fields": "2,970 of 3,000 fields are not shown.",
}
MOST_BYTES = 5_000_000  # of a page with 30,000 characters that are written out in boxes; others are far below


def test_hostile_items_stay_text_and_small(tmp_path: Path, out: Path) -> None:
    records = [{"id": name, **fields} for name, fields in HOSTILE.items()]
    site = open_site(write_lines(tmp_path / "items.jsonl", records), out)
    for number, name in enumerate(HOSTILE, 1):
        began = time.process_time()
        response = site.respond(HttpRequest("GET", f"/items/{number}", ""))
        assert time.process_time() - began < 10, name
        assert response.status == 200, (name, response.html[-500:])
        assert len(response.html) < MOST_BYTES, name
        page = require_harmless(response.html)
        assert [tag for tag, _ in page.tags].count("form") == 1, name
        assert sum(tag == "button" for tag, _ in page.tags) == 4 + (number > 1), name
        assert CUT.get(name, "") in page.text, name
        assert post(site, number, do="1", note="").status == 303
    assert [line["id"] for line in read_lines(out)] == [*HOSTILE]
    site.close()
