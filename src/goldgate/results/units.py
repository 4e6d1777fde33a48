"""A unit of a stored result to look at, from its record and from what that was made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.suite import Suite
from goldgate.core.unit_page import Given, UnitPage
from goldgate.errors import InputError, Place

# What comes of a record that somebody has changed: a key that is not there, a list that is a number.
ODD = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError)


def unit_page(suite: Suite, record: Mapping[str, Any], given: Given) -> UnitPage:
    """A unit to look at; an InputError where goldgate did not write its record so."""
    try:
        return suite.unit_page(record, given.of(record))
    except ODD:
        raise not_as_written(Place()) from None


def not_as_written(place: Place) -> InputError:
    """The error for a record that cannot be looked at."""
    return InputError(
        "records.malformed",
        "this line is not a record of this suite",
        place=place,
        expected="a record as this version of goldgate writes it",
        advice="score it again with this version, with --out",
    )
