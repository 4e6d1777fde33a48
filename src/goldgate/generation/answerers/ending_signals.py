"""The signals that end a run in good order."""

from __future__ import annotations

import signal

_SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


def ending_signals() -> list[int]:
    """Ctrl-C, SIGTERM, a hang-up. One that is ignored stays so: `nohup` ignores the hang-up."""
    return [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
