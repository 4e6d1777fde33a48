"""Answer with endpoints that implement OpenAI's chat completions (the extra `api`: aiohttp).

One endpoint is part of each request's key. In a fleet, endpoints that serve the same model, request keys contain no
address, each journal line names its endpoint, and endpoints may change between two runs without repeating a question.

Many requests are sent at once, paced and retried, each written to the journal before it is sent. One loop hands out
work. A request that waits for its next attempt takes no slot, so a busy endpoint delays only the requests that it
turned away; where there are several endpoints, those go to another one. The first SIGINT, SIGTERM or SIGHUP lets
requests in flight finish, the second ends the run at once.
"""

from __future__ import annotations

import asyncio
import heapq
import random
import secrets
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import ClassVar
from urllib.parse import urlsplit

from goldgate.core.process import handle_signals
from goldgate.core.task import AnswerFormat, Question
from goldgate.errors import ConfigError, require_extra
from goldgate.generation.answerer import Assignment, Ending, EndReason, RunCallbacks
from goldgate.generation.fleet import Fleet, FleetMember, backoff
from goldgate.generation.journal import CUT_OFF
from goldgate.generation.request import ModelAnswer, ModelRequest, NoAnswer, Usage, estimate_tokens
from goldgate.generation.secret import (
    DEFAULT_VARIABLE,
    NO_KEY,
    check_address,
    read_secret,
    redact_address,
)
from goldgate.generation.transport import EndpointOptions, open_session


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """One endpoint, or several: a fleet."""

    endpoints: tuple[EndpointOptions, ...]

    takes_formats: ClassVar[bool] = True

    @property
    def fleet(self) -> bool:
        return len(self.endpoints) > 1

    def identify(self) -> dict[str, str]:
        addresses = [redact_address(check_address(endpoint.base_url)) for endpoint in self.endpoints]
        twice = sorted({address for address in addresses if addresses.count(address) > 1})
        if twice:
            raise ConfigError(
                "base_url.twice",
                "--base-url names one endpoint twice",
                found=twice[0],
                advice="name it once; for more requests at the same time raise --concurrency",
            )
        return {} if self.fleet else {"endpoint": addresses[0]}

    def equivalent_sources(self) -> Sequence[Mapping[str, str]]:
        """Sources whose stored answers count too: of a fleet, each endpoint alone; of one endpoint, any fleet."""
        return [{"endpoint": endpoint.address} for endpoint in self.endpoints] if self.fleet else [{}]

    def get_ready(self) -> None:
        """Require the extra, every key that was named, and that the default key goes to one host only."""
        require_extra("api", "asking an endpoint", "aiohttp")
        for endpoint in self.endpoints:
            endpoint.read_secret()
        without_key = [each for each in self.endpoints if each.secret is None and each.key_variable is None]
        hosts = {urlsplit(endpoint.base_url).hostname for endpoint in without_key}
        if len(hosts) > 1 and read_secret(None).is_set:
            raise ConfigError(
                "key.several_hosts",
                f"--base-url names several hosts, and {DEFAULT_VARIABLE} would be sent to all of them",
                expected="--api-key-env once for a key that all get, or once for each --base-url, in their order",
                advice=f"--api-key-env {NO_KEY} means an endpoint without a key",
            )

    def answer(self, assignment: Assignment) -> Ending:
        return asyncio.run(self._answer(assignment))

    async def _answer(self, assignment: Assignment) -> Ending:
        async with AsyncExitStack() as connections:
            members = [
                FleetMember(
                    await connections.enter_async_context(open_session(endpoint)),
                    endpoint.limits,
                    endpoint.address if self.fleet else None,
                )
                for endpoint in self.endpoints
            ]
            asking = Dispatcher(assignment, members, self.endpoints[0].limits.attempts)
            ending = await run_watched(asking, assignment.callbacks)
        if len(members) > 1:
            for member in members:
                assignment.callbacks.on_message(
                    f"{member.name}: {member.answered:,} answers to {member.asked:,} requests"
                )
        return ending

    def advice(self, message: str) -> str | None:
        """The advice of the first endpoint that has any for its part of the message."""
        if len(self.endpoints) == 1:
            return self.endpoints[0].advice(message)
        parts = ((each, message.partition(f"{each.address}: ")[2]) for each in self.endpoints)
        # A part ends where the next endpoint's begins.
        hints = (each.advice(part.partition(". http")[0]) for each, part in parts)
        return next((hint for hint in hints if hint is not None), None)


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
    moved: int = 0  # to another endpoint, after one refused it
    last: NoAnswer | None = None
    form: AnswerFormat | None = None  # a lower format than the others are asked in
    refused: tuple[AnswerFormat, NoAnswer] | None = None  # why
    request_id: str | None = None  # kept as long as it is unknown what became of the request
    tried: set[FleetMember] = field(default_factory=set)  # endpoints that failed or refused it, while there are others

    @property
    def asked(self) -> int:
        """The number of requests without an answer, but for those in lower formats."""
        return self.attempts + self.busy + self.moved


class Dispatcher:
    """A run of requests, from the first to the last."""

    def __init__(
        self, assignment: Assignment, members: Sequence[FleetMember], attempts: int, rng: random.Random | None = None
    ) -> None:
        self.assignment, self.attempts, self.rng = assignment, attempts, rng or random.Random()
        self.fleet = Fleet(members)
        self.ladder, self.journal = assignment.ladder, assignment.journal
        self.budget, self.counts = assignment.budget, assignment.counts
        self._unasked = iter(assignment.pending)
        self._first: _PendingQuestion | None = None  # the first question that was not asked yet
        self._due: deque[_PendingQuestion] = deque()  # to be asked as soon as an endpoint takes it
        self._delayed: list[tuple[float, int, _PendingQuestion]] = []
        self._number = 0
        self._stepped_down = False  # to a lower format, for the whole run
        self._interrupted = False
        self._ended: EndReason | None = None
        self._message = ""
        self._fault: BaseException | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()

    async def run(self) -> Ending:
        """Ask until everything is answered or given up, or until something stops it; never leaves a task behind."""
        self.fleet.begin(_now(), answered=self.ladder.has_answer_in(self.ladder.form))
        an_answer = self.ladder.plan.output_limit * BYTES_PER_TOKEN + 4096
        self.journal.reserve(min(MAX_RESERVED_BYTES, (self.fleet.concurrency + 1) * an_answer))
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
        while (pair := await self._next()) is not None:
            work, member = pair
            question = self.assignment.question(work.position, work.seed)
            if self._stepped_down and self.ladder.find(self.journal.contents, question, work.seed).place is not None:
                self.counts.before += 1  # answered in an earlier run, in the format that we stepped down to
                continue
            request = replace(self._request(work, question), endpoint=member.name)
            expected = self.budget.expected(request.estimate, self.ladder.plan.output_limit)
            if not await self._admitted(expected, member):
                self._delay(work, 0.0)  # it was not asked, and is given up with the others that wait
                return
            self.counts.in_flight += 1
            member.in_flight += 1
            member.asked += 1
            task = asyncio.create_task(self._attempt(work, member, request, expected))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
            await asyncio.sleep(0)  # it is on its way before the next prompt is put together

    def _request(self, work: _PendingQuestion, question: Question) -> ModelRequest:
        return self.ladder[work.form or self.ladder.form].make(question, work.seed)

    async def _next(self) -> tuple[_PendingQuestion, FleetMember] | None:
        """The next piece of work and who is asked, when there is a place for it; None when there is no more."""
        while not self._is_over:
            now = _now()
            while self._delayed and self._delayed[0][0] <= now:
                self._due.append(heapq.heappop(self._delayed)[2])
            if (pair := self._ready(now)) is not None:
                return pair
            waits = [self._delayed[0][0]] if self._delayed else []
            limit = None
            if self._due or self._first is not None:
                if (soon := self.fleet.next_send_time(now)) is not None:
                    waits.append(soon.at)
                    limit = soon.limit
            elif not self._delayed and not self.counts.in_flight:
                return None
            await self._wait(min(waits, default=None), limit)
        return None

    def _ready(self, now: float) -> tuple[_PendingQuestion, FleetMember] | None:
        """Work that an endpoint takes at this moment. What comes again goes before what was never asked."""
        if self._first is None and (fresh := next(self._unasked, None)) is not None:
            self._first = _PendingQuestion(*fresh)
        if (free := self.fleet.choose(now, ())) is None:
            return None
        for place, work in enumerate(self._due):
            if (member := self.fleet.choose(now, work.tried)) is not None:
                del self._due[place]
                return work, member
        if self._first is None:
            return None
        first, self._first = self._first, None
        return first, free

    async def _admitted(self, expected: Usage, member: FleetMember) -> bool:
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
        send_time = member.rates.reserve_send_time(_now(), expected.total)
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

    async def _attempt(
        self, work: _PendingQuestion, member: FleetMember, request: ModelRequest, expected: Usage
    ) -> None:
        began = _now()
        spent: Usage | None = None
        try:
            outcome = await member.send(request.body, self._announce(work, request))
            if isinstance(outcome, ModelAnswer):
                output = estimate_tokens(outcome.response.encode())
                spent = outcome.usage or Usage(request.estimate, output, estimated=True)
                answer = replace(outcome, usage=spent)
                if work.refused is not None and self.ladder.is_higher(request.form):
                    self._record_step_down(*work.refused, request.form, request.key)
                self.journal.answer(request, answer, work.asked + 1, _now() - began)
                self._answered(work, member, request.form)
            else:
                guess = Usage(expected.input, 0, estimated=True) if outcome.billed else None
                spent = outcome.usage or guess
                self.journal.record_no_answer(request, outcome.cause, spent)
                self._unanswered(work, member, request, outcome)
        except Exception as fault:  # above all a journal that cannot be written: nothing more may be asked
            self._fault = self._fault or fault
        finally:
            self.counts.in_flight -= 1
            member.in_flight -= 1
            self.budget.settle(expected, spent, request.estimate)
            self.counts.update_spending(self.budget)
            if spent is not None:
                member.rates.correct(spent.total - expected.total)
            if self.journal.full is not None:
                self._stop("full", self.journal.full)
            self._wake.set()

    def _announce(self, work: _PendingQuestion, request: ModelRequest) -> str:
        """Record that a request is about to be sent; its id, which is that of an earlier one with unknown outcome."""
        cut_off = self.journal.contents.in_flight.get(request.key)
        if cut_off is not None:  # by a kill: it may have been charged
            lost = Usage(cut_off.estimate, 0, estimated=True)
            self.journal.record_no_answer(replace(request, endpoint=None), CUT_OFF, lost)
            work.request_id = work.request_id or cut_off.request_id
        work.request_id = work.request_id or secrets.token_hex(16)
        self.journal.record_request(request, work.request_id)
        return work.request_id

    def _record_step_down(
        self, refused: AnswerFormat, why: NoAnswer, lower: AnswerFormat, key: str | None = None
    ) -> None:
        """Write down that a format was refused, for the question with this key (before its answer) or for all."""
        self.journal.step_down(self.ladder.plan.base(), refused, lower, f"{why.cause}: {why.detail}", key)

    def _answered(self, work: _PendingQuestion, member: FleetMember, form: AnswerFormat) -> None:
        if member.answer(_now()) and self.fleet.single is None:
            self.assignment.callbacks.on_message(f"{member.name} answers again")
        self.counts.answered += 1
        self.ladder.record_answer(form)
        if work.refused is not None and self.ladder.is_higher(form) and self.ladder.record_lower_answer(form):
            self._step_down(self.ladder.form, form, work.refused[1])

    def _unanswered(self, work: _PendingQuestion, member: FleetMember, request: ModelRequest, why: NoAnswer) -> None:
        if not why.undecided:
            work.request_id = None
        if why.means == "format" or (why.means == "unclear" and not self.ladder.has_answer_in(request.form)):
            lower = self.ladder.next_lower_format(request.form)
            if lower is not None and not self._move_elsewhere(work, member):
                self._ask_lower(work, lower, why, request.form)
            if lower is not None:
                return
        work.last = why
        given_up = self.fleet.no_answer(member, why, _now(), self.rng)
        if not self._schedule_again(work, member, why):
            self._fail(request, why, work.asked + 1)
        if given_up is not None:
            self._give_up(member, given_up)

    def _schedule_again(self, work: _PendingQuestion, member: FleetMember, why: NoAnswer) -> bool:
        """Schedule the question again, later or at once at another endpoint; False if it is given up."""
        work.tried.add(member)
        elsewhere = self.fleet.has_other(work.tried)
        if why.means == "busy" and work.busy < MAX_BUSY_REPLIES:
            work.busy += 1
            work.tried.discard(member)  # it is paused, and may be asked again
            self._retry(work, member, 0.0 if elsewhere else backoff(work.busy, why.retry_after, self.rng))
        elif why.means == "again" and work.attempts + 1 < self.attempts:
            work.attempts += 1
            self._retry(work, member, 0.0 if elsewhere else backoff(work.attempts, why.retry_after, self.rng))
        elif why.means == "again" or not self._move_elsewhere(work, member, even_if_it_answers=why.means == "hopeless"):
            return False
        if not elsewhere:
            work.tried.clear()
        return True

    def _move_elsewhere(self, work: _PendingQuestion, member: FleetMember, *, even_if_it_answers: bool = False) -> bool:
        """Send a refused question to another endpoint, since the fault may be this one's; False if there is none."""
        work.tried.add(member)
        if not self.fleet.has_other(work.tried) or (member.answered and not even_if_it_answers):
            return False
        work.moved += 1
        self._retry(work, member, 0.0)
        return True

    def _give_up(self, member: FleetMember, reason: str) -> None:
        """Ask the other endpoints only, for a while; the run ends when there is none left."""
        stop_reason = self.fleet.stop_reason()
        if stop_reason is not None:
            self._stop("stopped", stop_reason)
        else:
            self.assignment.callbacks.on_message(f"{member.name} is not asked for a while: {reason}")

    def _ask_lower(self, work: _PendingQuestion, lower: AnswerFormat, why: NoAnswer, refused: AnswerFormat) -> None:
        """Ask this one question in a lower format; all of them, if the endpoint says that it knows no other."""
        if why.means == "format" and refused == self.ladder.form and not self.ladder.has_answer_in(refused):
            self._step_down(refused, lower, why)
        work.form, work.refused = lower, (refused, why)
        work.tried.clear()
        self.counts.retries += 1
        self._delay(work, 0.0)

    def _retry(self, work: _PendingQuestion, member: FleetMember, wait: float) -> None:
        self.counts.retries += 1
        self._delay(work, wait)
        breaker = member.breaker
        if self.fleet.single and max(breaker.busy, breaker.failures) >= max(PAUSE_ALL_AFTER, member.limits.concurrency):
            member.not_before = max(member.not_before, _now() + wait)

    def _delay(self, work: _PendingQuestion, wait: float) -> None:
        self._number += 1
        heapq.heappush(self._delayed, (_now() + wait, self._number, work))

    def _fail(self, request: ModelRequest, why: NoAnswer, attempts: int) -> None:
        self.counts.failed += 1
        self.journal.failure(request, why, attempts)

    def _step_down(self, refused: AnswerFormat, lower: AnswerFormat, why: NoAnswer) -> None:
        self._record_step_down(refused, why, lower)
        self.ladder.form, self._stepped_down = lower, True
        self.journal.begin(self.ladder.current)
        self.assignment.callbacks.on_message(
            f"the endpoint refuses {refused} ({why.cause}); from now on it is asked for {lower}"
        )

    def _stop(self, reason: EndReason, message: str = "") -> None:
        if self._ended is None:
            self._ended, self._message = reason, message
        self._wake.set()

    async def _finish(self) -> None:
        """Let what is in flight end: all of it after an interrupt, a little while if the endpoint is given up."""
        if self._tasks:
            patience: float | None = None
            if self._fault is not None or self._ended == "stopped":
                patience = LATER_GRACE_SECONDS if self._fault is None and self.fleet.has_answered else GRACE_SECONDS
            _, late = await asyncio.wait(self._tasks, timeout=patience)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late)
        if self._ended in ("stopped", "budget") and self._fault is None:
            # Given up: each with the last reason why it has no answer.
            for work in (*self._due, *(work for _, _, work in self._delayed)):
                if work.last is not None:
                    question = self.assignment.question(work.position, work.seed)
                    self._fail(self._request(work, question), work.last, work.asked)


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
