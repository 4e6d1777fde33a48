"""Tokens and the text that they stand for: where each token is in it, in characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Span = tuple[int, int]


class TokenText(NamedTuple):
    """A text, and the span of each of its tokens in it."""

    text: str
    spans: list[Span]

    def characters(self, start: int, end: int) -> Span:
        """The span in characters of the tokens from `start` to before `end`, of which there is at least one."""
        return self.spans[start][0], self.spans[end - 1][1]


def joined(tokens: Sequence[str]) -> TokenText:
    """The tokens with a blank between two."""
    spans: list[Span] = []
    at = 0
    for token in tokens:
        spans.append((at, at + len(token)))
        at += len(token) + 1
    return TokenText(" ".join(tokens), spans)


def aligned(tokens: Sequence[str], text: str) -> TokenText | None:
    """The tokens found in the text, one after the other; None if the text has another letter or digit in between.

    Blanks, marks and invisible characters that no token has are passed over: tokenizers leave such things out.
    """
    spans: list[Span] = []
    at = 0
    for token in tokens:
        start = at if text.startswith(token, at) else _after_marks(token, text, at)
        if start is None:
            return None
        at = start + len(token)
        spans.append((start, at))
    return TokenText(text, spans)


def aligned_or_joined(tokens: Sequence[str], text: object) -> TokenText:
    """The tokens in their text or, where there is none that has them all in order, joined by blanks."""
    found = aligned(tokens, text) if isinstance(text, str) else None
    return found if found is not None else joined(tokens)


def _after_marks(token: str, text: str, at: int) -> int | None:
    while at < len(text):
        if text.startswith(token, at):
            return at
        if text[at].isalnum():
            return None
        at += 1
    return None if token else at
