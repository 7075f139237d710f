"""The fields of a certificate, each read as what it should be; `ValueError` names the one that is not."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from separatrix.certificates.base import Check


def classes_of(value: Any) -> Any:
    """The labels: two or more, each once and in order, as a search for a label needs them."""
    classes = np.asarray(value)
    if classes.ndim != 1 or len(classes) < 2 or not bool((classes[:-1] < classes[1:]).all()):
        raise ValueError("The field 'classes' must hold two labels or more, each once and in order.")
    return classes


def flag(value: Any, name: str) -> bool:
    """True or False, and nothing that merely counts as such."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"The field {name!r} must be True or False; it is {value!r:.80}.")
    return bool(value)


def number(value: Any, name: str, low: float = -np.inf, high: float = np.inf) -> float:
    """A finite number with low < number < high."""
    real = isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and np.isfinite(float(value))
    if not (real and low < float(value) < high):
        between = "" if (low, high) == (-np.inf, np.inf) else f" between {low:g} and {high:g}"
        raise ValueError(f"The field {name!r} must be a finite number{between}; it is {value!r:.80}.")
    return float(value)


def tolerance(value: Any) -> float:
    """A relative gap above 0 and at most 1: beyond, every weights would do."""
    tol = number(value, "tol")
    if not 0 < tol <= 1:
        raise ValueError(f"The field 'tol' must be above 0 and at most 1; it is {tol!r}.")
    return tol


def position(value: Any, name: str, k: int) -> int:
    """A place among k."""
    whole = isinstance(value, Integral) and not isinstance(value, (bool, np.bool_))
    if not (whole and 0 <= int(value) < k):
        raise ValueError(f"The field {name!r} must be a position from 0 to {k - 1}; it is {value!r:.80}.")
    return int(value)


def sides(owner: Any) -> tuple[int, int | None]:
    """Positions of the positive class and, if it is not all the others, of the negative one."""
    k, negative = len(classes_of(owner.classes)), getattr(owner, "negative", None)
    positive = position(owner.positive, "positive", k)
    if negative is None:
        return positive, None
    negative = position(negative, "negative", k)
    if positive == negative:
        raise ValueError("The fields 'positive' and 'negative' must be different classes.")
    return positive, negative


def shaped(value: Any, name: str, *shape: int) -> Any:
    """Finite float64 of this very shape: nothing that broadcasting would stretch."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiu" or array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"The field {name!r} must hold finite numbers, of shape {shape}; its shape is {array.shape}.")
    return array.astype(np.float64)


def factors(value: Any, k: int) -> Any:
    """The weights of k classes, each above 0; None if there are none."""
    if value is None:
        return None
    weights = shaped(value, "class_weight", k)
    if not (weights > 0).all():
        raise ValueError("The field 'class_weight' must be above 0 for every class.")
    return weights


def positions(value: Any, name: str, n: int) -> Any:
    """Different rows out of n."""
    rows = np.asarray(value)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise ValueError(f"The field {name!r} must hold row numbers.")
    rows = rows.astype(np.intp)
    ascending = bool((rows[:-1] < rows[1:]).all())  # as they are in all our certificates: then none comes twice
    if rows.size and (rows.min() < 0 or rows.max() >= n or not (ascending or len(np.unique(rows)) == len(rows))):
        raise ValueError(f"The field {name!r} must hold different rows of these data, from 0 to {n - 1}.")
    return rows


def keys(witness: Any, *names: str) -> None:
    """`ValueError` unless the witness has these fields and no others: a further one could change what is claimed."""
    if not isinstance(witness, Mapping) or set(witness) != set(names):
        given = sorted(map(str, witness)) if isinstance(witness, Mapping) else type(witness).__name__
        raise ValueError(f"The witness needs the fields {sorted(names)}; it has {given}.")


def held_in(witness: Any, names: tuple[str, ...], unit: float) -> None:
    """`ValueError` unless the numbers are of the precision they are said to be rounded to."""
    single = float(np.finfo(np.float32).eps)
    for name in names if unit == single else ():
        array = np.asarray(0.0 if witness.get(name) is None else witness[name], dtype=np.float64)
        if not np.array_equal(array, array.astype(np.float32)):
            raise ValueError(f"unit is that of float32, but the field {name!r} holds numbers that float32 does not.")


def compared(name: str, stated: Any, found: Any, rounding: Any) -> Check:
    """That what is stated is what was found, but for rounding; the worst of many numbers."""
    return worst_of(name, np.abs(stated - found), 0.0, rounding)


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
