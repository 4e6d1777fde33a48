"""Settings for the whole suite: properties are tried on the same examples every time, so CI is stable.

`make test` (`-m "not slow"`) tries 10 examples where `make test-all` tries 150. `make fuzz` takes the profile
`fuzz`: other examples every time, and what shows a failure again is printed.
"""

from __future__ import annotations

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):  # there, commands say more; tests that want it set them
    os.environ.pop(name, None)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # `make test &` in a script: commands would ignore Ctrl-C too
    signal.signal(signal.SIGINT, signal.default_int_handler)

gc.disable()  # until all tests are collected: searching what they keep for circles takes a third of that time


def pytest_collection_finish() -> None:
    """What was imported and collected stays until the end, and is searched no more."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # tests keep little: with the usual 700 a twentieth of the time is spent here
    gc.enable()


settings.register_profile(
    "stable",
    derandomize=True,
    max_examples=150,
    deadline=None,  # a busy machine is no failure
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz",
    settings.get_profile("stable"),
    derandomize=False,
    max_examples=600,
    print_blob=True,
)
settings.register_profile("quick", settings.get_profile("stable"), max_examples=10)
settings.load_profile("stable")


def pytest_configure(config: pytest.Config) -> None:
    """Take the quick profile where slow tests are left out; an option of hypothesis has the last word."""
    if "not slow" in config.option.markexpr:
        settings.load_profile("quick")
