"""By which way the machine of a pair of classes is found: pure functions of the shape."""

from __future__ import annotations

from separatrix.svm.linear.choose import FACTORED_ORDER


def held_in_full(n: int) -> bool:
    """Whether the kernel matrix of so many points is made: 32 MB at most, and a system of its order can be factored."""
    return n <= FACTORED_ORDER
