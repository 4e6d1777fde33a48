"""Asking with somebody told how far it is, and with signals that end it in good order."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from goldgate.generation.answerers.answerer import Ending
from goldgate.generation.answerers.ending_signals import ending_signals
from goldgate.generation.answerers.openai.asking import Asking
from goldgate.generation.counts import Listener


async def run_watched(asking: Asking, listener: Listener, on_interrupt: Callable[[int], None]) -> Ending:
    """Run; Ctrl-C, a SIGTERM or a hang-up let what is in flight end, a second one ends at once."""
    loop = asyncio.get_running_loop()
    received: list[int] = []

    def stop(number: int) -> None:
        received.append(number)
        if asking.interrupt():
            on_interrupt(asking.counts.in_flight)

    async def report() -> None:
        while True:
            listener.on_progress(asking.counts)
            await asyncio.sleep(listener.every)

    before = {number: signal.getsignal(number) for number in ending_signals()}
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
        listener.on_progress(asking.counts)
