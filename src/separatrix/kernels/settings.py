"""Checks of the numbers a kernel is built with; each returns a plain Python number."""

from __future__ import annotations

import math
from numbers import Real

import numpy as np


def invalid(message: str, parameter: str | None = None) -> ValueError:
    """The error of a parameter that no kernel can use; what it takes to make one is not imported before."""
    from separatrix.errors import InvalidInputError

    return InvalidInputError(message, parameter)


def positive(name: str, value: object) -> float:
    """``value`` as a float, if it is a finite number above 0."""
    number = finite(name, value)
    if number <= 0:
        raise invalid(f"{name} must be a positive number, got {value!r}", name)
    return number


def finite(name: str, value: object) -> float:
    """``value`` as a float, if it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
        raise invalid(f"{name} must be a finite number, got {value!r}", name)
    return float(value)


def whole(name: str, value: object, *, at_least: int, at_most: float = math.inf) -> int:
    """``value`` as an int, if it is a whole number within these bounds (3.0 is one, True is not)."""
    number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not number.is_integer() or number < at_least:
        raise invalid(f"{name} must be a whole number, at least {at_least}, got {value!r}", name)
    if number > at_most:
        raise invalid(f"{name} must be at most {at_most}, got {value!r}", name)
    return int(number)


def flag(name: str, value: object) -> bool:
    """``value`` as a bool, if it is one."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise invalid(f"{name} must be True or False, got {value!r}", name)
