"""By which way the machine of a pair of classes is found: pure functions of the shape."""

from __future__ import annotations

from separatrix.solvers.newton import FACTORED_ORDER

# points of a pair up to which it is solved with others of its size. 4,950 pairs of 10 points: .3 s, one by one 3.5 s;
# 780 of 30: .09 and .59 s; 190 of 80: .10 and .14 s, with k linear .13 and .10 s; 45 of 360: .44 and .1 s
TOGETHER = 32


def held_in_full(n: int) -> bool:
    """Whether the kernel matrix of so many points is made: 32 MB at most, and a system of its order can be factored."""
    return n <= FACTORED_ORDER
