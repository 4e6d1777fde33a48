"""Asking with somebody told how far it is, and with signals that end it in good order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from goldgate.generation.ask import Asking, Ended
from goldgate.generation.counts import Watch

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


async def watched(asking: Asking, watch: Watch, every: float, on_interrupt: Callable[[int], None]) -> Ended:
    """Run; Ctrl-C, a SIGTERM or a hang-up let what is in flight end, a second one ends at once."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        if asking.interrupt():
            on_interrupt(asking.counts.in_flight)

    async def report() -> None:
        while True:
            watch(asking.counts)
            await asyncio.sleep(every)

    before = {number: signal.getsignal(number) for number in heeded()}
    for number in before:
        loop.add_signal_handler(number, stop, number)
    reporting = asyncio.create_task(report())
    try:
        return replace(await asking.run(), signal=received[0] if received else None)
    finally:
        reporting.cancel()
        with suppress(asyncio.CancelledError):
            await reporting
        for number, handler in before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler)
        watch(asking.counts)


def heeded() -> list[int]:
    """The signals that end a run. One that is ignored stays so: `nohup` ignores the hang-up."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
