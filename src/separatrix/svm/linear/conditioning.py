"""The rows about their centre, of length about 1: what an interior-point method starts from."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats
from separatrix.design import Design

ROWS = 2000  # that tell a typical length


def conditioned(design: Design, bound: Floats) -> tuple[Design, Floats, Floats]:
    """Rows about their centre of length about 1, and R and c of the objective divided by the largest C_i."""
    largest = float(bound.max())
    centred = design.centred(bound)
    scale = typical_length(centred, bound)
    ridge = np.zeros(design.p)
    ridge[: design.d] = 1.0 / largest / scale / scale
    return centred.scaled(np.full(design.d, 1.0 / scale)), ridge, bound / largest


def typical_length(centred: Design, weight: Floats) -> float:
    """Root mean square length of the rows about their centre, of some all over the data, or 1 if they are all equal."""
    every = max(1, centred.n // ROWS)
    part, weight = centred.take(slice(None, None, every)), weight[::every]
    squares = part.class_sums(np.zeros(part.n, dtype=np.intp), weight, 1, part.shift[None])
    length = float(np.sqrt(squares.sum() / weight.sum()))
    return length if length > 0 else 1.0
