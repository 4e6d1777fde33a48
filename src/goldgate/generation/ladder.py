"""The response formats of a plan, from the one that asks most of an endpoint to the one that asks least.

`auto` begins with the first and steps down when the endpoint says that it does not support it, or when it
answers in a lower one what it refused in a higher one. An answer counts in whichever format it came.
"""

from __future__ import annotations

from typing import NamedTuple

from goldgate.core.task import FORMATS, Format, Question
from goldgate.generation.journal_lines import Contents, Span, Unanswered
from goldgate.generation.outcome import Usage
from goldgate.generation.plan import Plan, Requests, encode_chat

EVIDENCE = 3  # questions refused in a format without a reason and answered in a lower one: it is the format


class Found(NamedTuple):
    """What a journal has of one question."""

    keys: dict[Format, str]  # of the question in every format
    form: Format | None = None  # the format of the answer that counts; None if there is no answer
    place: Span | None = None  # of that answer

    def without_answer(self, contents: Contents) -> Unanswered:
        """Requests for this question that may have been charged and gave no answer."""
        total = Unanswered()
        for key in self.keys.values():
            total.join(contents.unanswered.get(key, Unanswered()))
            if (cut_off := contents.in_flight.get(key)) is not None:
                total.add(Usage(cut_off.estimate, estimated=True))
        return total

    def unused(self, contents: Contents) -> list[Span]:
        """Further answers to this question, in other formats: paid for, and not counted as answers."""
        return [
            contents.answers[key] for form, key in self.keys.items() if form != self.form and key in contents.answers
        ]


class Ladder:
    """The requests of a plan in each of its formats; `form` is the one that new questions are asked in."""

    def __init__(self, plan: Plan, contents: Contents) -> None:
        self.plan = plan
        self._steps = {form: Requests(plan, form) for form in plan.formats}
        first = plan.formats[0]
        self.form = contents.format_for(plan.base(), first) if len(plan.formats) > 1 else first
        self._answered_in = {form for form, step in self._steps.items() if contents.answered.get(step.identity)}
        self._evidence: dict[Format, int] = {}

    def __getitem__(self, form: Format) -> Requests:
        return self._steps[form]

    @property
    def current(self) -> Requests:
        return self._steps[self.form]

    def find(self, contents: Contents, question: Question, seed: int | None) -> Found:
        """The answer to a question: in the present format, in one above it, or in one that it was lowered to."""
        encoded = encode_chat(question.messages)
        keys = {form: step.key(question.id, seed, encoded) for form, step in self._steps.items()}
        below = [form for form in keys if FORMATS.index(form) > FORMATS.index(self.form)]
        for form in (self.form, *(form for form in keys if form != self.form)):
            key = keys[form]
            if key in contents.answers and (form not in below or key in contents.lowered):
                return Found(keys, form, contents.answers[key])
        return Found(keys)

    def below(self, form: Format) -> Format | None:
        """The format to try instead of one that was refused; None if there is none."""
        forms = list(self._steps)
        place = max(forms.index(form) + 1, forms.index(self.form))
        return forms[place] if place < len(forms) else None

    def settled(self, form: Format) -> bool:
        """Whether the endpoint has answered in this format: then a refusal is about the one request."""
        return form in self._answered_in

    def answered(self, form: Format) -> None:
        self._answered_in.add(form)

    def is_higher(self, form: Format) -> bool:
        """Whether new questions are asked in a format above this one."""
        return FORMATS.index(self.form) < FORMATS.index(form)

    def answered_below(self, form: Format) -> bool:
        """Told that a question was refused above and answered in `form`; True once that is evidence enough."""
        self._evidence[form] = self._evidence.get(form, 0) + 1
        return self._evidence[form] >= EVIDENCE and not self.settled(self.form)
