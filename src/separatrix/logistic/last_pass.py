"""F and its dual value at given weights, in one pass over a large table, with bounds on what rounding can do.

Mixing the fit's probabilities with a constant prediction q makes the residuals of each class sum to 0, as the dual of a
free intercept requires. One pass over the rows, about their anchor, gives every sum for any mixture but the entropy,
which needs the probabilities only. The errors are uniform ones, from the largest entry of each column.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates import LogisticGap
from separatrix.certificates._logistic import Bounds, after_spill, class_centres, levels, mixture
from separatrix.design import Block, Design
from separatrix.design.reducing import BLOCK_BYTES, Parts
from separatrix.design.rounding import addends
from separatrix.losses.softmax import shares
from separatrix.targets import Targets

EPS = float(np.finfo(np.float64).eps)
TINY = float(np.finfo(np.float64).tiny)
PAIRWISE = 64  # roundings in a sum that NumPy adds up by pairs


def swept(design: Design, targets: Targets, weight: Floats, claim: LogisticGap) -> Bounds:
    """F(w, b), and C sum_i c_i entropy(P_i) - 1/2 ‖C sum_i c_i (P_i - Y_i) x_i'‖² at P = the mixed probabilities."""
    anchored = design.anchored()
    coef, C = np.asarray(claim.coef, dtype=np.float64), claim.C
    K, d = coef.shape
    V = anchored.from_user_units(coef, claim.intercept)
    if design.intercept:
        offset = anchored.offset if anchored.offset is not None else np.zeros(d)
        V[d] = levels(offset, coef, claim.intercept)
    known = anchored.largest
    used = 2 * K + 1 if design.intercept else K  # moments: without an intercept, nothing is mixed
    args = V, used, design.near, known is None
    rules = "sum", "sum", "sum", "sum", "max", "max", "rows" if design.near else "sum"
    loss, moments, sums, taken, sizes, longest, last = anchored.reduce(
        _sums, targets.values, weight, args=args, rules=rules
    )
    moments, sizes = moments[:d], sizes if known is None else known
    total = float(sums[-1])
    share, spill = sums[K : 2 * K] / total, sums[:K] / total
    theta, constant = mixture(share, spill) if design.intercept else (0.0, share)
    if not design.near:  # an entropy is concave: that of a mixture is at least the mixture of entropies
        entropy = (1 - theta) * last + theta * total * float(_entropies(constant[:, None])[0])
    else:
        P = last.T
        if theta > 0.0:
            P *= 1 - theta
            P += theta * constant[:, None]
        entropy = float((_entropy(P) * weight).sum()) + (float((_entropy(1.0 - P) * weight).sum()) if K == 1 else 0.0)
    residual = moments[:, :K]
    if theta > 0.0:  # sum c (P - Y) x = (1 - theta) sum c (p - Y) x + theta (sum c x q - sum c Y x)
        residual = (1 - theta) * residual + theta * (np.outer(moments[:, -1], constant) - moments[:, K : 2 * K])
    if claim.reference and K > 1:
        residual = residual[:, :-1]

    rows, blocks = addends(design, BLOCK_BYTES)
    adding = (PAIRWISE + blocks + K) * EPS  # of a sum of numbers, relative to the sum of their sizes
    multiplying = adding + rows * EPS  # of one of products, as BLAS may add them one after the other
    score = (int(longest) + 8) * EPS * float((np.abs(coef) @ sizes + np.abs(V[d:].sum(axis=0))).max()) + TINY
    penalty = 0.5 * float((coef**2).sum())
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite gap says that this dual point says nothing
        primal = C * loss + penalty
        # a loss changes by at most 2 q times what the scores do, q the probability of the other classes
        primal_error = C * (2.0 * score * np.exp(2.0 * score) * float(taken.sum()) + total * (K + 8) * EPS)
        primal_error += (adding + 8 * EPS) * primal
        pull = C * np.abs(residual)
        moved = C * (taken + (3.0 * theta + 4.0 * EPS) * total)  # at most the sum of the residuals' sizes
        off = (multiplying + 16 * EPS) * sizes[:, None] * moved[: residual.shape[1]]
        # near 0 and 1, where its slope is largest, an entropy changes by at most 40 times what a probability does
        dual_error = C * total * 40 * (K + 16) * EPS + (adding + 8 * EPS) * C * entropy
        dual_error += float((off * (pull + off)).sum())
        dual = C * entropy - 0.5 * float((pull * pull).sum())
        if design.intercept:
            spilled = (adding + 16 * EPS) * float(moved.sum())
            if K == 1:
                share = np.append(share, float(weight[targets.values == 0].sum()) / total)
            means = np.vstack([moments[:, K : 2 * K].T, moments[:, -1]])
            centres = class_centres(share, means, total, multiplying * total * sizes)
            dual = (
                after_spill(dual - dual_error, spilled, C * total, *centres, primal + primal_error, coef) + dual_error
            )
        dual = dual if dual - dual_error > 0 else 0.0
    return Bounds(primal, primal_error, dual, dual_error if dual > 0 else 0.0)


def _entropies(P: Floats) -> Floats:
    """The entropy of each column of P (K, ·); of one row, the probabilities of the other class are 1 - P."""
    found = _entropy(P)
    return found + _entropy(1.0 - P) if len(P) == 1 else found


def _entropy(P: Floats) -> Floats:
    """The sum over the rows of P of -p log p."""
    return -np.einsum("ki,ki->i", P, np.log(np.maximum(P, TINY)))


def _sums(block: Block, codes: Array, c: Floats, V: Floats, used: int, near: bool, look: bool) -> Parts:
    """Loss, moments, sums of c (p - Y), c Y and c, |p - Y|, the largest entries, the longest row; and p, or c H(p).

    The largest entries are looked for if so asked, else they are 0: it takes as long as all the rest.
    """
    x, K = block.x, V.shape[1]
    if block.design.sparse:
        sizes = np.full(block.design.d, float(np.abs(x.data).max(initial=0.0)))
        longest = int(np.diff(x.indptr).max(initial=0))
    else:
        sizes = np.maximum(x.max(axis=0), -x.min(axis=0)) if look else np.zeros(block.design.d)
        longest = block.design.d
    S = np.ascontiguousarray(block.dot(V).T)  # a row a class: NumPy is slow along few columns
    R = np.zeros((2 * K + 1, len(c)))  # p - Y, Y and 1
    p, Y = R[:K], R[K:-1]
    if K == 1:
        Y[0] = codes
        e = np.exp(-np.abs(S))
        losses = (np.maximum(S, 0.0) - S * Y + np.log1p(e))[0]
        p[:] = np.where(S >= 0, 1.0, e) / (1.0 + e)
    else:
        rows = np.arange(len(c))
        Y[codes, rows] = 1.0
        p[:], log_total, below = shares(S)
        losses = log_total - below[codes, rows]
    last = p.T.copy() if near else float((c * _entropies(p)).sum())
    p -= Y
    R[-1] = 1.0
    R *= c
    return float((c * losses).sum()), block.tdot(R[:used].T), R.sum(axis=1), np.abs(p).sum(axis=1), sizes, longest, last
