"""The fields of a certificate, read as what they should be; `ValueError` names the one that is not."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np


def number(owner: Any, name: str) -> float:
    """A finite real number."""
    value = getattr(owner, name)
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real) or not np.isfinite(float(value)):
        raise ValueError(f"The field {name!r} must be a finite number, not {value!r:.80}.")
    return float(value)


def flag(owner: Any, name: str) -> bool:
    """True or False, nothing that only counts as such."""
    value = getattr(owner, name)
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"The field {name!r} must be True or False, not {value!r:.80}.")
    return bool(value)


def labels(owner: Any) -> Any:
    """At least two classes, in order and all different, as a search for a label needs them."""
    classes = np.asarray(owner.classes)
    if classes.ndim != 1 or len(classes) < 2 or not bool(np.all(classes[:-1] < classes[1:])):
        raise ValueError("The field 'classes' must hold two or more labels, different and in order.")
    return classes


def sides(owner: Any) -> tuple[int, int | None]:
    """Positions of the positive class and, if it is not all the others, of the negative one."""
    k = len(labels(owner))
    positive, negative = owner.positive, getattr(owner, "negative", None)
    for name, value in (("positive", positive), ("negative", 0 if negative is None else negative)):
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or not 0 <= int(value) < k:
            raise ValueError(f"The field {name!r} must be a position in classes, from 0 to {k - 1}, not {value!r:.80}.")
    if negative is not None and positive == negative:
        raise ValueError("The fields 'positive' and 'negative' must be different classes.")
    return int(positive), None if negative is None else int(negative)


def vector(owner: Any, name: str, length: int | None = None) -> Any:
    """Finite floats, so many if that is known."""
    value = np.asarray(getattr(owner, name))
    if value.dtype.kind not in "fiu" or value.ndim != 1 or not value.size or not np.isfinite(value).all():
        raise ValueError(f"The field {name!r} must hold finite numbers, one or more, in one dimension.")
    if length is not None and len(value) != length:
        raise ValueError(f"The field {name!r} must have {length} entries; it has {len(value)}.")
    return value.astype(np.float64)


def positions(owner: Any, name: str, n: int) -> Any:
    """Different rows out of n."""
    value = np.asarray(getattr(owner, name))
    if value.dtype.kind not in "iu" or value.ndim != 1 or not value.size:
        raise ValueError(f"The field {name!r} must hold whole numbers, one or more, in one dimension.")
    value = value.astype(np.intp)
    if value.min() < 0 or value.max() >= n or len(np.unique(value)) < len(value):
        raise ValueError(f"The field {name!r} must hold different rows of these data, from 0 to {n - 1}.")
    return value


def finite(points: Any) -> None:
    """`ValueError` if an entry of a matrix is NaN or infinite; points that are objects are the kernel's to judge."""
    entries = points.data if hasattr(points, "toarray") else points
    if not isinstance(points, list) and entries.dtype.kind in "fc" and not np.isfinite(entries).all():
        raise ValueError("X has entries that are not finite.")
