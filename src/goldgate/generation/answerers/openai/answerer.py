"""An endpoint as an answerer: many questions at once, each in the journal before it is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import ClassVar

from goldgate.generation.answerers.answerer import Assignment, Ending
from goldgate.generation.answerers.openai.asking import Asking
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

    def get_ready(self) -> None:
        self._secret()

    def answer(self, assignment: Assignment) -> Ending:
        require_aiohttp()
        secret = self._secret().with_address(self.base_url)
        endpoint = Endpoint(self.base_url, secret, self.limits.concurrency, self.timeout)
        say = assignment.listener.say

        def on_interrupt(in_flight: int) -> None:
            say(f"stopping: waiting for {in_flight} requests in flight; Ctrl-C again stops at once")

        async def ask() -> Ending:
            async with connect(endpoint) as send:
                return await run_watched(Asking(assignment, send, self.limits), assignment.listener, on_interrupt)

        return asyncio.run(ask())

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
