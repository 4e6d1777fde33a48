"""How many examples a property is tried on where the number of the profile is too small or too large."""

from __future__ import annotations

from hypothesis import settings

QUICK = 10  # `make test` tries a tenth


def examples(number: int) -> settings:
    """Settings for so many examples; in `make test` for a tenth of them."""
    return settings(max_examples=number // QUICK if is_quick() else number)


def is_quick() -> bool:
    """Whether slow tests are left out, as in `make test`."""
    return settings.get_current_profile_name() == "quick"
