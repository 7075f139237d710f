"""Which columns are far from the origin, and what to subtract from them so that products keep their digits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from separatrix._typing import Floats

if TYPE_CHECKING:
    from separatrix.design.base import Design

ANCHOR_ROWS = 256  # enough rows to see which columns are far from the origin
FAR = 10.0  # |mean| / deviation beyond which a column counts as far


def far_from_origin(design: Design) -> Floats | None:
    """The offset (d,) of a design that has none yet: 0 for columns near the origin; None if all are.

    The first rows tell which columns are far. The offset is the first entry of the column: any number near its values
    will do, and x - x_0 is exact where it matters, so that a constant column becomes 0.
    """
    movable = design.subtractable()
    if not movable.any():
        return None
    m, d = min(design.n, ANCHOR_ROWS), design.d
    head = design if design.in_memory else design.take(slice(m))  # read once
    first, ones = head.block(0, m), np.ones((m, 1))
    mean = first.tdot(ones)[:d, 0] / m
    deviation = np.sqrt(first.spread(ones, mean[None], np.zeros(m, dtype=np.intp))[0] / m)
    far = movable & (np.abs(mean) > FAR * deviation)
    if not far.any():
        return None
    entry = head.block(0, 1).tdot(np.ones((1, 1)))[:d, 0]
    return np.where(far, entry, 0.0)
