"""Checks of the parameters of an estimator, made when it is fitted; each says what is allowed."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from separatrix.errors import InvalidInputError, UnsupportedParameterError


def one_of(name: str, value: Any, options: Iterable[str], case: str = "") -> str:
    """``value`` if it is one of the options, which are those in a case such as " for loss='log'"."""
    options = list(options)
    if not isinstance(value, str) or value not in options:
        allowed = ", ".join(map(repr, options[:-1])) + f" or {options[-1]!r}"
        raise InvalidInputError(f"{name}{case} must be {allowed}; got {value!r}.", name)
    return value


def positive(name: str, value: Any) -> float:
    """``value`` as a float, if it is finite and above 0."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < np.inf:
        raise InvalidInputError(f"{name} must be a finite number above 0; got {value!r}.", name)
    return float(value)


def least(name: str, value: Any, bound: float) -> float:
    """``value`` as a float, if it is finite and not below ``bound``."""
    if isinstance(value, bool) or not isinstance(value, Real) or not bound <= float(value) < np.inf:
        raise InvalidInputError(f"{name} must be a finite number of at least {bound:g}; got {value!r}.", name)
    return float(value)


def whole(name: str, value: Any, *, at_least: int) -> int:
    """``value`` as an int, if it is a whole number not below ``at_least``."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < at_least:
        raise InvalidInputError(f"{name} must be a whole number of at least {at_least}; got {value!r}.", name)
    return int(value)


def flags(estimator: Any, *names: str) -> None:
    """Refuse parameters of these names that are not True or False."""
    for name in names:
        value = getattr(estimator, name)
        if not isinstance(value, (Real, np.bool_)) or value not in (0, 1):
            raise InvalidInputError(f"{name} must be True or False; got {value!r}.", name)


def honoured(estimator: Any) -> None:
    """Refuse values that scikit-learn's parameters may have there but not here, by the table ``_only`` of the class.

    {name: (values, advice)}: the values that are taken, and what to use in place of others.
    """
    for name, (values, advice) in estimator._only.items():
        value = getattr(estimator, name)
        if not any(np.array_equal(value, option) for option in values):
            raise UnsupportedParameterError(f"{type(estimator).__name__} takes no {name}={value!r}: {advice}")
