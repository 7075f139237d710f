"""The fields of a witness, each of the type and in the range that gives it a meaning; and the worst of many figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix.certificates.base import Check


def keys(witness: Any, *names: str) -> None:
    """`ValueError` unless the witness has these fields and no others: a further one could change what is claimed."""
    if not isinstance(witness, Mapping) or set(witness) != set(names):
        given = sorted(map(str, witness)) if isinstance(witness, Mapping) else type(witness).__name__
        raise ValueError(f"The witness needs the fields {sorted(names)}; it has {given}.")


def flag(witness: Any, name: str) -> bool:
    """True or False, and nothing that merely counts as such."""
    value = witness[name]
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"The witness {name!r} must be True or False; it is {value!r}.")
    return bool(value)


def number(witness: Any, name: str, low: float, high: float) -> float:
    """A number with low < number < high."""
    value = witness[name]
    real = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not (real and low < float(value) < high):
        raise ValueError(f"The witness {name!r} must be a number between {low:g} and {high:g}; it is {value!r}.")
    return float(value)


def held_in(witness: Any, names: tuple[str, ...], unit: float) -> None:
    """`ValueError` unless the numbers are of the precision they are said to be rounded to."""
    single = float(np.finfo(np.float32).eps)
    for name in names if unit == single else ():
        array = np.asarray(0.0 if witness.get(name) is None else witness[name], dtype=np.float64)
        if not np.array_equal(array, array.astype(np.float32)):
            raise ValueError(f"unit is that of float32, but the witness {name!r} holds numbers that float32 does not.")


def worst_of(name: str, figures: Any, tolerance: float, rounding: Any) -> Check:
    """Of many checks the one closest to failing, or failing most; a figure or a bound that is not finite fails."""
    figures, rounding = (np.ravel(a) for a in np.broadcast_arrays(figures, rounding))
    if not figures.size:
        return Check(name, 0.0, tolerance)
    if not (np.isfinite(figures).all() and np.isfinite(rounding).all()):
        return Check(name, float("nan"), tolerance)
    allowed = tolerance + rounding
    excess = np.where(figures > allowed, np.inf, 0.0)
    i = int(np.argmax(np.divide(figures, allowed, out=excess, where=allowed > 0)))
    return Check(name, float(figures[i]), tolerance, float(rounding[i]))
