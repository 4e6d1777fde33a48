"""Answer with endpoints that implement OpenAI's chat completions (the extra `api`: aiohttp).

One endpoint is part of each request's key. In a fleet, endpoints that serve the same model, request keys contain no
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
from goldgate.generation.openai.transport import Endpoint, open_session, require_aiohttp
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
class EndpointOptions:
    """An endpoint with its limits. Without a `secret`, the key comes from the environment."""

    base_url: str
    limits: EndpointLimits = field(default_factory=EndpointLimits)
    timeout: float = 600.0
    key_variable: str | None = None
    secret: Secret | None = None

    @property
    def address(self) -> str:
        """The address without its query, as it is stored and printed."""
        return redact_address(self.base_url)

    @property
    def takes_default_key(self) -> bool:
        """Whether no key was named for it."""
        return self.secret is None and self.key_variable is None

    def read_secret(self) -> Secret:
        return self.secret if self.secret is not None else read_secret(self.key_variable)

    def endpoint(self) -> Endpoint:
        """The endpoint to connect to, with its key."""
        secret = self.read_secret().with_address(self.base_url)
        return Endpoint(self.base_url, secret, self.limits.concurrency, self.timeout)

    def advice(self, message: str) -> str | None:
        if "http_401" in message:
            secret = self.read_secret()
            where = f"the environment variable {secret.variable}"
            return f"check the key in {where}" if secret.is_set else f"{where} is not set: put the key into it"
        if "unreachable" in message or "unknown_host" in message:
            return f"is a server running at {self.address}? The same command asks for what is missing"
        if "http_404" in message:
            return "check --base-url (it often ends in /v1) and --model"
        if "http_400" in message:
            return "if the endpoint does not know a parameter, leave it out (--param NAME=null, --response-format text)"
        return None


@dataclass(frozen=True, slots=True)
class OpenAIAnswerer:
    """One endpoint, or a fleet of any number; an empty fleet where nothing is to be asked."""

    endpoints: tuple[EndpointOptions, ...]
    fleet: bool = False

    takes_formats: ClassVar[bool] = True

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

    def also(self) -> Sequence[Mapping[str, str]]:
        """For one endpoint, what a fleet was asked in the same folder; for a fleet, what each was asked alone."""
        return [{"endpoint": endpoint.address} for endpoint in self.endpoints] if self.fleet else [{}]

    def get_ready(self) -> None:
        """Require the extra, every key that was named, and that the default key goes to one host only."""
        require_aiohttp()
        for endpoint in self.endpoints:
            endpoint.read_secret()
        hosts = {urlsplit(endpoint.base_url).hostname for endpoint in self.endpoints if endpoint.takes_default_key}
        if len(hosts) > 1 and default_key_is_set():
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
                    await connections.enter_async_context(open_session(endpoint.endpoint())),
                    endpoint.limits,
                    endpoint.address if self.fleet else None,
                )
                for endpoint in self.endpoints
            ]
            asking = Dispatcher(assignment, members, self.endpoints[0].limits.attempts)
            ending = await run_watched(asking, assignment.listener)
        if len(members) > 1:
            for member in members:
                assignment.listener.say(f"{member.name}: {member.answered:,} answers to {member.asked:,} requests")
        return ending

    def advice(self, message: str) -> str | None:
        """The advice of the first endpoint that has any for its part of the message."""
        if len(self.endpoints) == 1:
            return self.endpoints[0].advice(message)
        parts = ((each, message.partition(f"{each.address}: ")[2]) for each in self.endpoints)
        # A part ends where the next endpoint's begins.
        hints = (each.advice(part.partition(". http")[0]) for each, part in parts)
        return next((hint for hint in hints if hint is not None), None)
