"""One pass over rows x_i: scores z_i = W (x_i - offset) + b, what a loss makes of them, sums of slopes times rows.

For each row and each of the k columns of scores, a pass replaces z by a slope s, times the row's weight:

- `SCORES`: nothing is summed; z is written to `rows`. `GATHER`: s is read from `rows`, and no score is computed.
- `LOG`: log(1 + exp(-y z)), y = 1 for code 1, else -1; `SQUARED_HINGE`: max(0, 1 - y z)².
- `SQUARED`: (y - z)²; with several columns, y is 1 in the column of the row's code.
- `SIGMOID`, `GAUSS_NEWTON`: q² with q = 1 / (1 + exp(y z)), the probability of the wrong class; they differ in the
  curvature: that of the loss, or without the term that may be negative.
- `SOFTMAX`: -log of the softmax of the code's class; the classes' scores are basis z, or z itself.
- `PRODUCT`: s = h z for curvatures h read from `rows`; `SOFTMAX_PRODUCT`: s = basis'(diag(P) - P P') basis z for
  probabilities P read from `rows`.

A loss writes the curvature of each row (of softmax: its probabilities) to `rows`, unless that is None. `sums` holds
(3 + ·, k): the sums of weighted losses (those of softmax in the first column), what rounding took of them, the sums of
s, and then the sum of s times x - offset; all is added to what is there.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.loops.binding import native
from separatrix.loops.packing import numbers_at

SCORES, GATHER, PRODUCT, SOFTMAX_PRODUCT, LOG, SQUARED_HINGE, SQUARED, SIGMOID, GAUSS_NEWTON, SOFTMAX = range(10)
PASSES = {"log": LOG, "squared_hinge": SQUARED_HINGE, "squared_error": SIGMOID, "gauss_newton": GAUSS_NEWTON}  # losses
BLOCK = 64  # rows, ROWS in pointwise.h
LANES = 8  # as in common.h
ROOM = 1 << 14  # numbers of rows that are packed together


def work_size(k: int, K: int, d: int) -> int:
    """How many numbers a pass needs room for besides its sums."""
    return BLOCK * (k + K) + LANES * k + k * d


def segment_rows(d: int) -> int:
    """Rows that are added up by themselves before they are added to the rest: about half a megabyte of them."""
    return max(BLOCK, min(1024, (1 << 16) // max(d, 1) // BLOCK * BLOCK))


def room_rows(d: int) -> int:
    """Rows that are packed together: about 128 kB, so that the second-level cache holds them and what comes next."""
    return max(BLOCK, min(512, ROOM // max(d, 1) // BLOCK * BLOCK))


@native("pass_dense", "T[] i8 i8 i8 i8 i8 f8[] f8[] f8[] i8 i8 f8[] i8 i8[] f8[] i8 f8[] f8[] f8[]")
def pass_dense(
    X: Array, first: int, start: int, stop: int, d: int, segment: int, offset: Floats | None, W: Floats | None,
    b: Floats | None, k: int, K: int, basis: Floats | None, what: int, codes: Integers | None, weight: Floats | None,
    columns: int, rows: Floats | None, sums: Floats, work: Floats | None,
) -> None:  # fmt: skip
    """Rows start to stop, of which X (·, d) holds those from ``first`` on; W and the sum of s x' are (k, d)."""
    x = X.reshape(-1, d)[start - first : stop - first].astype(np.float64)
    x = x if offset is None else x - offset
    Z = np.zeros((len(x), k)) if W is None or b is None else x @ W.reshape(k, d).T + b
    S = _pointwise(Z, slice(start, stop), sums, K, basis, what, codes, weight, columns, rows)
    if S is not None:
        sums[3 * k :] += (S.T @ x).ravel()


@native("pass_strided", "i8 i8 i8 i8 T[] i8 i8 i8 i8 i8 f8[] f8[] f8[] i8 i8 f8[] i8 i8[] f8[] i8 f8[] f8[] f8[]")
def pass_strided(
    address: int, down: int, right: int, kind: int, room: Array, some: int, start: int, stop: int, d: int,
    segment: int, *how: Any,
) -> None:  # fmt: skip
    """`pass_dense` of rows of any kind and strides (see `packing.pack`), of which row ``start`` is at the address.

    Unless they can be read where they are, ``some`` of them at a time, a multiple of BLOCK, are written to the room.
    """
    X = np.ascontiguousarray(numbers_at(address, down, right, kind, stop - start, d), dtype=room.dtype)
    pass_dense.reference(X, start, start, stop, d, segment, *how)


@native("pass_file", "i8 i8 T[] i8 i8 i8 i8 f8[] f8[] f8[] i8 i8 f8[] i8 i8[] f8[] i8 f8[] f8[] f8[]", returns="i8")
def pass_file(file: int, place: int, room: Array, start: int, stop: int, d: int, segment: int, *how: Any) -> int:
    """`pass_dense` of rows in a file, of which row ``start`` is at a place; 1 if all could be read, else 0.

    The room holds two segments, most of which caches still have when they were read. On Windows this is always 0.
    """
    size = (stop - start) * d * room.itemsize
    data = os.pread(file, size, place) if hasattr(os, "pread") else b""
    if len(data) < size:
        return 0
    pass_dense.reference(np.frombuffer(data, dtype=room.dtype), start, start, stop, d, segment, *how)
    return 1


@native("pass_csr", "I[] I[] T[] i8 i8 i8 i8 f8[] f8[] f8[] i8 i8 f8[] i8 i8[] f8[] i8 f8[] f8[] f8[]")
def pass_csr(indptr: Array, indices: Array, values: Array, base: int, start: int, stop: int, d: int, *how: Any) -> None:
    """`pass_dense` of a CSR matrix, ``values`` being its entries from ``base`` on; W and the sum are (d, k)."""
    offset, W, b, k, *rest, sums, _ = how
    entries = slice(int(indptr[start]), int(indptr[stop]))
    data = values[entries.start - base : entries.stop - base].astype(np.float64)
    data = data if offset is None else data - offset[indices[entries]]
    x = sparse.csr_array((data, indices[entries], indptr[start : stop + 1] - indptr[start]), shape=(stop - start, d))
    Z = np.zeros((stop - start, k)) if W is None or b is None else x @ W.reshape(d, k) + b
    S = _pointwise(Z, slice(start, stop), sums, *rest)
    if S is not None:
        sums[3 * k :] += (x.T @ S).ravel()


def _pointwise(
    Z: Floats, part: slice, sums: Floats, K: int, basis: Any, what: int, codes: Any, weight: Any, columns: int,
    rows: Any,
) -> Floats | None:  # fmt: skip
    """The weighted slopes (m, k) at the scores Z; losses are added to the sums, curvatures written to the rows."""
    k = Z.shape[1]
    if what == SCORES:
        rows.reshape(-1, k)[part] = Z
        return None
    if what == GATHER:
        S = rows.reshape(-1, k)[part]
    elif what in (SOFTMAX, SOFTMAX_PRODUCT):
        B = np.eye(K) if basis is None else basis.reshape(K, k)
        c, T = weight[part], Z @ B.T
        if what == SOFTMAX:
            loss, T, P = _softmax(codes[part], T)
            sums[0] += c @ loss
            if rows is not None:
                rows.reshape(-1, K)[part] = P
        else:
            P = rows.reshape(-1, K)[part]
            T = P * (T - (P * T).sum(axis=1, keepdims=True))
        S = (c[:, None] * T) @ B
    else:
        c = weight.reshape(-1, columns)[part]
        if what == PRODUCT:
            S = c * rows.reshape(-1, k)[part] * Z
        else:
            positive = codes[part, None] == (np.arange(k) if what == SQUARED and k > 1 else 1)
            loss, slope, bend = _by_margin(what, np.where(positive, 1.0, -1.0), Z)
            sums[:k] += (c * loss).sum(axis=0)
            if rows is not None:
                rows.reshape(-1, k)[part] = bend
            S = c * slope
    sums[2 * k : 3 * k] += S.sum(axis=0)
    return np.asarray(S)


def _by_margin(what: int, y: Floats, z: Floats) -> tuple[Floats, Floats, Floats]:
    """Loss, slope and curvature of each score."""
    u = y * z
    if what == SQUARED_HINGE:
        slack = np.maximum(0.0, 1.0 - u)
        return slack**2, -2.0 * y * slack, np.where(u < 1.0, 2.0, 0.0)
    if what == SQUARED:
        return (y - z) ** 2, 2.0 * (z - y), np.full_like(z, 2.0)
    e = np.exp(-np.abs(u))
    large, small = 1.0 / (1.0 + e), e / (1.0 + e)
    p, q = np.where(u >= 0, large, small), np.where(u >= 0, small, large)  # of the true and of the wrong class
    if what == LOG:
        return np.log1p(e) - np.minimum(u, 0.0), -y * q, p * q
    bend = 2.0 * p * q * q * (2.0 * p - q) if what == SIGMOID else 2.0 * (p * q) ** 2
    return q * q, -2.0 * y * p * q * q, bend


def _softmax(codes: Integers, T: Floats) -> tuple[Floats, Floats, Floats]:
    """Loss (m,), slopes P - Y and probabilities P (m, K) at the classes' scores T."""
    own = np.arange(len(T)), codes
    below = T - T.max(axis=1, keepdims=True)
    e = np.exp(below)
    top = np.arange(len(T)), np.argmax(below, axis=1)
    others = e.copy()
    others[top] = 0.0  # the largest is exp(0) = 1: the logarithm of 1 + others keeps their digits
    P = e / e.sum(axis=1, keepdims=True)
    slope = P.copy()
    slope[own] -= 1.0
    return np.log1p(others.sum(axis=1)) - below[own], slope, P
