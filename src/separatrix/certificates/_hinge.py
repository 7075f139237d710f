"""Both sides of a soft margin, each with a bound on how far rounding can have moved it.

    P = 1/2 ‖w‖² + sum_i U_i loss(y_i f_i)     and     D = sum_i alpha_i - 1/2 ‖u‖²,  u = sum_i alpha_i y_i x_i

(for the squared hinge, less sum_i alpha_i² / (4 U_i)). D is a lower bound on the minimum of P if 0 <= alpha_i <= U_i
and, b being free, sum_i alpha_i y_i = 0. Multipliers in float64 miss both by a little, and what that costs is counted
as rounding: alpha divided by 1 + e is within its bounds and loses e D at most; the class that is heavier by t is scaled
down, which takes t off the sum and moves u by t times a mean of its points.

Where float64 is not enough for tol, a small problem is computed with more digits, if the machine has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from separatrix.certificates._blocks import RowBlocks, elsewhere, in_blocks
from separatrix.certificates._data import ALLOWED, EPS, TINY
from separatrix.certificates._held import blocks_of, dense, magnitudes
from separatrix.certificates._kernels import LISTS, kernel_block
from separatrix.certificates._sums import TERMS, sum_of, sum_with_error, two_product

ENTRIES = 1 << 17  # of a block of rows: they stay in cache, and the mean of the first is near enough to all
KERNEL_ENTRIES = 1 << 21  # of a block of kernel values
LONG = 1e7  # multiplications that may be done with more digits than float64 has
SPARSE_ROWS = 1 << 16  # of a piece of CSR rows in other processes
CHUNK = 256  # kernel values summed in one piece: the fewer, the smaller the error
CLOSE = 8 * EPS  # relative excess of alpha_i over C c_i that rounding of the product may make


@dataclass(frozen=True)
class Task:
    """Signs y_i, bounds U_i and multipliers alpha_i of the rows, whether b is free, whether the hinge is squared."""

    signs: Any
    bound: Any
    alpha: Any
    intercept: bool
    squared: bool


@dataclass(frozen=True)
class Sums:
    """P and D with their errors; 1/2 ‖w - u‖² and the largest alpha_i max(0, y_i f_i - 1), each with its own."""

    primal: float
    primal_error: float
    dual: float
    dual_error: float
    pull: float
    pull_error: float
    slackness: float
    slackness_error: float

    @property
    def error(self) -> float:
        """Of both sides."""
        return self.primal_error + self.dual_error

    def sufficient(self, tol: float) -> bool:
        """Whether the errors leave room for a claim to this tol."""
        return bool(2 * self.error <= ALLOWED * tol * abs(self.primal))

    def outward(self) -> tuple[float, float, float]:
        """P rounded up, D rounded down, and the tol below which a claim about these has no room for rounding.

        Where D would be negative it is 0, the bound that alpha = 0 proves.
        """
        primal = float(np.nextafter(self.primal + self.primal_error, np.inf))
        dual, error = float(np.nextafter(self.dual - self.dual_error, -np.inf)), self.error
        if not dual > 0:
            dual, error = 0.0, self.primal_error
        sure = np.isfinite(primal) and primal > 0
        return primal, dual, float(2 * error / (ALLOWED * primal)) if sure else np.inf


@dataclass(frozen=True)
class Lengths:
    """‖w‖², ‖u‖² and ‖w - u‖² with their errors; those of ‖u‖² count what it takes to balance alpha."""

    w: Any
    w_error: Any
    u: Any
    u_error: Any
    apart: Any
    apart_error: Any


def linear_sums(X: Any, task: Task, w: Any, b: float, tol: float) -> Sums:
    """Of a hyperplane w.x + b, accurate enough for tol if that can be had."""
    return _enough(lambda real: _linear(X, task, w, b, real), float(X.shape[0]) * X.shape[1], tol)


def kernel_sums(
    kernel: Mapping[str, Any], points: Any, task: Task, expansion: Any, b: float, tol: float, shift: float = 0.0
) -> Sums:
    """In feature space: w = sum_i e_i phi(x_i) and u = sum_i alpha_i y_i phi(x_i).

    ``shift`` times the identity may be missing of a kernel matrix that is positive semidefinite.
    """
    width = 1 if isinstance(points, list) or kernel["kernel"] == "precomputed" else points.shape[1]
    pairs = float(len(task.signs)) * np.count_nonzero((task.alpha != 0) | (expansion != 0))
    exact = callable(kernel["kernel"]) or kernel["kernel"] in LISTS  # these have their values in float64
    work = np.inf if exact else pairs * (width + 10)
    return _enough(lambda real: _kernel(kernel, points, task, expansion, b, shift, real), work, tol)


def _enough(compute: Callable[[Any], Sums], work: float, tol: float) -> Sums:
    """In float64; if that is not accurate enough and the work is little, with all digits there are."""
    found = compute(np.float64)
    return found if found.sufficient(tol) or work > LONG else compute(np.longdouble)


def _linear(X: Any, task: Task, w: Any, b: float, real: Any) -> Sums:
    """With a free b, sums are about a centre, which changes nothing but their rounding."""
    eps, d = float(np.finfo(real).eps), len(w)
    w, weights = w.astype(real), (task.signs * task.alpha).astype(real, copy=False)
    X = RowBlocks(X, X.shape[0]) if in_blocks(X) else X
    sparse = X.sparse if isinstance(X, RowBlocks) else hasattr(X, "tocsr")
    if sparse and real is np.float64:
        scores, errors, u, sizes, terms = _sparse(X, weights, w, b)
    else:
        X = X.toarray() if hasattr(X, "toarray") else X
        centre = np.zeros(d, real)
        if task.intercept:
            centre = dense(X[: max(1, ENTRIES // max(d, 1))]).mean(axis=0).astype(real)
        scores, errors, u, sizes, terms = _dense(X, weights, w, b, centre)
    t, heavier = _balance(task)
    off = (terms * eps + (abs(t) / heavier if heavier > 0 else 0.0)) * sizes  # of each entry of u
    apart = w - u
    lengths = Lengths(
        w=w @ w,
        w_error=(d + 2) * (eps * (w @ w) + TINY),
        u=u @ u,
        u_error=off @ (2 * np.abs(u) + off) + (d + 2) * (eps * (u @ u) + TINY),
        apart=apart @ apart,
        apart_error=off @ (2 * np.abs(apart) + off) + (d + 2) * eps * (apart @ apart),
    )
    return total(task, scores, errors, lengths, abs(t))


def _dense(X: Any, weights: Any, w: Any, b: float, centre: Any) -> tuple[Any, Any, Any, Any, float]:
    """w.x_i + b and u, with the error of each score, and the sum of |terms| of each entry of u, of how many."""
    (n, d), real = X.shape, w.dtype
    eps = float(np.finfo(real).eps)
    scores, size, u, sizes = np.empty(n, real), np.empty(n, real), np.zeros(d, real), np.zeros(d, real)
    offset, offset_error = _offset(w, centre, b)
    step = max(1, ENTRIES // max(d, 1))
    source, count = elsewhere(X), 0
    if source is not None:
        found = source.each(_dense_sums, (weights,), (w, centre), step)
    else:
        found = ((rows, _dense_sums(X[rows], weights[rows], w, centre)) for rows in blocks_of(n, d, ENTRIES))
    for rows, (some, far, pull, reach) in found:
        scores[rows], size[rows] = some, far
        u += pull
        sizes += reach
        count += 1
    scores += offset
    size *= (0.5 * d + 4) * eps  # from here on it is the error of each score: n may be large
    size += eps * np.abs(scores)
    size += offset_error + (d + 4) * TINY
    return scores, size, u, sizes, 0.5 * min(n, step) + max(n / step, count) + 4


def _dense_sums(x: Any, weights: Any, w: Any, centre: Any) -> tuple[Any, Any, Any, Any]:
    """Of some rows about the centre: w.z_i and |w|.|z_i|, sum_i weights_i z_i, and the same of sizes."""
    z = dense(x, w.dtype) - centre
    scores, pull = z @ w, weights @ z
    np.abs(z, out=z)
    return scores, z @ np.abs(w), pull, np.abs(weights) @ z


def _sparse(X: Any, weights: Any, w: Any, b: float) -> tuple[Any, Any, Any, Any, float]:
    """The same for CSR rows, about the origin: sums over rows are in their order, whichever blocks they are in."""
    (n, d), source, count = X.shape, elsewhere(X), 0
    scores, size, u, sizes, longest, first = np.empty(n), np.empty(n), np.zeros(d), np.zeros(d), 0.0, 0
    found: Iterable[tuple[slice, Any]] = ()
    if source is not None:  # sums of pieces, added up
        found = source.each(_sparse_sums, (weights,), (w,), SPARSE_ROWS)
    elif not isinstance(X, RowBlocks):
        found = [(slice(0, n), _sparse_sums(X.tocsr(), weights, w))]
    else:
        for x in X.parts():
            rows = slice(first, first + x.shape[0])
            longest = max(longest, float(np.diff(x.indptr).max(initial=0)))
            scores[rows], size[rows] = x @ w, magnitudes(x) @ np.abs(w)
            terms = x.data * np.repeat(weights[rows], np.diff(x.indptr))
            np.add.at(u, x.indices, terms)
            np.add.at(sizes, x.indices, np.abs(terms))
            first = rows.stop
    for rows, (some, far, pull, reach, most) in found:
        scores[rows], size[rows], longest = some, far, max(longest, most)
        u += pull
        sizes += reach
        count += source is not None
    scores += b
    errors = EPS * ((0.5 * longest + 4) * size + abs(b) + np.abs(scores)) + (longest + 4) * TINY
    return scores, errors, u, sizes, 0.5 * n + count + 4


def _sparse_sums(x: Any, weights: Any, w: Any) -> tuple[Any, Any, Any, Any, float]:
    """The same of some CSR rows, and the most entries of a row."""
    size, longest = magnitudes(x), float(np.diff(x.indptr).max(initial=0))
    return x @ w, size @ np.abs(w), x.T @ weights, size.T @ np.abs(weights), longest


def _offset(w: Any, centre: Any, b: float) -> tuple[Any, Any]:
    """w.centre + b and its error: each product is split into a float and what it lacks of the product."""
    if not centre.any():
        return b, 0.0
    return sum_with_error(np.concatenate([*two_product(w, centre), [w.dtype.type(b)]]))


def _kernel(
    kernel: Mapping[str, Any], points: Any, task: Task, expansion: Any, b: float, shift: float, real: Any
) -> Sums:
    weights, n, eps = task.signs * task.alpha, len(task.signs), float(np.finfo(real).eps)
    used = np.flatnonzero((weights != 0) | (expansion != 0))
    both = np.column_stack([expansion[used], weights[used]]).astype(real)
    values, errors = np.zeros((n, 2), real), np.zeros((n, 2), real)
    place = np.full(n, -1)
    place[used] = np.arange(len(used))
    largest = 0.0
    for part in blocks_of(n, len(used), KERNEL_ENTRIES):
        rows = np.arange(part.start, part.stop)
        K, size, rounded = kernel_block(kernel, points, rows, used, real)
        for start in range(0, len(used), CHUNK):
            chunk = slice(start, start + CHUNK)
            values[rows] += K[:, chunk] @ both[chunk]
        terms = rounded + 0.5 * min(CHUNK, len(used)) + len(used) / CHUNK + 4
        errors[rows] = terms * eps * (size @ np.abs(both)) + TINY * np.abs(both).sum(axis=0)
        inside = np.flatnonzero(place[rows] >= 0)
        largest = max(largest, float(np.abs(K[inside, place[rows[inside]]]).max(initial=0.0)))
    return feature_sums(task, used, both, values, errors, b, largest, shift)


def feature_sums(
    task: Task, used: Any, both: Any, values: Any, errors: Any, b: float, largest: float, shift: float
) -> Sums:
    """Given ``values`` = K (e, alpha y) with their errors, and the largest k(x, x) of the points used."""
    eps = float(np.finfo(values.dtype).eps)
    gram, off = np.empty((2, 2), values.dtype), np.empty((2, 2), values.dtype)
    for i in range(2):
        for j in range(2):
            terms = both[:, i] * values[used, j]
            gram[i, j], summed = sum_with_error(terms)
            off[i, j] = np.abs(both[:, i]) @ errors[used, j] + eps * np.abs(terms).sum() + summed
    t, _ = _balance(task)
    move = abs(t) * sqrt(largest)
    squares = (both**2).sum(axis=0) * shift
    lengths = Lengths(
        w=gram[0, 0],
        w_error=off[0, 0] + squares[0],
        u=gram[1, 1],
        u_error=off[1, 1] + squares[1] + move * (2 * np.sqrt(max(gram[1, 1] + off[1, 1], 0.0)) + move),
        apart=gram[0, 0] - gram[0, 1] - gram[1, 0] + gram[1, 1],
        apart_error=off.sum(),
    )
    scores = values[:, 0] + b
    error = errors[:, 0] + eps * (abs(b) + np.abs(scores))
    error[used] += shift * np.abs(both[:, 0])
    return total(task, scores, error, lengths, abs(t))


def _balance(task: Task) -> tuple[float, float]:
    """sum_i alpha_i y_i, rounded once, and the sum of alpha_i of the heavier class; (0, 0) if b is not free."""
    if not task.intercept:
        return 0.0, 0.0
    t = sum_of(lambda rows: task.signs[rows] * task.alpha[rows], len(task.alpha))[0]
    return t, 0.5 * (float(task.alpha.sum()) + abs(t))


def total(task: Task, scores: Any, errors: Any, lengths: Lengths, unbalanced: float) -> Sums:
    """P and D from the scores f_i, and what rounding may have done to them; some rows at a time, for n may be large."""
    eps, n = float(np.finfo(scores.dtype).eps), len(scores)

    def losses(rows: slice) -> Any:
        slack = np.maximum(0.0, 1.0 - task.signs[rows] * scores[rows])
        return task.bound[rows] * (slack**2 if task.squared else slack)

    doubts, slackness, slackness_error = [], 0.0, 0.0
    for rows in blocks_of(n, TERMS):
        margins, alpha = task.signs[rows] * scores[rows], task.alpha[rows]
        slack = np.maximum(0.0, 1.0 - margins)
        error = errors[rows] + eps * slack
        near = np.where(margins - error < 1.0, task.bound[rows], 0.0)  # further off, rounding changes no loss
        doubts.append(near @ (error * (2 * slack + error) if task.squared else error))
        beyond, reach = alpha * np.maximum(0.0, margins - 1.0), alpha * (error + eps * np.abs(margins))
        slackness = np.maximum(slackness, beyond.max(initial=0.0))  # NaN stays NaN
        slackness_error = np.maximum(slackness_error, reach.max(initial=0.0))
    loss, summed = sum_of(losses, n)
    primal = 0.5 * lengths.w + loss
    primal_error = sum(doubts) * (1 + 1e-9) + summed + 0.5 * lengths.w_error + 8 * EPS * primal

    plain = sum_with_error(task.alpha)[0]
    dual = plain - 0.5 * lengths.u
    dual_error = EPS * plain + eps * lengths.u + 0.5 * lengths.u_error + unbalanced
    if task.squared:
        ridge, summed = sum_of(lambda rows: task.alpha[rows] * (task.alpha[rows] / (4 * task.bound[rows])), n)
        dual, dual_error = dual - ridge, dual_error + summed + 8 * EPS * ridge
    dual_error += (2 * CLOSE + EPS) * abs(dual)
    return Sums(
        primal=float(primal),
        primal_error=float(primal_error),
        dual=float(dual),
        dual_error=float(dual_error),
        pull=float(0.5 * lengths.apart),
        pull_error=float(0.5 * lengths.apart_error),
        slackness=float(slackness),
        slackness_error=float(slackness_error),
    )
