"""A function of row blocks over all of them, put together by declared rules in a fixed order.

A block function has a name in a module and plain arguments, so that it can be sent to where rows are; it returns a
tuple of new arrays or numbers, and writes nowhere. Chunks are fixed by the shape of the data: threads change no bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from separatrix._typing import Array
from separatrix.loops import threads

if TYPE_CHECKING:
    from separatrix.design.base import Design

BLOCK_BYTES = 1 << 21  # a block and what is made of it stay near the second-level cache
INLINE_BYTES = 1 << 22  # below this, sharing out the work among threads costs more than it saves
CHUNKS = 16  # fixed, so that sums do not depend on the number of threads

Parts: TypeAlias = tuple[Any, ...]
BlockFn: TypeAlias = Callable[..., Parts]
Rules: TypeAlias = str | Sequence[str]


def reduced(
    design: Design, block_fn: BlockFn, rows: Sequence[Array], args: Parts, rules: Rules, block_bytes: int
) -> Parts:
    """See `Design.reduce`."""
    n, step = design.n, design.block_rows(block_bytes)
    if design.nbytes <= INLINE_BYTES or n <= step:
        return _joined(_listed(rules, block_fn(design.only_block, *rows, *args)))
    per_chunk = -(-n // (step * CHUNKS)) * step

    def chunk(start: int) -> Parts:
        stop = min(start + per_chunk, n)
        total: Parts | None = None
        for first in range(start, stop, step):
            block = design.block(first, min(first + step, stop))
            parts = block_fn(block, *[r[block.rows] for r in rows], *args)
            total = _combined(rules, total, _listed(rules, parts))
        assert total is not None
        return total

    whole: Parts | None = None
    with threads.single_threaded_blas():
        for part in threads.over(range(0, n, per_chunk), chunk):
            whole = _combined(rules, whole, part)
    assert whole is not None
    return _joined(whole)


def together(found: Sequence[Parts], rules: Rules) -> Parts:
    """What was reduced of some rows, then of the next, and so on, put together by the same rules."""
    whole = tuple(np.array(part) if isinstance(part, np.ndarray) else part for part in found[0])  # to be added to
    for number, parts in enumerate([whole, *found[1:]]):
        listed = _listed(rules, parts)
        whole = listed if number == 0 else _combined(rules, whole, listed)
    return _joined(whole)


def _each(rules: Rules, count: int) -> Sequence[str]:
    return [rules] * count if isinstance(rules, str) else rules


def _listed(rules: Rules, parts: Parts) -> Parts:
    """Values of rows in lists of one, which are joined at the end."""
    return tuple([part] if rule == "rows" else part for rule, part in zip(_each(rules, len(parts)), parts, strict=True))


def _joined(parts: Parts) -> Parts:
    """Values of rows one after another, in C order however blocks had them."""
    return tuple(
        part
        if not isinstance(part, list)
        else np.ascontiguousarray(part[0] if len(part) == 1 else np.concatenate(part))
        for part in parts
    )


def _combined(rules: Rules, total: Parts | None, parts: Parts) -> Parts:
    if total is None:
        return parts
    found = []
    for rule, old, new in zip(_each(rules, len(parts)), total, parts, strict=True):
        if rule == "max":
            old = np.maximum(old, new)
        else:
            old += new  # lists and arrays in place
        found.append(old)
    return tuple(found)
