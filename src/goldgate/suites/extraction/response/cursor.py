"""Where the tolerant reader is: a place that only grows, the containers that are open, what was mended so far."""

from __future__ import annotations

import re

from goldgate.suites.extraction.response.brackets import STRUCTURE, Ahead, Open
from goldgate.suites.extraction.response.gaps import skip_blanks
from goldgate.suites.extraction.response.quoted import QUOTES
from goldgate.suites.extraction.response.step import Step

_FEWEST_STEPS = 400  # of a short response
_CHARACTERS_A_STEP = 2
MOST_PLACES = 1_000  # repairs whose places are kept; every name is, whatever the number

_GAP = re.compile(r"[ \t\r\n]*+")
_MARKS = frozenset((*STRUCTURE, *QUOTES))  # neither blank nor the beginning of a comment


class Budget:
    """How much the tolerant reader may still try in a response, so that a hostile one costs no more than its length.

    A step is a mark or a value that is read by itself, a quotation mark that is looked past in vain, or a search for
    structure. Damaged answers of models take a step for ten characters or more.
    """

    __slots__ = ("failures", "steps")

    def __init__(self, length: int, failures: int = 0) -> None:
        self.steps = _FEWEST_STEPS + length // _CHARACTERS_A_STEP
        self.failures = failures  # values that may still be tried as they stand: each may look at all of the text


class Cursor:
    """The state of one reading."""

    def __init__(self, text: str, start: int, limit: int, budget: Budget) -> None:
        self.text = text
        self.pos = start
        self.limit = limit
        self.budget = budget
        self.places: list[tuple[Step, int]] = []
        self.noted: set[Step] = set()  # what was mended, once there are too many places
        self.stack: list[Open] = []
        self.after_value = False  # a value is complete: a comma or a closing bracket is due
        self.comma = -1  # where the comma stands that was read last, if nothing came after it

    def note(self, step: Step, at: int) -> None:
        """Keep what was mended, and where."""
        if len(self.places) >= MOST_PLACES:
            self.noted = self.noted or {step for step, _ in self.places}
            if step in self.noted:
                return
            self.noted.add(step)
        self.places.append((step, at))

    def note_all(self, places: list[tuple[Step, int]]) -> None:
        """Keep several repairs."""
        if len(self.places) + len(places) <= MOST_PLACES:
            self.places += places
        else:
            for step, at in places:
                self.note(step, at)

    def next_character(self) -> str | None:
        """Go to the next character that is neither blank nor in a comment; None at the limit."""
        at = _GAP.match(self.text, self.pos, self.limit).end()  # type: ignore[union-attr]  # matches nothing at least
        if at < self.limit and self.text[at] in _MARKS:
            self.pos = at
            return self.text[at]
        comments = self.is_json_without_doubt() or not (self.stack and self.stack[0].value)
        self.pos = skip_blanks(self.text, self.pos, self.limit, self.note, comments=comments)
        return self.text[self.pos] if self.pos < self.limit else None

    def is_json_without_doubt(self) -> bool:
        """Whether what was read holds a key with its colon, or a container: then # begins a comment."""
        if len(self.stack) != 1:
            return len(self.stack) > 1
        outermost = self.stack[0]
        if isinstance(outermost.value, dict):
            return bool(outermost.value) or outermost.key is not None
        return bool(outermost.value) and isinstance(outermost.value[-1], (dict, list))

    def is_key_due(self) -> bool:
        """Whether the innermost container is an object that waits for its next key."""
        return bool(self.stack) and isinstance(self.stack[-1].value, dict) and self.stack[-1].key is None

    def key_is_due_a_value(self) -> bool:
        """Whether a key was read and its value was not."""
        return bool(self.stack) and self.stack[-1].key is not None

    def ahead(self) -> Ahead:
        """The text from here on."""
        return Ahead(self.text, self.pos, self.limit)
