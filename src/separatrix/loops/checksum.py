"""A checksum of 64-bit words, as fast as they come from memory: for blocks of a file, which are read again and again.

With m_i = w_i xor (w_i >> 32), of word i = 32 t + l, lane l has h_l = sum_t m_i q^(T-1-t) mod 2^64, T words a lane; the
checksum is n r^32 + sum_l h_l r^(31-l), its high half folded into the low one. q and r are odd, so that no single word
can change unseen, and words that change places, or become 0, are seen too; it is no protection against forgery. One
factor would give words i and i + 31 the same power.
"""

from __future__ import annotations

import numpy as np

from separatrix._typing import Array
from separatrix.loops.binding import native

FACTOR = 0x9E3779B97F4A7C15  # q: odd, its bits without a pattern; 2^64 over the golden ratio
ACROSS = 0xC2B2AE3D27D4EB4F  # r: another such prime
LANES = 32  # as in checksum.c: so many that a processor has always some to go on with
BYTES = 8 * LANES  # what is checked is a multiple of this


@native("checksum", "u8[] i8 u8 u8", returns="u8")
def _checksum(words: Array, n: int, factor: int, across: int) -> int:
    mixed = (words[:n] ^ (words[:n] >> np.uint64(32))).reshape(-1, LANES)
    powers = np.full(len(mixed), factor, dtype=np.uint64)
    powers[-1:] = 1
    powers = np.multiply.accumulate(powers[::-1])[::-1]
    sums = (mixed * powers[:, None]).sum(axis=0, dtype=np.uint64)
    total = n
    for lane in sums.tolist():
        total = (total * across + lane) % 2**64
    return total ^ (total >> 32)


def checksum(data: Array) -> int:
    """The checksum of an array of bytes in C order, a multiple of `BYTES` of them."""
    words = data.view(np.uint64)
    return _checksum(words, len(words), FACTOR, ACROSS)
