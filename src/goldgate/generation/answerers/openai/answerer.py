"""An endpoint as an answerer: many questions at once, each in the journal before it is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import ClassVar

from goldgate.generation.answerers.answerer import Assignment, Ending
from goldgate.generation.answerers.openai.asking import Asking
from goldgate.generation.answerers.openai.fleet import Member
from goldgate.generation.answerers.openai.limits import Limits
from goldgate.generation.answerers.openai.transport import Endpoint, connect, require_aiohttp
from goldgate.generation.answerers.openai.watched import run_watched
from goldgate.generation.secret import Secret, check_address, read_secret, shown_address


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """Any endpoint that speaks OpenAI's chat completions. Without a `secret`, the key comes from the environment."""

    base_url: str
    limits: Limits = field(default_factory=Limits)
    timeout: float = 600.0
    key_variable: str | None = None
    secret: Secret | None = None

    takes_formats: ClassVar[bool] = True

    def identify(self) -> dict[str, str]:
        return {"endpoint": shown_address(check_address(self.base_url))}

    @property
    def takes_usual_key(self) -> bool:
        """Whether nobody named a key for it."""
        return self.secret is None and self.key_variable is None

    def also(self) -> Sequence[Mapping[str, str]]:
        return ({},)  # what a fleet was asked in the same folder

    def get_ready(self) -> None:
        self._secret()

    def endpoint(self) -> Endpoint:
        """Where to ask, with the key."""
        secret = self._secret().with_address(self.base_url)
        return Endpoint(self.base_url, secret, self.limits.concurrency, self.timeout)

    def answer(self, assignment: Assignment) -> Ending:
        return ask_endpoints([self], assignment, named=False)

    def advice(self, message: str) -> str | None:
        if "http_401" in message:
            secret = self._secret()
            where = f"the environment variable {secret.variable}"
            return f"check the key in {where}" if secret.known else f"{where} is not set: put the key into it"
        if "unreachable" in message or "unknown_host" in message:
            return f"is a server running at {shown_address(self.base_url)}? The same command asks for what is missing"
        if "http_404" in message:
            return "check --base-url (it often ends in /v1) and --model"
        if "http_400" in message:
            return "if the endpoint does not know a parameter, leave it out (--param NAME=null, --response-format text)"
        return None

    def _secret(self) -> Secret:
        return self.secret if self.secret is not None else read_secret(self.key_variable)


def ask_endpoints(answerers: Sequence[OpenAIAnswerer], assignment: Assignment, *, named: bool) -> Ending:
    """Ask one or several; `named` if the journal is to say for each answer whose it is."""
    require_aiohttp()
    say = assignment.listener.say

    def on_interrupt(in_flight: int) -> None:
        say(f"stopping: waiting for {in_flight} requests in flight; Ctrl-C again stops at once")

    async def ask() -> Ending:
        async with AsyncExitStack() as connections:
            members = [
                Member(
                    await connections.enter_async_context(connect(answerer.endpoint())),
                    answerer.limits,
                    shown_address(answerer.base_url) if named else None,
                )
                for answerer in answerers
            ]
            asking = Asking(assignment, members, answerers[0].limits.attempts)
            ending = await run_watched(asking, assignment.listener, on_interrupt)
        if len(members) > 1:
            for member in members:
                say(f"{member.name}: {member.answered:,} answers to {member.asked:,} requests")
        return ending

    return asyncio.run(ask())
