"""Text from data as it is shown: nothing hidden, no command, no link, and nothing that looks like something else."""

from __future__ import annotations

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from goldgate.report.escape import (
    display_width,
    distinct_names,
    escape_markdown,
    markdown_code,
    shorten_with_digest,
    visible,
    visible_name,
)
from tests.cases import cases

# Characters that have tricked a reader, a terminal, a page or a runner before, and some that are harmless.
TRICKY = "ab:#[]\\xuU0 @!`|*_<>&~.w/-GH5\x1b\r\n\t\x85\xa0\xad\u200b\u202e\u2028\u3000\u3164\ufe0f\u0301éе\U000e0041中"
texts = st.text(alphabet=st.sampled_from(TRICKY), max_size=12) | st.text(max_size=12)


@cases(
    ("text", "shown"),
    [
        ("Company 中标 Überfall", "Company 中标 Überfall"),
        ("\x1b[31m", "\\x1b[31m"),
        ("a\u202eb\u200b", "a\\u202eb\\u200b"),
        ("a\u3000b\xa0c", "a\\u3000b\\xa0c"),
        ("a\u3164\ufe0f\u2800", "a\\u3164\\ufe0f\\u2800"),
        ("::add-mask::x", ":\\x3aadd-mask:\\x3ax"),
        ("##[error]x ##vso[task]", "#\\x23[error]x #\\x23vso[task]"),
        (":::", ":\\x3a\\x3a"),
        ("a\\x1b C:\\users C:\\dir", "a\\x5cx1b C:\\x5cusers C:\\dir"),
        ("é", "é"),
        ("e\u0301", "e\\u0301"),
        ("\u212b", "\\u212b"),  # the sign of the ångström, which looks like the letter
        ("pаypal", "p\\u0430ypal"),  # its first a is Cyrillic
        ("сахар Москва", "сахар Москва"),  # all letters are Cyrillic
        ("TNFα", "TNFα"),  # looks like nothing else
        ("각", "각"),
        ("\u1100\u1161\u11a8", "\u1100\\u1161\\u11a8"),  # the same in three pieces
    ],
)
def test_what_is_not_seen_or_looks_like_something_else_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown


@given(texts)
def test_no_text_gives_a_command_to_a_runner(text: str) -> None:
    for shown in (visible(text), visible_name(text), escape_markdown(text), markdown_code(text)):
        assert not any(mark in shown for mark in ("::", "##", "\n", "\r", "\x1b"))


@given(texts, texts)
def test_texts_that_differ_are_shown_differently(one: str, other: str) -> None:
    for show in (visible, visible_name, escape_markdown, markdown_code):
        assert (show(one) == show(other)) is (one == other)


@cases(("text", "shown"), [(" a", "\\x20a"), ("a ", "a\\x20"), ("a  b", "a \\x20b"), ("a b", "a b")])
def test_blanks_that_a_page_would_swallow_are_written_out_of_names(text: str, shown: str) -> None:
    assert visible_name(text) == shown


def test_names_that_look_alike_are_told_apart() -> None:
    names = ["ace", "асе", "éa", "run ", "run", "other"]
    shown = distinct_names(names)
    assert shown == {
        "ace": "ace",
        "асе": "\\u0430\\u0441\\u0435",
        "éa": "éa",
        "run ": "run\\x20",
        "run": "run",
        "other": "other",
    }


@given(st.lists(texts, unique=True, max_size=8), st.integers(12, 30))
def test_no_two_names_in_a_column_are_alike(names: list[str], columns: int) -> None:
    for shown in (distinct_names(names), distinct_names(names, columns)):
        assert all(one != other for one, other in itertools.combinations(shown.values(), 2))
    assert all(display_width(form) <= columns for form in distinct_names(names, columns).values())


def test_long_names_that_differ_at_their_ends_are_told_apart() -> None:
    shown = distinct_names(["a long name, the first", "a long name, the second", "short"], 16)
    assert list(shown.values()) == ["a long n…e first", "a long n… second", "short"]
    assert shorten_with_digest("a long name, the first", 16) == "a long n…~a9797e"


@cases(
    ("names", "columns", "shown"),
    [
        (
            ["a long name, 1 of the many", "a long name, 2 of the many", "short"],
            16,
            "…1 of the many|…2 of the many|short",
        ),
        (
            [f"document.parties.{party}.address.street" for party in ("seller", "buyer", "payer")],
            19,
            "…seller.a…ss.street|…buyer.ad…ss.street|…payer.ad…ss.street",
        ),
        (["invoice.unit_price.amount", "invoice.unit_prior.amount"], 12, "…price…mount|…prior…mount"),
        ([f"long_name_of_{number}.value.amount" for number in (101, 102)], 12, "…101.v…mount|…102.v…mount"),
        (
            [f"document.parties.{name}.street" for name in ("buyer.billing", "seller.billing", "seller.posting")],
            16,
            "…buyer.b….street|…billing.street|…posting.street",
        ),
        (["文" * 20 + end + "字" * 20 for end in "一二"], 12, "…一字字…字字|…二字字…字字"),
    ],
)
def test_long_names_that_differ_in_the_middle_are_told_apart(names: list[str], columns: int, shown: str) -> None:
    assert "|".join(distinct_names(names, columns).values()) == shown


@cases(
    ("text", "shown"),
    [
        ("@octocat", "`@`octocat"),
        ("a@b.example", "a`@`b.example"),
        ("https://evil.example", "https`://`evil.example"),
        ("www.evil.example", "www`.`evil.example"),
        ("fixes #12, !3 and GH-4", "fixes `#`12, `!`3 and `GH-`4"),
        ("# 12", "\\# 12"),
        ("@@://", "`@@://`"),
        ("`@`", "\\``@`\\`"),
        ("[a](b) <b>|*_~&", "\\[a\\](b) \\<b\\>\\|\\*\\_\\~\\&"),
        ("a\\b", "a\\\\b"),
    ],
)
def test_markdown_has_no_links_and_no_mentions(text: str, shown: str) -> None:
    """GitHub looks for them in the finished page, where a backslash is gone; what is code it leaves alone."""
    assert escape_markdown(text) == shown


@given(texts)
def test_whatever_could_become_a_link_or_a_mention_is_code(text: str) -> None:
    plain = re.sub(r"(?<!\\)(?:\\\\)*`[^`]*`", " ", escape_markdown(text))
    page = re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", plain)
    assert not re.search(r"@|://|www\.|[#!]\d", page)
