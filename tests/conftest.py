"""Settings for the whole suite: properties are tried on the same examples every time, so CI is stable."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "stable",
    derandomize=True,
    max_examples=150,
    deadline=None,  # a busy machine is no failure
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("stable")
