"""Answer with endpoints that implement OpenAI's chat completions (the extra `api`: aiohttp).

`OpenAIAnswerer` asks one endpoint. `FleetAnswerer` asks several that serve the same model: request keys then contain no
address, each journal line names its endpoint, and endpoints may change between two runs without repeating a question.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

from goldgate.errors import ConfigError
from goldgate.generation.answerer import Assignment, Ending
from goldgate.generation.openai.dispatcher import Dispatcher, run_watched
from goldgate.generation.openai.fleet import FleetMember
from goldgate.generation.openai.pacing import EndpointLimits
from goldgate.generation.openai.transport import Endpoint, connect, require_aiohttp
from goldgate.generation.secret import (
    DEFAULT_VARIABLE,
    NO_KEY,
    Secret,
    check_address,
    default_key_is_set,
    read_secret,
    redact_address,
)


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """Any endpoint that speaks OpenAI's chat completions. Without a `secret`, the key comes from the environment."""

    base_url: str
    limits: EndpointLimits = field(default_factory=EndpointLimits)
    timeout: float = 600.0
    key_variable: str | None = None
    secret: Secret | None = None

    takes_formats: ClassVar[bool] = True

    def identify(self) -> dict[str, str]:
        return {"endpoint": redact_address(check_address(self.base_url))}

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
            return f"is a server running at {redact_address(self.base_url)}? The same command asks for what is missing"
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
                FleetMember(
                    await connections.enter_async_context(connect(answerer.endpoint())),
                    answerer.limits,
                    redact_address(answerer.base_url) if named else None,
                )
                for answerer in answerers
            ]
            asking = Dispatcher(assignment, members, answerers[0].limits.attempts)
            ending = await run_watched(asking, assignment.listener, on_interrupt)
        if len(members) > 1:
            for member in members:
                say(f"{member.name}: {member.answered:,} answers to {member.asked:,} requests")
        return ending

    return asyncio.run(ask())


@dataclass(frozen=True, slots=True)
class FleetAnswerer:
    """One endpoint or more, each with limits and a key of its own; none at all where nothing is to be asked."""

    members: tuple[OpenAIAnswerer, ...] = ()

    takes_formats: ClassVar[bool] = True

    def identify(self) -> dict[str, str]:
        addresses = [redact_address(check_address(member.base_url)) for member in self.members]
        twice = sorted({address for address in addresses if addresses.count(address) > 1})
        if twice:
            raise ConfigError(
                "base_url.twice",
                "--base-url names one endpoint twice",
                found=twice[0],
                advice="name it once; for more requests at the same time raise --concurrency",
            )
        return {}

    def also(self) -> Sequence[Mapping[str, str]]:
        """What one of these endpoints was asked alone, before there were others."""
        return [member.identify() for member in self.members]

    def get_ready(self) -> None:
        for member in self.members:
            member.get_ready()
        self._require_a_key_for_each_host()

    def answer(self, assignment: Assignment) -> Ending:
        return ask_endpoints(self.members, assignment, named=True)

    def advice(self, message: str) -> str | None:
        """Of the first endpoint that has one for its part of the message."""
        if len(self.members) == 1:
            return self.members[0].advice(message)
        for member in self.members:
            _, _, rest = message.partition(f"{redact_address(member.base_url)}: ")
            about = rest.partition(". http")[0]  # up to the next endpoint
            if (found := member.advice(about)) is not None:
                return found
        return None

    def _require_a_key_for_each_host(self) -> None:
        """The usual key was given for one host; no other host gets it unless somebody says so."""
        hosts = {urlsplit(member.base_url).hostname for member in self.members if member.takes_usual_key}
        if len(hosts) > 1 and default_key_is_set():
            raise ConfigError(
                "key.several_hosts",
                f"--base-url names several hosts, and {DEFAULT_VARIABLE} would be sent to all of them",
                expected="--api-key-env once for a key that all get, or once for each --base-url, in their order",
                advice=f"--api-key-env {NO_KEY} stands for an endpoint without a key",
            )
