"""Asking an endpoint: so many requests at once, retried and paced, each in the journal before it is sent.

One loop hands out work. A request that waits for its next attempt holds no place, so a busy
endpoint costs time only to the requests that it turned away.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace

from goldgate.core.task import Format
from goldgate.generation.answerers.answerer import Assignment, Ending, Reason
from goldgate.generation.answerers.openai.breaker import Breaker
from goldgate.generation.answerers.openai.limits import Limits, RateLimits
from goldgate.generation.answerers.openai.transport import Send
from goldgate.generation.answerers.openai.waiting import pause
from goldgate.generation.budget import estimate_tokens
from goldgate.generation.outcome import Answer, NoAnswer, Usage
from goldgate.generation.plan import Request, Requests

MOST_BUSY = 100  # times that one request is told to come back later
ALL_WAIT = 10  # busy or failed replies in a row (or as many as are asked at once), and everybody waits
GRACE_SECONDS = 5.0  # for what is in flight when an endpoint is given up that never answered
LATER_GRACE_SECONDS = 120.0  # when it did: what is in flight is probably paid for
BYTES_OF_A_TOKEN = 8  # bytes of a token, at most about
MOST_RESERVED = 64 * 1024 * 1024  # bytes of the disk, for what is in flight when it becomes full
BUSY = "the endpoint, busy or failing"


@dataclass(slots=True)
class _Work:
    """A question on its way: which document and seed, and what happened to it so far."""

    position: int
    seed: int | None
    attempts: int = 0
    busy: int = 0
    last: NoAnswer | None = None
    form: Format | None = None  # a lower format than the others are asked in
    refused: tuple[Format, NoAnswer] | None = None  # why
    request_id: str | None = None  # kept as long as nobody knows what became of the request


class Asking:
    """A run of requests, from the first to the last."""

    def __init__(self, assignment: Assignment, send: Send, limits: Limits, rng: random.Random | None = None) -> None:
        self.assignment, self.send, self.limits, self.rng = assignment, send, limits, rng or random.Random()
        self.ladder, self.journal = assignment.ladder, assignment.journal
        self.budget, self.counts = assignment.budget, assignment.counts
        self._fresh = iter(assignment.pending)
        self._delayed: list[tuple[float, int, _Work]] = []
        self._number = 0
        self._not_before = 0.0
        self._rates = RateLimits(limits)
        self._stepped = False  # to a lower format, for the whole run
        self._interrupted = False
        self._ended: Reason | None = None
        self._message = ""
        self._fault: BaseException | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    async def run(self) -> Ending:
        """Ask until everything is answered or given up, or until something stops it; never leaves a task behind."""
        self._breaker = Breaker(self.limits.concurrency, _now(), self.ladder.settled(self.ladder.form), _now())
        an_answer = self.ladder.plan.output_limit * BYTES_OF_A_TOKEN + 4096
        self.journal.reserve(min(MOST_RESERVED, (self.limits.concurrency + 1) * an_answer))
        self._begin(self.ladder.form)
        try:
            await self._hand_out()
        finally:
            await self._finish()
        if self._fault is not None:
            raise self._fault
        return Ending(self._ended or "done", self._message)

    def interrupt(self) -> bool:
        """Ask nothing new and let what is in flight end. Called again, it ends at once. True the first time."""
        if not self._interrupted:
            self._interrupted = True
            self._stop("interrupted")
            return True
        for task in self._tasks:
            task.cancel()
        return False

    @property
    def _over(self) -> bool:
        return self._ended is not None or self._fault is not None

    async def _hand_out(self) -> None:
        while (work := await self._next()) is not None:
            question = self.assignment.question(work.position, work.seed)
            if self._stepped and self.ladder.find(self.journal.contents, question, work.seed).place is not None:
                self.counts.before += 1  # answered in an earlier run, in the format that we stepped down to
                continue
            requests = self.ladder[work.form or self.ladder.form]
            request = requests.make(question, work.seed)
            expected = self.budget.expected(request.estimate, requests.plan.output_limit)
            if not await self._admitted(expected):
                self._delay(work, 0.0)  # it was not asked, and is given up with the others that wait
                return
            self.counts.in_flight += 1
            task = asyncio.create_task(self._attempt(work, request, expected, requests))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(0)  # it is on its way before the next prompt is put together

    async def _next(self) -> _Work | None:
        """The next piece of work, when there is a place for it; None when there is no more."""
        while not self._over:
            now, until, limit = _now(), None, None
            if self.counts.in_flight < self.limits.concurrency:
                if now < self._not_before:
                    until, limit = self._not_before, BUSY
                elif self._delayed and self._delayed[0][0] <= now:
                    return heapq.heappop(self._delayed)[2]
                elif (fresh := next(self._fresh, None)) is not None:
                    return _Work(*fresh)
                elif self._delayed:
                    until = self._delayed[0][0]
                elif not self.counts.in_flight:
                    return None
            await self._wait(until, limit)
        return None

    async def _admitted(self, expected: Usage) -> bool:
        """Wait for the caps and for the rate limits. What is reserved stays so, until the request is settled.

        It is reserved before the rate limits: while it waits for those, others may turn out dearer than reckoned.
        """
        while (cap := self.budget.exceeded(expected)) is not None:
            if not self.counts.in_flight:
                self._stop("budget", f"the next request could exceed the cap of {self.budget.describe_caps()}")
            if self._over:
                return False
            await self._wait(None, cap)  # what is in flight may turn out cheaper than reckoned
        self.budget.reserve(expected)
        turn = self._rates.reserve(_now(), expected.total)
        while turn.at > _now() and not self._over:
            await self._wait(turn.at, turn.limit)
        if self._over:
            self.budget.settle(expected, None)
        return not self._over

    async def _wait(self, until: float | None, limit: str | None) -> None:
        """Wait for something to happen, at most until a moment; a limit that is to blame gets the time."""
        began = _now()
        self._wake.clear()
        self.counts.waits_for = limit
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._wake.wait(), None if until is None else until - began)
        self.counts.waits_for = None
        if limit is not None:
            self.counts.held_back(limit, _now() - began)

    async def _attempt(self, work: _Work, request: Request, expected: Usage, requests: Requests) -> None:
        began = _now()
        spent: Usage | None = None
        try:
            outcome = await self.send(request.body, self._announce(work, request, requests))
            if isinstance(outcome, Answer):
                said = estimate_tokens(outcome.response.encode())
                spent = outcome.usage or Usage(request.estimate, said, estimated=True)
                self._lower(work, request, requests)
                attempts = work.attempts + work.busy + 1
                self.journal.answer(request, requests.identity, replace(outcome, usage=spent), attempts, _now() - began)
                self._answered(work, requests)
                self._tell(work, outcome.response)
            else:
                guess = Usage(expected.input, 0, estimated=True) if outcome.billed else None
                spent = outcome.usage or guess
                self.journal.unanswered(request, requests.identity, outcome.cause, spent)
                self._unanswered(work, request, outcome, requests)
        except Exception as fault:  # above all a journal that cannot be written: nothing more may be asked
            self._fault = self._fault or fault
        finally:
            self.counts.in_flight -= 1
            self.budget.settle(expected, spent, request.estimate)
            self.counts.spent(self.budget)
            if spent is not None:
                self._rates.correct(spent.total - expected.total)
            if self.journal.full is not None:
                self._stop("full", self.journal.full)
            self._wake.set()

    def _announce(self, work: _Work, request: Request, requests: Requests) -> str:
        """Write down that a request is about to be sent; its id is an earlier one's whose end nobody knows."""
        cut_off = self.journal.contents.in_flight.get(request.key)
        if cut_off is not None:  # by a kill: it may have been charged
            lost = Usage(cut_off.estimate, 0, estimated=True)
            self.journal.unanswered(request, requests.identity, "cut_off", lost)
            work.request_id = work.request_id or cut_off.request_id
        work.request_id = work.request_id or secrets.token_hex(16)
        self.journal.asked(request, requests.identity, work.request_id)
        return work.request_id

    def _lower(self, work: _Work, request: Request, requests: Requests) -> None:
        """Write down, before its answer, that a question was answered in a lower format than others are asked in."""
        if work.refused is not None and self.ladder.is_higher(requests.form):
            refused, why = work.refused
            detail = f"{why.cause}: {why.detail}"
            self.journal.step_down(self.ladder.plan.base(), refused, requests.form, detail, request.key)

    def _answered(self, work: _Work, requests: Requests) -> None:
        self._breaker.answer(_now())
        self._not_before = 0.0
        self.counts.answered += 1
        self.ladder.answered(requests.form)
        refused, form = work.refused, requests.form
        if refused is not None and self.ladder.is_higher(form) and self.ladder.answered_below(form):
            self._step_down(self.ladder.form, form, refused[1])

    def _tell(self, work: _Work, response: str | None) -> None:
        """Nothing more is asked once every gate is decided; what is in flight ends as usual."""
        if self.assignment.is_enough(work.position, response):
            self._stop("decided")

    def _unanswered(self, work: _Work, request: Request, why: NoAnswer, requests: Requests) -> None:
        if not why.undecided:
            work.request_id = None
        if why.means == "format" or (why.means == "unclear" and not self.ladder.settled(requests.form)):
            lower = self.ladder.below(requests.form)
            if lower is not None:
                self._ask_lower(work, lower, why, requests.form)
                return
        work.last = why
        reason = self._breaker.no_answer(why, _now())
        if why.means == "busy" and work.busy < MOST_BUSY:
            work.busy += 1
            self._again(work, pause(work.busy, why.retry_after, self.rng))
        elif why.means == "again" and work.attempts + 1 < self.limits.attempts:
            work.attempts += 1
            self._again(work, pause(work.attempts, why.retry_after, self.rng))
        else:
            self._fail(request, why, work.attempts + work.busy + 1, requests)
            self._tell(work, None)
        if reason is not None:
            self._stop("stopped", reason)

    def _ask_lower(self, work: _Work, lower: Format, why: NoAnswer, refused: Format) -> None:
        """Ask this one question in a lower format; all of them, if the endpoint says that it knows no other."""
        if why.means == "format" and refused == self.ladder.form and not self.ladder.settled(refused):
            self._step_down(refused, lower, why)
        work.form, work.refused = lower, (refused, why)
        self._again(work, 0.0)

    def _again(self, work: _Work, wait: float) -> None:
        self.counts.retries += 1
        self._delay(work, wait)
        if max(self._breaker.busy, self._breaker.failures) >= max(ALL_WAIT, self.limits.concurrency):
            self._not_before = max(self._not_before, _now() + wait)

    def _delay(self, work: _Work, wait: float) -> None:
        self._number += 1
        heapq.heappush(self._delayed, (_now() + wait, self._number, work))

    def _fail(self, request: Request, why: NoAnswer, attempts: int, requests: Requests) -> None:
        self.counts.failed += 1
        self.journal.failure(request, requests.identity, why, attempts)

    def _step_down(self, refused: Format, lower: Format, why: NoAnswer) -> None:
        detail = f"{why.cause}: {why.detail}"
        self.journal.step_down(self.ladder.plan.base(), refused, lower, detail)
        self.ladder.form, self._stepped = lower, True
        self._begin(lower)
        self.assignment.listener.say(
            f"the endpoint refuses {refused} ({why.cause}); from here on it is asked for {lower}"
        )

    def _begin(self, form: Format) -> None:
        plan = self.ladder.plan
        self.journal.begin(self.ladder[form].identity, plan.base(), form, plan.settings())

    def _stop(self, reason: Reason, message: str = "") -> None:
        if self._ended is None:
            self._ended, self._message = reason, message
        self._wake.set()

    async def _finish(self) -> None:
        """Let what is in flight end: all of it after an interrupt, a little while if the endpoint is given up."""
        if self._tasks:
            patience: float | None = None
            if self._fault is not None or self._ended == "stopped":
                patience = LATER_GRACE_SECONDS if self._fault is None and self._breaker.answered else GRACE_SECONDS
            _, late = await asyncio.wait(self._tasks, timeout=patience)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        if self._ended in ("stopped", "budget") and self._fault is None:
            for _, _, work in self._delayed:  # given up: each with the last reason why it has no answer
                if work.last is not None:
                    requests = self.ladder[work.form or self.ladder.form]
                    request = requests.make(self.assignment.question(work.position, work.seed), work.seed)
                    self._fail(request, work.last, work.attempts + work.busy, requests)


def _now() -> float:
    return asyncio.get_running_loop().time()
