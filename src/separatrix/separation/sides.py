"""On which side of a hyperplane each row lies, proved; and what follows: a separator, or a count of errors."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array, Floats
from separatrix.certificates import ErrorBound, Separator
from separatrix.certificates._data import EPS, TINY
from separatrix.certificates._exact import exact_signs
from separatrix.certificates._held import blocks_of
from separatrix.design import Block, Design
from separatrix.design.reducing import Parts
from separatrix.separation.margins import margin_below
from separatrix.targets import Targets

EXACT = 2.0**53  # float64 adds whole numbers up to this without rounding
HASHED = 2_000_000  # entries of a table whose rows are compared with each other


def sides(design: Design, w: Floats, b: float) -> tuple[Floats, Array]:
    """w.x + b in float64 for every row, and its sign -1, 0 or +1 in exact arithmetic.

    Float64 with a bound on its rounding error decides first, rational arithmetic where the bound is too wide.
    """
    whole = bool((np.rint(w) == w).all() and np.rint(b) == b)
    scores, doubtful = design.rows(_scored, args=(w, b, whole))
    signs = np.sign(np.nan_to_num(scores)).astype(np.int8)
    for some in blocks_of(len(doubtful), design.d):  # together: w is made whole numbers once, not for each row
        rows = doubtful[some]
        signs[rows] = exact_signs(np.array([design.row(i) for i in rows]), w, b)
    return scores, signs


def separator(design: Design, targets: Targets, task: int, w: Floats, b: float) -> Separator | None:
    """The certificate that y_i (w.x_i + b) > 0 for every row of one task, or None if that is not so."""
    if not w.any():
        return None
    y = targets.task_signs(task)
    margin = margin_below(design, (y > 0).astype(np.intp), w[None], np.array([b]))
    if not margin > 0:  # a wrong row, or many that only exact arithmetic can tell from the boundary
        _, signs = sides(design, w, b)
        if not (y * signs > 0).all():
            return None
    return Separator(targets.classes, w[None].copy(), np.array([b]), targets.positive(task), max(0.0, margin))


def wrong(design: Design, y: Floats, w: Floats, b: float) -> Array:
    """Which rows are on the wrong side, a score of 0 counting as positive; without rounding."""
    _, signs = sides(design, w, b)
    return np.asarray((signs >= 0) != (y > 0))


def error_bound(
    design: Design, targets: Targets, task: int, w: Floats, b: float, errors: float, lower_bound: float, proof: str
) -> ErrorBound:
    """The certificate of the errors of a hyperplane, and of what is proven necessary."""
    return ErrorBound(
        classes=targets.classes,
        coef=w[None].copy(),
        intercept=np.array([b]),
        positive=targets.positive(task),
        class_weight=targets.class_weight,
        errors=errors,
        lower_bound=lower_bound,
        proof=proof,
        fit_intercept=design.intercept,
    )


def identical_rows(design: Design, targets: Targets, weight: Floats, task: int) -> float:
    """Of equal rows with opposite labels the lighter side is wrong: the sum, or 0 for data too large to compare."""
    if design.n * design.d > HASHED:
        return 0.0
    group, _ = design.groups()
    positive = targets.task_signs(task) > 0
    sums = [np.bincount(group, weights=weight * side, minlength=design.n) for side in (positive, ~positive)]
    return float(np.minimum(*sums).sum())


def length(w: Floats) -> float:
    """‖w‖ without a square that overflows or vanishes; 0 for w = 0."""
    largest = float(np.abs(w).max(initial=0.0))
    return largest * float(np.linalg.norm(w / largest)) if largest > 0 else 0.0


def _scored(block: Block, w: Floats, b: float, whole: bool) -> Parts:
    """Scores, and which rows may be on the other side for all that float64 can tell."""
    x = block.x
    with np.errstate(all="ignore"):
        scores = np.asarray(x @ w + b)
        size = np.asarray(abs(x) @ np.abs(w) + abs(b))
    entries = x.data if hasattr(x, "indptr") else x
    if whole and size.max() < EXACT and (np.rint(entries) == entries).all():
        return scores, np.zeros(0, dtype=np.intp)
    unclear = ~(np.abs(scores) > (block.design.d + 8) * (EPS * size + TINY))
    return scores, block.first + np.flatnonzero(unclear)
