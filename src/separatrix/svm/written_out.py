"""The features of a polynomial kernel written out: (gamma a.b + coef0)^p is an inner product of products of p entries.

Kernel values are squares of lengths, so a margin below 1e-8 of the points' length vanishes in their rounding; in the
features themselves it would have to be below 1e-16. Where the features are few they are what a hard margin is found in.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.certificates import Inseparable
from separatrix.design import as_design
from separatrix.errors import NotSeparableError
from separatrix.kernels import Kernel, KernelRows, Poly
from separatrix.svm.binding import Rows, binding
from separatrix.svm.kernel_margin import KernelWidest, Touching
from separatrix.svm.linear_svc import Settings, hard_margin
from separatrix.svm.walked import halfway

LONGEST = 1000  # features
LARGEST = 1 << 23  # entries of all points
HIGHEST = 30  # degree
SQUARED = 1e150  # an entry beyond this has a square beyond float64
ITERATIONS = 200


def written_out(kernel: Kernel, points: Any, rows: Integers) -> Floats | None:
    """phi(x) for the rows, (m, features), or None if the kernel is no polynomial, or one of too many features.

    With (gamma^(1/2) x, coef0^(1/2)) for x, the feature of a choice of p entries with repetition is their product times
    the root of the number of orders they can be chosen in.
    """
    if not isinstance(kernel, Poly) or kernel.coef0 < 0 or kernel.degree > HIGHEST:
        return None
    d = points.shape[1] + (kernel.coef0 > 0)
    width = comb(d + kernel.degree - 1, kernel.degree)
    if width > LONGEST or width * len(rows) > LARGEST:
        return None
    x = points[rows]
    x = np.sqrt(kernel.gamma) * np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=np.float64)
    if kernel.coef0 > 0:
        x = np.column_stack([x, np.full(len(x), np.sqrt(kernel.coef0))])
    Z = np.ones((len(x), width))
    with np.errstate(over="ignore", invalid="ignore"):
        for column, chosen in enumerate(combinations_with_replacement(range(d), kernel.degree)):
            orders = factorial(kernel.degree) // prod(factorial(count) for count in Counter(chosen).values())
            for j in chosen:
                Z[:, column] *= x[:, j]
            Z[:, column] *= np.sqrt(orders)
    return Z if np.abs(Z).max(initial=0.0) < SQUARED else None  # False for NaN


def hard_margin_written_out(
    Z: Floats, rows: KernelRows, y: Floats, tol: float, single: bool, intercept: bool
) -> KernelWidest | Touching:
    """The maximum margin in the features themselves, as a sum over the points."""
    design = as_design(Z, intercept)
    try:
        found = hard_margin(design, y, Settings(np.inf, "hinge", 0.1 * tol, ITERATIONS), np.array([-1, 1]))
    except NotSeparableError as error:
        proof = error.certificate
        assert isinstance(proof, Inseparable)
        return Touching(np.asarray(proof.weights, dtype=np.float64))
    # w itself is near the sum that alpha makes, but the model is the sum: take the alpha whose sum is best
    trials = [
        _model(Z, y, alpha, single, intercept) for alpha in (found.alpha, binding(Rows(design, y), y, found.alpha))
    ]
    c, b, scores, lower = max(trials, key=lambda trial: trial[3])
    return KernelWidest(c, found.alpha, b, scores, lower, max(found.upper, lower), found.n_iter)


def _model(Z: Floats, y: Floats, alpha: Floats, single: bool, intercept: bool) -> tuple[Floats, float, Floats, float]:
    """c = alpha y and b, scaled to a smallest margin of 1 and rounded as asked; the scores, and the margin."""
    c = alpha * y
    f = Z @ (Z.T @ c)
    b = halfway(f, y, intercept)
    smallest = float((y * (f + b)).min())
    if smallest > 0:
        c, b = c / smallest, b / smallest
    if single:
        c, b = c.astype(np.float32).astype(np.float64), float(np.float32(b))
    w = Z.T @ c
    scores = Z @ w + b
    return c, b, scores, float((y * scores).min()) / float(np.linalg.norm(w)) if w.any() else -np.inf
