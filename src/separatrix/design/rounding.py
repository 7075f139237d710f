"""What rounding does to scores and sums: bounds that a claim is measured against before it is made."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Block, Design
from separatrix.design.reducing import INLINE_BYTES, Parts
from separatrix.errors import InvalidInputError

LEAST = 256  # rows of a block of sparse rows, if there are so many
SHORTEST = 1e-145  # a column that varies less has no square worth the name


def exact_units(design: Design, coef: Floats, intercept: Floats) -> Floats:
    """V (p, tasks) of weights in the user's units; b + offset.w, which cancels for columns far from 0, rounds once."""
    V = design.from_user_units(coef, intercept)
    if not design.intercept or design.offset is None:
        return V
    far = np.flatnonzero(design.offset)
    offset = [Fraction(entry) for entry in design.offset[far].tolist()]
    for task, (w, b) in enumerate(zip(coef[:, far].tolist(), intercept.tolist(), strict=True)):
        exact = sum((o * Fraction(v) for o, v in zip(offset, w, strict=True)), Fraction(b))
        V[design.d, task] = float(exact) + (0.0 if design.rest is None else float(design.rest @ coef[task]))
    return V


def far_sizes(design: Design, V: Floats) -> Floats:
    """The sizes of the terms that all scores share, whether about the first row or about the mean: (tasks,)."""
    W = np.abs(V[: design.d])
    far = (abs(design.block(0, 1).x) @ W)[0] + np.abs(V[design.d :]).sum(axis=0)
    return np.asarray(far if design.rest is None else far + 2 * np.abs(design.rest) @ W)


def score_sizes(design: Design, V: Floats) -> Floats:
    """The sizes of all terms that a row's score is the sum of: (n, tasks)."""
    (sizes,) = design.rows(_sizes, args=(np.abs(V[: design.d]), far_sizes(design, V)))
    return np.asarray(sizes)


def _sizes(block: Block, W: Floats, far: Floats) -> Parts:
    return (abs(block.x) @ W + far,)


def depth(design: Design) -> int:
    """A sum over all rows, in blocks of a million entries, is off by at most this times eps of its terms' sizes."""
    rows = max(1, 1_000_000 // max(design.d, 1))
    return min(rows, design.n) + design.n // rows + design.partings[0] + 8


def addends(design: Design, block_bytes: int) -> tuple[int, float]:
    """How many rows are summed as a block, at most, and how many such sums are added up."""
    parts, longest = design.partings
    step = design.block_rows(block_bytes)
    if not parts:
        rows = design.n if design.nbytes <= INLINE_BYTES else min(design.n, step)
        return rows, design.n / rows
    # a part of less than INLINE_BYTES is one block; each part may end in a short one
    least = LEAST if design.sparse else step
    return longest if design.sparse else min(longest, 2 * step), design.n / least + parts


def check_lengths(design: Design, length: Floats) -> None:
    """Refuse columns that vary so little that squares underflow."""
    short = np.flatnonzero(length < SHORTEST)
    short = short[(length[short] > 0) | ~design.constant(short)] if len(short) else short
    if len(short):
        raise InvalidInputError(
            f"{design.column(int(short[0]))} varies by less than {SHORTEST:g}, or by nothing but rounding among the "
            "rows that weigh most, so that its square is lost: multiply the column by a large number, or bring the "
            "weights of the rows closer together."
        )
