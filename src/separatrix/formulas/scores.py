"""Scores of models without hyperplanes: of some dense rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix._typing import Floats
from separatrix.certificates._held import dense
from separatrix.loops.threads import single_threaded_blas

ENTRIES = 1 << 20  # of a block of rows or columns


def by_blocks(X: Any, width: int, scored: Callable[[Floats, int], Floats]) -> Floats:
    """What a function says of some dense rows and the number of the first, block under block.

    ``width`` is how many numbers it takes for each row.
    """
    n, step = X.shape[0], max(1, ENTRIES // max(width, 1))
    with single_threaded_blas(), np.errstate(all="ignore"):
        return np.vstack([scored(dense(X[first : first + step]), first) for first in range(0, n, step)])


def log_odds(scores: Floats) -> Floats:
    """(n, 1): of two classes, the score of the second less that of the first; of more, the scores (n, k)."""
    return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores
