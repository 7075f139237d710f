"""The witnesses of a margin, read as what they should be; `ValueError` names the one that is not."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from separatrix.certificates._data import position, read_classes


def number(owner: Any, name: str) -> float:
    """A finite real number."""
    value = getattr(owner, name)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ValueError(f"The field {name!r} must be a finite number, not {value!r:.80}.")
    return float(value)


def sides(owner: Any) -> tuple[int, int | None]:
    """Positions of the positive class and, if it is not all the others, of the negative one."""
    k, negative = len(read_classes(owner.classes)), getattr(owner, "negative", None)
    positive = position(owner.positive, "positive", k)
    if negative is None:
        return positive, None
    negative = position(negative, "negative", k)
    if positive == negative:
        raise ValueError("The fields 'positive' and 'negative' must be different classes.")
    return positive, negative


def vector(owner: Any, name: str, length: int) -> Any:
    """So many finite numbers."""
    value = np.asarray(getattr(owner, name))
    if value.dtype.kind not in "fiu" or value.shape != (length,) or not np.isfinite(value).all():
        raise ValueError(f"The field {name!r} must hold {length} finite numbers; its shape is {value.shape}.")
    return value.astype(np.float64)


def positions(owner: Any, name: str, n: int) -> Any:
    """Different rows out of n, one or more."""
    value = np.asarray(getattr(owner, name))
    if value.dtype.kind not in "iu" or value.ndim != 1 or not value.size:
        raise ValueError(f"The field {name!r} must hold whole numbers, one or more, in one dimension.")
    value = value.astype(np.intp)
    if value.min() < 0 or value.max() >= n or len(np.unique(value)) < len(value):
        raise ValueError(f"The field {name!r} must hold different rows of these data, from 0 to {n - 1}.")
    return value
