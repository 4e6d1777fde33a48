"""How many examples a property is tried on where the number of the profile is too small or too large."""

from __future__ import annotations

from hypothesis import settings

QUICK = 10  # `make test` tries a tenth


def examples(number: int) -> settings:
    """Settings for so many examples; in `make test` for a tenth of them."""
    return settings(max_examples=number // QUICK if settings.get_current_profile_name() == "quick" else number)
