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

    keys: list[str]  # of the question in every format, and from every source
    form: Format | None = None  # the format of the answer that counts; None if there is no answer
    key: str = ""  # of that answer
    place: Span | None = None

    def without_answer(self, contents: Contents) -> Unanswered:
        """Requests for this question that may have been charged and gave no answer."""
        total = Unanswered()
        for key in self.keys:
            total.join(contents.unanswered.get(key, Unanswered()))
            if (cut_off := contents.in_flight.get(key)) is not None:
                total.add(Usage(cut_off.estimate, estimated=True))
        return total

    def unused(self, contents: Contents) -> list[Span]:
        """Further answers to this question, in other formats: paid for, and not counted as answers."""
        return [contents.answers[key] for key in self.keys if key != self.key and key in contents.answers]


class Ladder:
    """The requests of a plan in each of its formats; `form` is the one that new questions are asked in."""

    def __init__(self, plan: Plan, contents: Contents) -> None:
        self.plan = plan
        self._steps = {form: Requests(plan, form) for form in plan.formats}
        self.form = _reached(plan, contents)
        self._others = [other for source in plan.others() for other in _stored(source, contents)]
        self._answered_in = {form for form, step in self._steps.items() if contents.answered.get(step.identity)}
        self._evidence: dict[Format, int] = {}

    def __getitem__(self, form: Format) -> Requests:
        return self._steps[form]

    @property
    def current(self) -> Requests:
        return self._steps[self.form]

    @property
    def bases(self) -> set[str]:
        """Of the plan, and of the other sources whose answers are there and count too."""
        return {self.plan.base(), *(step.plan.base() for step, _ in self._others)}

    def find(self, contents: Contents, question: Question, seed: int | None) -> Found:
        """The answer to a question: in the present format, in one above it, or in one that it was lowered to."""
        encoded = encode_chat(question.messages)
        own = [
            (self.current, self.form),
            *((step, self.form) for form, step in self._steps.items() if form != self.form),
        ]
        keys = [(step.key(question.id, seed, encoded), step.form, reached) for step, reached in (*own, *self._others)]
        every = [key for key, _, _ in keys]
        for key, form, reached in keys:
            is_below = FORMATS.index(form) > FORMATS.index(reached)
            if key in contents.answers and (not is_below or key in contents.lowered):
                return Found(every, form, key, contents.answers[key])
        return Found(every)

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


def _reached(plan: Plan, contents: Contents) -> Format:
    first = plan.formats[0]
    return contents.format_for(plan.base(), first) if len(plan.formats) > 1 else first


def _stored(plan: Plan, contents: Contents) -> list[tuple[Requests, Format]]:
    """What was asked of another source, in each format, and the format that it had stepped down to."""
    steps = (Requests(plan, form) for form in plan.formats)
    return [(step, _reached(plan, contents)) for step in steps if step.identity in contents.plans]
