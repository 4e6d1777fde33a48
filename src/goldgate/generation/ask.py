"""Asking an endpoint: so many requests at once, retried and paced, each answer in the journal as it arrives.

One loop hands out work. A request that waits for its next attempt holds no place, so a busy
endpoint costs time only to the requests that it turned away.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from goldgate.generation.breaker import Breaker
from goldgate.generation.budget import Budget, estimate_tokens
from goldgate.generation.counts import Counts, Watch
from goldgate.generation.documents import Documents
from goldgate.generation.journal import Journal
from goldgate.generation.plan import FORMATS, Request, Requests
from goldgate.generation.reply import Answer, Trouble, Usage
from goldgate.generation.transport import Send
from goldgate.generation.waiting import Pace, pause

MOST_BUSY = 100  # times that one request is told to come back later
ALL_WAIT = 10  # busy or failed replies in a row (or as many as are asked at once), and everybody waits
GRACE_SECONDS = 5.0  # for what is in flight when the run is stopped early
SUSPECTS = 3  # requests refused without a reason, before anything was answered: it may be the response format

Reason = Literal["done", "interrupted", "budget", "stopped"]


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
    requests: Requests
    message: str = ""


@dataclass(slots=True)
class _Work:
    """A question on its way: which document and seed, and what happened to it so far."""

    position: int
    seed: int | None
    attempts: int = 0
    busy: int = 0
    last: Trouble | None = None


@dataclass(slots=True)
class Asking:
    """A run of requests. `pending` names the documents and seeds that have no answer yet."""

    requests: Requests
    documents: Documents
    pending: Iterator[tuple[int, int | None]]
    journal: Journal
    send: Send
    limits: Limits
    budget: Budget
    counts: Counts
    rng: random.Random = field(default_factory=random.Random)
    on_step_down: Callable[[str], None] = lambda _: None
    _settled: bool = False  # the present response format has been answered in
    _ended: Reason | None = None
    _message: str = ""
    _fault: BaseException | None = None
    _delayed: list[tuple[float, int, _Work]] = field(default_factory=list)
    _parked: list[tuple[_Work, Trouble]] = field(default_factory=list)
    _number: int = 0
    _not_before: float = 0.0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _wake: asyncio.Event = field(default_factory=asyncio.Event)
    _breaker: Breaker = field(init=False)
    _by_request: Pace | None = None
    _by_token: Pace | None = None

    async def run(self) -> Ended:
        """Ask until everything is answered or given up, or until something stops it; never leaves a task behind."""
        self._settled = self.journal.contents.answered.get(self.requests.identity, 0) > 0
        self._breaker = Breaker(self.limits.concurrency, _now(), self._settled, _now())
        if self.limits.requests_per_minute:
            self._by_request = Pace(self.limits.requests_per_minute)
        if self.limits.tokens_per_minute:
            self._by_token = Pace(self.limits.tokens_per_minute)
        self._begin()
        try:
            await self._hand_out()
        finally:
            await self._finish()
        if self._fault is not None:
            raise self._fault
        return Ended(self._ended or "done", self.requests, self._message)

    def interrupt(self) -> bool:
        """Ask nothing new and let what is in flight end. Called again, it ends at once. True the first time."""
        if self._ended is None:
            self._stop("interrupted")
            return True
        for task in self._tasks:
            task.cancel()
        return False

    async def _hand_out(self) -> None:
        while (work := await self._next()) is not None:
            request = self.requests.make(self.documents[work.position], work.seed)
            if request.key in self.journal:  # answered in an earlier run, in the format that we stepped down to
                self.counts.before += 1
                continue
            expected = self.budget.expected(request.estimate, self.requests.plan.output_limit)
            if not await self._affordable(expected) or not await self._paced(expected):
                return
            self.budget.reserve(expected)
            self.counts.in_flight += 1
            task = asyncio.create_task(self._attempt(work, request, expected, self.requests))
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
                    if not self._parked:
                        return None
                    self._resolve_parked(step_down=True)
                    continue
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
            outcome = await self.send(request.body)
            if isinstance(outcome, Answer):
                spent = outcome.usage or Usage(
                    request.estimate, estimate_tokens(outcome.response.encode()), estimated=True
                )
                outcome = Answer(outcome.response, spent, outcome.finish_reason, outcome.reasoning, outcome.model)
                attempts = work.attempts + work.busy + 1
                self.journal.answer(request, requests.identity, outcome, attempts, _now() - began)
                if requests is self.requests:
                    self._answered()
                else:  # it came in a format that was given up meanwhile: kept, and asked again with the others
                    self._again(work, 0.0)
            else:
                spent = Usage(expected.input, 0, estimated=True) if outcome.billed else None
                self._in_trouble(work, request, outcome, requests)
        except Exception as fault:  # above all a journal that cannot be written: nothing more may be asked
            self._fault = self._fault or fault
        finally:
            self.counts.in_flight -= 1
            self.budget.settle(expected, spent, request.estimate)
            self.counts.spent(self.budget)
            if self._by_token is not None and spent is not None:
                self._by_token.correct(spent.total - expected.total)
            self._wake.set()

    def _answered(self) -> None:
        self._breaker.answer(_now())
        self._not_before = 0.0
        self._settled = True
        self.counts.answered += 1
        self._resolve_parked(step_down=False)

    def _in_trouble(self, work: _Work, request: Request, trouble: Trouble, requests: Requests) -> None:
        if requests is not self.requests and trouble.means in ("format", "final"):
            self._again(work, 0.0)  # the format was given up while this was on its way
            return
        if trouble.means == "format" and self._step_down(trouble):
            self._again(work, 0.0)
            return
        if trouble.means == "final" and self._can_step_down():
            self._parked.append((work, trouble))
            if len(self._parked) >= SUSPECTS:
                self._resolve_parked(step_down=True)
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

    def _again(self, work: _Work, wait: float) -> None:
        self.counts.retries += 1
        self._number += 1
        heapq.heappush(self._delayed, (_now() + wait, self._number, work))
        if max(self._breaker.busy, self._breaker.failures) >= max(ALL_WAIT, self.limits.concurrency):
            self._not_before = max(self._not_before, _now() + wait)

    def _fail(self, request: Request, trouble: Trouble, attempts: int, requests: Requests) -> None:
        self.counts.failed += 1
        self.journal.failure(request, requests.identity, trouble, attempts)

    def _can_step_down(self) -> bool:
        """Only `auto` does, and only before anything was answered: the answers of a run are all in one format."""
        auto = self.requests.plan.response_format == "auto"
        return auto and not self._settled and self.requests.form != FORMATS[-1]

    def _step_down(self, trouble: Trouble) -> bool:
        if not self._can_step_down():
            return False
        plan, refused = self.requests.plan, self.requests.form
        lower = FORMATS[FORMATS.index(refused) + 1]
        self.journal.step_down(plan.base(), refused, lower, f"{trouble.cause}: {trouble.detail}")
        self.requests = Requests(plan, lower)
        self._begin()
        self._settled = self.journal.contents.answered.get(self.requests.identity, 0) > 0
        self.on_step_down(f"the endpoint refuses {refused} ({trouble.cause}); from here on it is asked for {lower}")
        return True

    def _resolve_parked(self, *, step_down: bool) -> None:
        """Requests that were refused without a word about the format: try a lower one, or they failed."""
        parked, self._parked = self._parked, []
        stepped = bool(parked) and step_down and self._step_down(parked[0][1])
        for work, trouble in parked:
            if stepped:
                self._again(work, 0.0)
            else:
                request = self.requests.make(self.documents[work.position], work.seed)
                self._fail(request, trouble, work.attempts + work.busy + 1, self.requests)

    def _begin(self) -> None:
        plan = self.requests.plan
        self.journal.begin(self.requests.identity, plan.base(), self.requests.form, plan.settings())

    def _stop(self, reason: Reason, message: str = "") -> None:
        if self._ended is None:
            self._ended, self._message = reason, message
        self._wake.set()

    async def _finish(self) -> None:
        """Let what is in flight end: all of it after an interrupt, a little while if the endpoint is given up."""
        if self._tasks:
            patience = GRACE_SECONDS if self._ended == "stopped" or self._fault is not None else None
            _, late = await asyncio.wait(self._tasks, timeout=patience)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        if self._ended == "stopped" and self._fault is None:
            self._resolve_parked(step_down=False)
            for _, _, work in self._delayed:  # given up: each with its last trouble
                if work.last is not None:
                    request = self.requests.make(self.documents[work.position], work.seed)
                    self._fail(request, work.last, work.attempts + work.busy, self.requests)


async def watched(asking: Asking, watch: Watch, every: float, on_interrupt: Callable[[int], None]) -> Ended:
    """Run, with somebody told how far it is, and Ctrl-C (or a SIGTERM) ending it in good order."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if asking.interrupt():
            on_interrupt(asking.counts.in_flight)

    async def report() -> None:
        while True:
            watch(asking.counts)
            await asyncio.sleep(every)

    signals = (signal.SIGINT, signal.SIGTERM)
    for number in signals:
        loop.add_signal_handler(number, stop)
    reporting = asyncio.create_task(report())
    try:
        return await asking.run()
    finally:
        reporting.cancel()
        for number in signals:
            loop.remove_signal_handler(number)
        watch(asking.counts)


def _now() -> float:
    return asyncio.get_running_loop().time()
