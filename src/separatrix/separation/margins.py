"""min over i and c of the lead of row i over class c, divided by ‖w_y - w_c‖: from below, without a doubt."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates._data import TINY
from separatrix.certificates._exact import length_above, lengths_between, products, rational, scores_with_error
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts

EXACT = 2000  # leads that are computed without rounding, of those that rounding may have made the smallest
SHARE = 1e-9  # of the margin, not stated: a checker then sees in float64 that points at the margin are beyond it
SMALL = 1e-290  # weights and distances below this have few digits in float64


def margin_below(design: Design, codes: Integers, coef: Array, intercept: Array) -> float:
    """A lower bound on the margin, a share of SHARE or two below it; not positive if some row is on the wrong side.

    Lower than that if more than EXACT leads might be the smallest, as far as float64 can tell.

    Parameters
    ----------
    design : Design
        The user's rows.
    codes : integer array of shape (n,)
        Their classes, from 0 to k - 1.
    coef, intercept : arrays of shape (1, d) and (1,), or (k, d) and (k,)
        Weights of the second class of two, the first having 0; or of each class. Floats or Fractions.
    """
    if len(coef) == 1:
        coef, intercept = np.vstack([coef * 0, coef]), np.append(intercept * 0, intercept)
    k = len(coef)
    W, b = coef.astype(np.float64), intercept.astype(np.float64)
    if np.abs(W).max() < SMALL:
        return -np.inf
    plain = replace(design, offset=None, rest=None, scale=None)
    least, at, depth = plain.reduce(_smallest, codes, args=(W, b), rules=("rows", "rows", "max"))
    ceiling = -float(depth)
    if SMALL < (1 - SHARE) * ceiling <= least.min(initial=np.inf):
        return (1 - SHARE) * float(least.min())
    kept = least <= 1.001 * ceiling if ceiling > 0 else least <= 0
    least, at = least[kept], at[kept]
    order = np.lexsort((at, least))
    rest = float(least[order[EXACT]]) * 0.999 if len(order) > EXACT else np.inf
    best = rest
    for place in at[order[:EXACT]].tolist():
        i, c = divmod(place, k)
        best = min(best, _distance(design.row(i), coef, intercept, int(codes[i]), c))
    return (1 - SHARE) * best


def _smallest(block: Block, own: Array, W: Floats, b: Floats) -> Parts:
    """Lower bounds of the leads that may be the smallest of the block, their places, and minus an upper bound of it.

    No lead is the smallest if even rounded down it is above another one rounded up.
    """
    rows, k = np.arange(len(own)), len(W)
    longest, shortest = lengths_between(W)
    scores, error = scores_with_error(block.x, W, b)
    with np.errstate(all="ignore"):
        error = 2 * error + TINY * np.asarray(abs(block.x).sum(axis=1)).reshape(-1, 1)
        lead = scores[rows, own][:, None] - scores
        doubt = 1.001 * (error[rows, own][:, None] + error)
        least, most = lead - doubt, lead + doubt
        least = least / np.where(least > 0, longest[own], shortest[own])
        most = most / np.where(most > 0, shortest[own], longest[own])
    others = np.arange(k) != own[:, None]
    least = np.where(np.isnan(least), -np.inf, least)
    top = float(np.min(most, initial=np.inf, where=others & ~np.isnan(most)))
    at = np.flatnonzero(others & (least <= top))
    return least.ravel()[at], block.first * k + at, -top


def _distance(row: Floats, coef: Array, intercept: Array, own: int, rival: int) -> float:
    """The lead of a row over a rival, divided by ‖w_own - w_rival‖: rounded down once, at the end."""
    w = [rational(p) - rational(q) for p, q in zip(coef[own], coef[rival], strict=True)]
    length = length_above(w)
    lead = products(row[None], w)[0] + rational(intercept[own]) - rational(intercept[rival])
    return _down(lead / length) if length else -np.inf


def _down(value: Fraction) -> float:
    """The largest float that is not above the value."""
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else float(np.nextafter(nearest, -np.inf))
