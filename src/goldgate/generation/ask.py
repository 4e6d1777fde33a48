"""Asking an endpoint: so many requests at once, retried and paced, each in the journal before it is sent.

One loop hands out work. A request that waits for its next attempt holds no place, so a busy
endpoint costs time only to the requests that it turned away.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from goldgate.generation.breaker import Breaker
from goldgate.generation.budget import Budget, estimate_tokens
from goldgate.generation.counts import Counts
from goldgate.generation.documents import Documents
from goldgate.generation.journal import Journal
from goldgate.generation.ladder import Ladder
from goldgate.generation.plan import Format, Request, Requests
from goldgate.generation.reply import Answer, Trouble, Usage
from goldgate.generation.transport import Send
from goldgate.generation.waiting import Pace, pause

MOST_BUSY = 100  # times that one request is told to come back later
ALL_WAIT = 10  # busy or failed replies in a row (or as many as are asked at once), and everybody waits
GRACE_SECONDS = 5.0  # for what is in flight when an endpoint is given up that never answered
LATER_GRACE_SECONDS = 120.0  # when it did: what is in flight is probably paid for
AN_ANSWER = 8  # bytes of a token, at most about
MOST_RESERVED = 64 * 1024 * 1024  # bytes of the disk, for what is in flight when it becomes full

Reason = Literal["done", "interrupted", "budget", "stopped", "full"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is asked at once, how fast, and how often again."""

    concurrency: int = 32
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 8


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, and in which response format it asked."""

    reason: Reason
    ladder: Ladder
    message: str = ""
    signal: int | None = None  # that interrupted it


@dataclass(slots=True)
class _Work:
    """A question on its way: which document and seed, and what happened to it so far."""

    position: int
    seed: int | None
    attempts: int = 0
    busy: int = 0
    last: Trouble | None = None
    form: Format | None = None  # a lower format than the others are asked in
    refused: tuple[Format, Trouble] | None = None  # why
    request_id: str | None = None  # kept as long as nobody knows what became of the request


@dataclass(slots=True)
class Asking:
    """A run of requests. `pending` names the documents and seeds that have no answer yet."""

    ladder: Ladder
    documents: Documents
    pending: Iterator[tuple[int, int | None]]
    journal: Journal
    send: Send
    limits: Limits
    budget: Budget
    counts: Counts
    rng: random.Random = field(default_factory=random.Random)
    on_step_down: Callable[[str], None] = lambda _: None
    _stepped: bool = False  # to a lower format, for the whole run
    _interrupted: bool = False
    _ended: Reason | None = None
    _message: str = ""
    _fault: BaseException | None = None
    _delayed: list[tuple[float, int, _Work]] = field(default_factory=list)
    _number: int = 0
    _not_before: float = 0.0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _breaker: Breaker = field(init=False)
    _by_request: Pace | None = None
    _by_token: Pace | None = None

    async def run(self) -> Ended:
        """Ask until everything is answered or given up, or until something stops it; never leaves a task behind."""
        self._breaker = Breaker(self.limits.concurrency, _now(), self.ladder.settled(self.ladder.form), _now())
        an_answer = self.ladder.plan.output_limit * AN_ANSWER + 4096
        self.journal.reserve(min(MOST_RESERVED, (self.limits.concurrency + 1) * an_answer))
        if self.limits.requests_per_minute:
            self._by_request = Pace(self.limits.requests_per_minute)
        if self.limits.tokens_per_minute:
            self._by_token = Pace(self.limits.tokens_per_minute)
        self._begin(self.ladder.form)
        try:
            await self._hand_out()
        finally:
            await self._finish()
        if self._fault is not None:
            raise self._fault
        return Ended(self._ended or "done", self.ladder, self._message)

    def interrupt(self) -> bool:
        """Ask nothing new and let what is in flight end. Called again, it ends at once. True the first time."""
        if not self._interrupted:
            self._interrupted = True
            self._stop("interrupted")
            return True
        for task in self._tasks:
            task.cancel()
        return False

    async def _hand_out(self) -> None:
        while (work := await self._next()) is not None:
            document, requests = self.documents[work.position], self.ladder[work.form or self.ladder.form]
            if self._stepped and self.ladder.find(self.journal.contents, document, work.seed).place is not None:
                self.counts.before += 1  # answered in an earlier run, in the format that we stepped down to
                continue
            request = requests.make(document, work.seed)
            expected = self.budget.expected(request.estimate, requests.plan.output_limit)
            if not await self._affordable(expected) or not await self._paced(expected):
                return
            self.budget.reserve(expected)
            self.counts.in_flight += 1
            task = asyncio.create_task(self._attempt(work, request, expected, requests))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(0)  # it is on its way before the next prompt is put together

    async def _next(self) -> _Work | None:
        """The next piece of work, when there is a place for it; None when there is no more."""
        while self._ended is None and self._fault is None:
            now = _now()
            until: float | None = None
            if self.counts.in_flight < self.limits.concurrency:
                if now < self._not_before:
                    until = self._not_before
                elif self._delayed and self._delayed[0][0] <= now:
                    return heapq.heappop(self._delayed)[2]
                elif (fresh := next(self.pending, None)) is not None:
                    return _Work(*fresh)
                elif self._delayed:
                    until = self._delayed[0][0]
                elif not self.counts.in_flight:
                    return None
            self._wake.clear()
            if until is None:
                await self._wake.wait()
            else:
                with suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), until - now)
        return None

    async def _affordable(self, expected: Usage) -> bool:
        """Wait until the request fits under the caps; what is in flight may turn out cheaper than reckoned."""
        while not self.budget.fits(expected):
            if not self.counts.in_flight:
                self._stop("budget", f"the next request could exceed the cap of {self.budget.said()}")
            if self._ended is not None or self._fault is not None:
                return False
            self._wake.clear()
            await self._wake.wait()
        return True

    async def _paced(self, expected: Usage) -> bool:
        now = _now()
        waits = [pace.reserve(now, 1) for pace in (self._by_request,) if pace is not None]
        waits += [pace.reserve(now, expected.total) for pace in (self._by_token,) if pace is not None]
        ready = now + max(waits, default=0.0)
        while (left := ready - _now()) > 0 and self._ended is None and self._fault is None:
            self._wake.clear()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._wake.wait(), left)
        return self._ended is None and self._fault is None

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
            else:
                guess = Usage(expected.input, 0, estimated=True) if outcome.billed else None
                spent = outcome.usage or guess
                self.journal.unanswered(request, requests.identity, outcome.cause, spent)
                self._in_trouble(work, request, outcome, requests)
        except Exception as fault:  # above all a journal that cannot be written: nothing more may be asked
            self._fault = self._fault or fault
        finally:
            self.counts.in_flight -= 1
            self.budget.settle(expected, spent, request.estimate)
            self.counts.spent(self.budget)
            if self._by_token is not None and spent is not None:
                self._by_token.correct(spent.total - expected.total)
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
            refused, trouble = work.refused
            detail = f"{trouble.cause}: {trouble.detail}"
            self.journal.step_down(self.ladder.plan.base(), refused, requests.form, detail, request.key)

    def _answered(self, work: _Work, requests: Requests) -> None:
        self._breaker.answer(_now())
        self._not_before = 0.0
        self.counts.answered += 1
        self.ladder.answered(requests.form)
        refused, form = work.refused, requests.form
        if refused is not None and self.ladder.is_higher(form) and self.ladder.answered_below(form):
            self._step_down(self.ladder.form, form, refused[1])

    def _in_trouble(self, work: _Work, request: Request, trouble: Trouble, requests: Requests) -> None:
        if not trouble.undecided:
            work.request_id = None
        if trouble.means == "format" or (trouble.means == "unclear" and not self.ladder.settled(requests.form)):
            lower = self.ladder.below(requests.form)
            if lower is not None:
                self._ask_lower(work, lower, trouble, requests.form)
                return
        work.last = trouble
        reason = self._breaker.trouble(trouble, _now())
        if trouble.means == "busy" and work.busy < MOST_BUSY:
            work.busy += 1
            self._again(work, pause(work.busy, trouble.retry_after, self.rng))
        elif trouble.means == "again" and work.attempts + 1 < self.limits.attempts:
            work.attempts += 1
            self._again(work, pause(work.attempts, trouble.retry_after, self.rng))
        else:
            self._fail(request, trouble, work.attempts + work.busy + 1, requests)
        if reason is not None:
            self._stop("stopped", reason)

    def _ask_lower(self, work: _Work, lower: Format, trouble: Trouble, refused: Format) -> None:
        """Ask this one question in a lower format; all of them, if the endpoint says that it knows no other."""
        if trouble.means == "format" and refused == self.ladder.form and not self.ladder.settled(refused):
            self._step_down(refused, lower, trouble)
        work.form, work.refused = lower, (refused, trouble)
        self._again(work, 0.0)

    def _again(self, work: _Work, wait: float) -> None:
        self.counts.retries += 1
        self._number += 1
        heapq.heappush(self._delayed, (_now() + wait, self._number, work))
        if max(self._breaker.busy, self._breaker.failures) >= max(ALL_WAIT, self.limits.concurrency):
            self._not_before = max(self._not_before, _now() + wait)

    def _fail(self, request: Request, trouble: Trouble, attempts: int, requests: Requests) -> None:
        self.counts.failed += 1
        self.journal.failure(request, requests.identity, trouble, attempts)

    def _step_down(self, refused: Format, lower: Format, trouble: Trouble) -> None:
        detail = f"{trouble.cause}: {trouble.detail}"
        self.journal.step_down(self.ladder.plan.base(), refused, lower, detail)
        self.ladder.form, self._stepped = lower, True
        self._begin(lower)
        self.on_step_down(f"the endpoint refuses {refused} ({trouble.cause}); from here on it is asked for {lower}")

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
        if self._ended == "stopped" and self._fault is None:
            for _, _, work in self._delayed:  # given up: each with its last trouble
                if work.last is not None:
                    requests = self.ladder[work.form or self.ladder.form]
                    request = requests.make(self.documents[work.position], work.seed)
                    self._fail(request, work.last, work.attempts + work.busy, requests)


def _now() -> float:
    return asyncio.get_running_loop().time()
