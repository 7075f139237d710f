"""Sums of rows by class, squared deviations by class, and the extremes of some numbers."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native


@native("class_sums", "T[] i8 i8 i8 i8 i8 i8 f8[] i8[] f8[] i8 f8[] f8[]")
def class_sums(
    X: Array,
    first: int,
    start: int,
    stop: int,
    d: int,
    segment: int,
    squared: int,
    offset: Floats | None,
    codes: Integers,
    weight: Floats,
    k: int,
    sums: Floats,
    work: Floats,
) -> None:
    """sums[c] += sum of w_i (x_i - offset) over rows start to stop of class c; X holds those from ``first`` on.

    If squared, sum of w_i (x_i - offset[c])², with an offset for each class. ``sums`` and ``work`` are (k, d).
    C adds up each segment of rows by itself.
    """
    x, c = X.reshape(-1, d)[start - first : stop - first].astype(np.float64), codes[start:stop]
    if squared and offset is not None:
        x = (x - offset.reshape(k, d)[c]) ** 2
    elif offset is not None:
        x = x - offset
    member = np.zeros((k, len(c)))
    member[c, np.arange(len(c))] = weight[start:stop]
    sums += (member @ x).reshape(sums.shape)


@native("extremes", "T[] i8 f8[]")
def extremes(x: Array, n: int, found: Floats) -> None:
    """found[0], found[1] = the smallest and the largest of n numbers: NaN if there is one, inf and -inf for n = 0."""
    found[0], found[1] = x.min(initial=np.inf), x.max(initial=-np.inf)
