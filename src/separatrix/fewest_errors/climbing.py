"""A hyperplane with few errors, soon: exact line searches on the errors from several starts.

Along V + t U the score of row i is s_i + t g_i, which changes sign once, at t = -s_i / g_i; sorted, these give the
errors for every t.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.fewest_errors.budget import LINES, SIGNS, Budget

ROUNDS = 400  # line searches without a better result before a start is given up


def climb(Z: Floats, weight: Floats, starts: list[Floats], budget: Budget) -> tuple[Floats, float]:
    """v with few errors sum weight_i [z_i.v <= 0], and their weight, over line searches from each start.

    Parameters
    ----------
    Z : array of shape (m, p)
        Rows y_i (x_i, 1).
    weight : array of shape (m,)
    starts : list of arrays of shape (p,)
    budget : Budget
    """
    draw = np.random.default_rng(0)
    best, fewest = starts[0], np.inf
    for start in starts:
        v = start / (np.linalg.norm(start) or 1.0)
        errors = float(weight[Z @ v <= 0].sum())
        quiet = 0
        while True:
            if errors < fewest:
                best, fewest = v, errors
            if quiet >= ROUNDS or fewest == 0 or not budget.left:
                break
            budget.spend(1.0 / LINES + Z.size / (4 * SIGNS))
            found, v = _line(Z, weight, v, _direction(Z, weight, v, draw))
            quiet = 0 if found < errors else quiet + 1
            errors = found
        if fewest == 0 or not budget.left:
            break
    return best, fewest


def _direction(Z: Floats, weight: Floats, v: Floats, draw: np.random.Generator) -> Floats:
    """A random way to go: towards a wrong row, a coordinate, or anywhere."""
    kind = draw.integers(3)
    wrong = np.flatnonzero(Z @ v <= 0)
    if kind == 0 and len(wrong):
        return Z[draw.choice(wrong)]
    if kind == 1:
        U = np.zeros(len(v))
        U[draw.integers(len(v))] = 1.0
        return U
    return draw.standard_normal(len(v))


def _line(Z: Floats, weight: Floats, v: Floats, U: Floats) -> tuple[float, Floats]:
    """The fewest errors on the line v + t U, and a point in the middle of where they are, nearest to t = 0."""
    s, g = Z @ v, Z @ U
    moving = g != 0
    with np.errstate(all="ignore"):
        t = -s[moving] / g[moving]
    rising, c = g[moving] > 0, weight[moving]
    order = np.argsort(t, kind="stable")
    t, change = t[order], np.where(rising, -c, c)[order]
    base = float(weight[~moving & (s <= 0)].sum()) + float(c[rising].sum())  # at t = -inf the rising rows are wrong
    errors = base + np.append(0.0, np.cumsum(change))
    ends = np.concatenate([[t[0] - 2.0], t, [t[-1] + 2.0]]) if len(t) else np.array([-1.0, 1.0])
    wide = np.diff(ends) > 1e-12 * (1 + np.abs(ends[1:]))
    errors = np.where(wide, errors, np.inf)
    fewest = errors.min()
    middle = (ends[:-1] + ends[1:]) / 2
    candidates = np.flatnonzero(errors <= fewest + 1e-12 * weight.sum())
    at = middle[candidates[np.argmin(np.abs(middle[candidates]))]]
    new = v + at * U
    new = new / (np.linalg.norm(new) or 1.0)
    return float(weight[Z @ new <= 0].sum()), new
