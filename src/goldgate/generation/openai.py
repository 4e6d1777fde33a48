"""Answer with an endpoint that implements OpenAI's chat completions (the extra `api`: aiohttp).

Many requests are sent at once, paced and retried, each written to the journal before it is sent. One loop hands out
work. A request that waits for its next attempt takes no slot, so a busy endpoint delays only the requests that it
turned away. The first SIGINT, SIGTERM or SIGHUP lets requests in flight finish, the second ends the run at once.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import secrets
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

from goldgate.core.process import handle_signals
from goldgate.core.task import AnswerFormat
from goldgate.errors import require_extra
from goldgate.generation.answerer import Assignment, Ending, EndReason, RunCallbacks
from goldgate.generation.journal import CUT_OFF
from goldgate.generation.limits import CircuitBreaker, EndpointLimits, RateLimits, backoff
from goldgate.generation.request import ModelAnswer, ModelRequest, NoAnswer, Usage, estimate_tokens
from goldgate.generation.secret import check_address, redact_address
from goldgate.generation.transport import EndpointOptions, Send, open_session


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """An endpoint."""

    endpoint: EndpointOptions

    takes_formats: ClassVar[bool] = True

    def identify(self) -> dict[str, str]:
        return {"endpoint": redact_address(check_address(self.endpoint.base_url))}

    def get_ready(self) -> None:
        """Require the extra, and the key that was named."""
        require_extra("api", "asking an endpoint", "aiohttp")
        self.endpoint.read_secret()

    def answer(self, assignment: Assignment) -> Ending:
        return asyncio.run(self._answer(assignment))

    async def _answer(self, assignment: Assignment) -> Ending:
        async with open_session(self.endpoint) as send:
            asking = Dispatcher(assignment, send, self.endpoint.limits)
            return await run_watched(asking, assignment.callbacks)

    def advice(self, message: str) -> str | None:
        return self.endpoint.advice(message)


MAX_BUSY_REPLIES = 100  # times that one request is told to come back later
PAUSE_ALL_AFTER = 10  # busy or failed replies in a row (or as many as are asked at once): all requests wait
GRACE_SECONDS = 5.0  # for what is in flight when an endpoint is given up that never answered
LATER_GRACE_SECONDS = 120.0  # when it did: what is in flight is probably paid for
BYTES_PER_TOKEN = 8  # bytes of a token, at most about
MAX_RESERVED_BYTES = 64 * 1024 * 1024  # bytes of the disk, for what is in flight when it becomes full


@dataclass(slots=True, eq=False)
class _PendingQuestion:
    """A question on its way: which document and seed, and what happened to it so far."""

    position: int
    seed: int | None
    attempts: int = 0
    busy: int = 0
    last: NoAnswer | None = None
    form: AnswerFormat | None = None  # the lower format that is tried with it
    refused: NoAnswer | None = None  # why
    request_id: str | None = None  # kept as long as it is unknown what became of the request

    @property
    def asked(self) -> int:
        """The number of requests without an answer, but for those in lower formats."""
        return self.attempts + self.busy


class Dispatcher:
    """A run of requests, from the first to the last."""

    def __init__(self, assignment: Assignment, send: Send, limits: EndpointLimits) -> None:
        self.assignment, self.limits, self.rng = assignment, limits, random.Random()
        self.ladder, self.journal = assignment.ladder, assignment.journal
        self.budget, self.counts = assignment.budget, assignment.counts
        self._send = send
        self._rates = RateLimits(limits)
        self._unasked = deque(assignment.pending)
        self._delayed: list[tuple[float, int, _PendingQuestion]] = []
        self._number = 0
        self._interrupted = False
        self._ended: EndReason | None = None
        self._message = ""
        self._fault: BaseException | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    async def run(self) -> Ending:
        """Ask until everything is answered or given up, or until something stops it; never leaves a task behind."""
        self._breaker = CircuitBreaker(self.limits.concurrency, _now(), self.ladder.answered, _now())
        an_answer = self.ladder.plan.output_limit * BYTES_PER_TOKEN + 4096
        self.journal.reserve(min(MAX_RESERVED_BYTES, (self.limits.concurrency + 1) * an_answer))
        self.journal.begin(self.ladder.current)
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
    def _is_over(self) -> bool:
        return self._ended is not None or self._fault is not None

    async def _hand_out(self) -> None:
        while (work := await self._next()) is not None:
            if work.form is not None and self.ladder.answered:  # another question has decided the format
                work.form = work.request_id = None
            request = self._request(work)
            if request.key in self.journal.contents.answers:  # of a run that was told to ask in this lower format
                self._decide_format(work, request.form)
                self.counts.before += 1
                continue
            expected = self.budget.expected(request.estimate, self.ladder.plan.output_limit)
            if not await self._admitted(expected):
                self._delay(work, 0.0)  # it was not asked, and is given up with the others that wait
                return
            self.counts.in_flight += 1
            task = asyncio.create_task(self._attempt(work, request, expected))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(0)  # it is on its way before the next prompt is put together

    def _request(self, work: _PendingQuestion) -> ModelRequest:
        question = self.assignment.question(work.position, work.seed)
        return self.ladder[work.form or self.ladder.form].make(question, work.seed)

    async def _next(self) -> _PendingQuestion | None:
        """The next question, once it may be asked: retries first. None when all are done."""
        while not self._is_over:
            now = _now()
            until: float | None = None
            limit: str | None = None
            again = bool(self._delayed) and self._delayed[0][0] <= now
            if again or self._unasked:
                if self.counts.in_flight < (self.limits.concurrency if self.ladder.is_decided else 1):
                    until, limit = self._rates.next_send_time(now)
                    if until <= now:
                        return heapq.heappop(self._delayed)[2] if again else _PendingQuestion(*self._unasked.popleft())
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
            if self._is_over:
                return False
            await self._wait(None, cap)  # what is in flight may turn out cheaper than reckoned
        self.budget.reserve(expected)
        send_time = self._rates.reserve_send_time(_now(), expected.total)
        while send_time.at > _now() and not self._is_over:
            await self._wait(send_time.at, send_time.limit)
        if self._is_over:
            self.budget.settle(expected, None)
        return not self._is_over

    async def _wait(self, until: float | None, limit: str | None) -> None:
        """Wait for something to happen, at most until a moment; a limit that is to blame gets the time."""
        began = _now()
        self._wake.clear()
        self.counts.waits_for = limit
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._wake.wait(), None if until is None else until - began)
        self.counts.waits_for = None
        if limit is not None:
            self.counts.waited[limit] = self.counts.waited.get(limit, 0.0) + _now() - began

    async def _attempt(self, work: _PendingQuestion, request: ModelRequest, expected: Usage) -> None:
        began = _now()
        spent: Usage | None = None
        try:
            outcome = await self._send(request.body, self._announce(work, request))
            if isinstance(outcome, ModelAnswer):
                output = estimate_tokens(outcome.response.encode())
                spent = outcome.usage or Usage(request.estimate, output, estimated=True)
                answer = replace(outcome, usage=spent)
                self._decide_format(work, request.form)
                self.journal.answer(request, answer, work.asked + 1, _now() - began)
                self._breaker.answer(_now())
                self._rates.end_pause()
                self.counts.answered += 1
            else:
                guess = Usage(expected.input, 0, estimated=True) if outcome.billed else None
                spent = outcome.usage or guess
                self.journal.record_no_answer(request, outcome.cause, spent)
                self._unanswered(work, request, outcome)
        except Exception as fault:  # above all a journal that cannot be written: nothing more may be asked
            self._fault = self._fault or fault
        finally:
            self.counts.in_flight -= 1
            self.budget.settle(expected, spent, request.estimate)
            self.counts.update_spending(self.budget)
            if spent is not None:
                self._rates.correct(spent.total - expected.total)
            if self.journal.full is not None:
                self._stop("full", self.journal.full)
            self._wake.set()

    def _announce(self, work: _PendingQuestion, request: ModelRequest) -> str:
        """Record that a request is about to be sent; its id, which is that of an earlier one with unknown outcome."""
        cut_off = self.journal.contents.in_flight.get(request.key)
        if cut_off is not None:  # by a kill: it may have been charged
            lost = Usage(cut_off.estimate, 0, estimated=True)
            self.journal.record_no_answer(request, CUT_OFF, lost)
            work.request_id = work.request_id or cut_off.request_id
        work.request_id = work.request_id or secrets.token_hex(16)
        self.journal.record_request(request, work.request_id)
        return work.request_id

    def _decide_format(self, work: _PendingQuestion, form: AnswerFormat) -> None:
        """All questions are asked in the format of the first answer, which is about to be stored."""
        if work.refused is not None and form != self.ladder.form:
            refused, why = self.ladder.form, work.refused
            self.journal.step_down(self.ladder.plan.base(), refused, form, f"{why.cause}: {why.detail}")
            self.ladder.form = form
            self.journal.begin(self.ladder.current)
            self.assignment.callbacks.on_message(
                f"the endpoint refuses {refused} ({why.cause}); from now on it is asked for {form}"
            )
        self.ladder.answered = True

    def _unanswered(self, work: _PendingQuestion, request: ModelRequest, why: NoAnswer) -> None:
        if not why.undecided:
            work.request_id = None
        if why.means in ("format", "unclear") and not self.ladder.answered:
            if (lower := self.ladder.next_lower_format(request.form)) is not None:
                work.form, work.refused = lower, work.refused or why
                self._retry(work, 0.0)
                return
        elif why.means == "format":  # it may have come to another server behind the same address
            why = replace(why, means="again")
        work.last = why
        stop_reason = self._breaker.no_answer(why, _now())
        if why.means == "busy" and work.busy < MAX_BUSY_REPLIES:
            work.busy += 1
            self._retry(work, backoff(work.busy, why.retry_after, self.rng))
        elif why.means == "again" and work.attempts + 1 < self.limits.attempts:
            work.attempts += 1
            self._retry(work, backoff(work.attempts, why.retry_after, self.rng))
        else:
            self._fail(request, why, work.asked + 1)
        if stop_reason is not None:
            self._stop("stopped", stop_reason)

    def _retry(self, work: _PendingQuestion, wait: float) -> None:
        self.counts.retries += 1
        self._delay(work, wait)
        if max(self._breaker.busy, self._breaker.failures) >= max(PAUSE_ALL_AFTER, self.limits.concurrency):
            self._rates.pause(_now() + wait)

    def _delay(self, work: _PendingQuestion, wait: float) -> None:
        self._number += 1
        heapq.heappush(self._delayed, (_now() + wait, self._number, work))

    def _fail(self, request: ModelRequest, why: NoAnswer, attempts: int) -> None:
        self.counts.failed += 1
        self.journal.failure(request, why, attempts)

    def _stop(self, reason: EndReason, message: str = "") -> None:
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
            # Given up: each with the last reason why it has no answer.
            for _, _, work in self._delayed:
                if work.last is not None:
                    self._fail(self._request(work), work.last, work.asked)


def _now() -> float:
    return asyncio.get_running_loop().time()


async def run_watched(asking: Dispatcher, callbacks: RunCallbacks) -> Ending:
    """Run; Ctrl-C, a SIGTERM or a hang-up let what is in flight end, a second one ends at once."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        if asking.interrupt():
            in_flight = asking.counts.in_flight
            callbacks.on_message(f"stopping: waiting for {in_flight} requests in flight; Ctrl-C again stops at once")

    def interrupt(number: int) -> None:
        loop.call_soon_threadsafe(stop, number)  # which also wakes a loop that waits

    async def report() -> None:
        while True:
            callbacks.on_progress(asking.counts)
            await asyncio.sleep(callbacks.progress_interval)

    reporting = asyncio.create_task(report())
    try:
        with handle_signals(interrupt):
            return replace(await asking.run(), signal=received[0] if received else None)
    finally:
        reporting.cancel()
        with suppress(asyncio.CancelledError):
            await reporting
        callbacks.on_progress(asking.counts)
