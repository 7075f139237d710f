"""Sums of rows by class, squared deviations by class, the extremes of some numbers, and what columns are like."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.loops import threads
from separatrix.loops.binding import native

TILE = 64  # rows that are added up by themselves, as in moments.c
SWEPT = 1 << 21  # numbers that are looked at in one call


@native("class_sums", "T[] i8 i8 i8 i8 i8 i8 f8[] i8[] f8[] i8 f8[] f8[]")
def class_sums(
    X: Array, first: int, start: int, stop: int, d: int, segment: int, squared: int, offset: Floats | None,
    codes: Integers, weight: Floats, k: int, sums: Floats, work: Floats,
) -> None:  # fmt: skip
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


def ends(values: Array) -> Floats:
    """The smallest and the largest of some numbers in a row, by our threads: NaN if there is one; [0, 0] of nothing."""

    def look(start: int) -> Floats:
        some, found = values[start : start + SWEPT], np.empty(2)
        if some.dtype in (np.float32, np.float64):
            extremes(some, len(some), found)
        else:
            found[:] = some.min(), some.max()
        return found

    found = np.array(threads.over(range(0, len(values), SWEPT), look) or [np.zeros(2)])
    return np.array([found[:, 0].min(), found[:, 1].max()])


@native("column_summary", "f8[] i8 i8 f8[] f8[] f8[] f8[] i8[] i8[]")
def column_summary(
    X: Floats, n: int, d: int, low: Floats, high: Floats, sums: Floats, rest: Floats, missing: Integers,
    broken: Integers,
) -> None:  # fmt: skip
    """Of each column of n further rows: the extremes, the sum, how many cells are missing (NaN), how many not whole.

    Rows are added one after the other in tiles of `TILE`, missing cells as 0, and tiles to ``sums``; what rounding
    takes from that is added to ``rest``. All calls but the last have a multiple of `TILE` rows: then it does not matter
    where the rows are cut.
    """
    for first in range(0, n, TILE):
        x = X.reshape(n, d)[first : first + TILE]
        gone = np.isnan(x)
        v = np.where(gone, 0.0, x)
        low[:] = np.fmin(low, np.fmin.reduce(x, axis=0)) + 0.0  # never -0
        high[:] = np.fmax(high, np.fmax.reduce(x, axis=0)) + 0.0
        missing += gone.sum(axis=0)
        broken += (np.round(v) != v).sum(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):  # sums of huge numbers: whoever asks for a mean sees it
            s = np.add.accumulate(v, axis=0)[-1]
            following = sums + s
            back = following - sums
            rest += (sums - (following - back)) + (s - back)
        sums[:] = following
