"""When to stop asking: an endpoint that is dead, or refuses everybody, ends the run early."""

from __future__ import annotations

from dataclasses import dataclass

from goldgate.generation.outcome import NoAnswer

FIRST_FAILURES = 5  # in a row, before anything was ever answered
FIRST_SECONDS = 3.0
LATER_FAILURES = 20  # in a row, after there were answers; or twice what is in flight, if that is more
LATER_SECONDS = 120.0
BUSY_SECONDS = 600.0  # nothing but "too many requests"
HOPELESS_IN_A_ROW = 5  # after there were answers
REFUSED_IN_A_ROW = 20  # before there were any; or what is in flight, if that is more


@dataclass(slots=True)
class Breaker:
    """Told of every reply, it says when to stop and why. Times are seconds of any clock."""

    concurrency: int
    started: float
    answered: bool = False
    last_answer: float = 0.0
    failures: int = 0
    refused: int = 0
    busy: int = 0

    def answer(self, now: float) -> None:
        self.answered, self.last_answer = True, now
        self.failures = self.refused = self.busy = 0

    def no_answer(self, why: NoAnswer, now: float) -> str | None:
        """The reason to stop, if this is one."""
        silent = now - (self.last_answer if self.answered else self.started)
        said = f"{why.cause}: {why.detail}" if why.detail else why.cause
        if why.means == "busy":
            self.busy += 1
            if silent >= BUSY_SECONDS:
                return f"for {int(silent)} seconds the endpoint only said that it is busy; last: {said}"
            return None
        if why.means in ("hopeless", "final", "unclear", "format"):
            return self._refused(why, said)
        self.failures += 1
        few, long = (LATER_FAILURES, LATER_SECONDS) if self.answered else (FIRST_FAILURES, FIRST_SECONDS)
        if self.answered:
            few = max(few, 2 * self.concurrency)
        if self.failures >= few and silent >= long:
            return f"{self.failures} requests in a row failed, over {int(silent)} seconds; last: {said}"
        return None

    def _refused(self, why: NoAnswer, said: str) -> str | None:
        self.refused += 1
        # An endpoint that answers others may refuse single documents (403 from a moderator, 400 for one too long).
        single = why.means != "hopeless" or why.cause == "http_403"
        if self.answered:
            stop = not single and self.refused >= HOPELESS_IN_A_ROW
        else:
            few = HOPELESS_IN_A_ROW if why.means == "format" else max(REFUSED_IN_A_ROW, self.concurrency)
            stop = why.means == "hopeless" or self.refused >= few
        if not stop:
            return None
        return (
            f"the endpoint refuses: {said}"
            if self.refused == 1
            else (f"the endpoint refused {self.refused} requests in a row; last: {said}")
        )
