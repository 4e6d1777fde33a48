"""Several endpoints that serve the same model, as one answerer: whoever of them answers, it is the same question.

So no address is part of a request's key; each line of the journal says where it was asked instead. Endpoints may come
and go between two runs, and nothing that one of them answered is asked again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar
from urllib.parse import urlsplit

from goldgate.errors import ConfigError
from goldgate.generation.answerers.answerer import Assignment, Ending
from goldgate.generation.answerers.openai.answerer import OpenAIAnswerer, ask_endpoints
from goldgate.generation.secret import DEFAULT_VARIABLE, NO_KEY, check_address, shown_address, usual_key_is_set


@dataclass(frozen=True, slots=True)
class FleetAnswerer:
    """One endpoint or more, each with limits and a key of its own; none at all where nothing is to be asked."""

    members: tuple[OpenAIAnswerer, ...] = ()

    takes_formats: ClassVar[bool] = True

    def identify(self) -> dict[str, str]:
        addresses = [shown_address(check_address(member.base_url)) for member in self.members]
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
            _, _, rest = message.partition(f"{shown_address(member.base_url)}: ")
            about = rest.partition(". http")[0]  # up to the next endpoint
            if (found := member.advice(about)) is not None:
                return found
        return None

    def _require_a_key_for_each_host(self) -> None:
        """The usual key was given for one host; no other host gets it unless somebody says so."""
        hosts = {urlsplit(member.base_url).hostname for member in self.members if member.takes_usual_key}
        if len(hosts) > 1 and usual_key_is_set():
            raise ConfigError(
                "key.several_hosts",
                f"--base-url names several hosts, and {DEFAULT_VARIABLE} would be sent to all of them",
                expected="--api-key-env once for a key that all get, or once for each --base-url, in their order",
                advice=f"--api-key-env {NO_KEY} stands for an endpoint without a key",
            )
