"""What support vector machines share: a dual point in balance."""

from __future__ import annotations

import numpy as np

from separatrix._typing import Floats


def balanced(alpha: Floats, y: Floats, bound: Floats) -> Floats:
    """alpha changed a little so that sum_i alpha_i y_i = 0 and 0 <= alpha_i <= bound_i still hold.

    The multipliers inside their bounds take up the difference, in proportion to their room; where they cannot, the
    heavier class is scaled down.
    """
    excess = float(y @ alpha)
    room = np.where(y * excess > 0, alpha, bound - alpha)
    room = np.where((alpha > 0) & (alpha < bound), room, 0.0)
    if 0.0 < abs(excess) <= 0.5 * float(room[np.isfinite(room)].sum()):
        room = np.where(np.isfinite(room), room, 0.0)
        alpha = alpha - y * excess * (room / room.sum())
        excess = float(y @ alpha)
    positive = y > 0
    plus, minus = float(alpha[positive].sum()), float(alpha[~positive].sum())
    if abs(plus - minus) <= 4 * np.finfo(np.float64).eps * (plus + minus):
        return alpha
    if min(plus, minus) == 0.0:
        return np.zeros_like(alpha)
    heavier = positive if plus > minus else ~positive
    return np.where(heavier, alpha * (min(plus, minus) / max(plus, minus)), alpha)
