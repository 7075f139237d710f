"""Columns of floats that are stored while they are read, with what an encoder wants to know of them.

They are written as the rows of a block file. If an encoder takes all of them as they are, and nothing else, that file
is the one that was wanted; else its rows are read again, and encoded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.data.encoder import Encoder
from separatrix.data.kinds import ROUNDING
from separatrix.data.numbers import NumberPlan, Summary
from separatrix.files import BlockWriter, Stored
from separatrix.files.layout import Contents, block_rows
from separatrix.files.place import Draft
from separatrix.loops.moments import TILE


class Quantities:
    """Columns of floats, NaN where a value is missing, as rows of a block file."""

    def __init__(self, draft: Draft) -> None:
        self.names: list[str] = []  # of the columns; none until they are known
        self._draft = draft
        self._writer: BlockWriter | None = None
        self._stored: Stored | None = None

    def begin(self, names: list[str]) -> int:
        """The columns that will come, and how many rows of them are added at a time."""
        self.names, d = names, len(names)
        self._writer = BlockWriter(self._draft, d)
        self._summary = Summary(d)
        return block_rows(d)

    def add(self, rows: Floats) -> None:
        """Further rows: as many as `begin` said; fewer are the last."""
        assert self._writer is not None
        self._summary.add(rows)
        self._writer.add(rows)

    def fit(self, encoder: Encoder) -> bool:
        """Whether the rows are what the encoder would make of them: it takes all these columns as they are."""
        if self._writer is None or self._stored is not None or encoder.sparse:
            return False
        plain = encoder.to_dict()
        plans = [plan | {"mean": 0.0} for plan in plain["plans"] or ()]
        as_is = [NumberPlan(name).to_dict() for name in self.names]
        gaps = self._summary.missing.any() or not np.isfinite([self._summary.low, self._summary.high]).all()
        return plans == as_is and not plain["aliased"] and not gaps

    def finish(self, arrays: dict[str, Array], notes: dict[str, Any]) -> Contents:
        """The block file is the one that is wanted."""
        assert self._writer is not None
        return self._writer.finish(arrays, notes)

    def set_aside(self) -> None:
        """What was written is to be read again; the draft is a new file, and still empty."""
        if self._writer is not None and self._stored is None:
            contents = self._writer.finish({}, {})
            self._stored = Stored(self._draft.anew(), self._draft.name, contents)

    def close(self) -> None:
        """Give back what was set aside."""
        if self._stored is not None:
            self._stored.close()

    def rows(self, start: int, stop: int) -> Floats:
        """Rows start to stop, in memory."""
        self.set_aside()
        assert self._stored is not None
        found = self._stored[start:stop]
        return np.asarray(found.toarray() if self._stored.sparse else found, dtype=np.float64)

    def plans(self, wanted: Sequence[str], has: Integers, n: int, scale: bool) -> dict[str, NumberPlan]:
        """The plans for those columns that are surely numbers, in these rows of n, as their sums and extremes show."""
        if not set(self.names).intersection(wanted):
            return {}
        summary = self._summary if len(has) == n else Summary.of(self._some(has, n), len(self.names))
        sure = summary.sure(ROUNDING)
        scales = summary.scales(self._some(has, n)) if scale else np.ones(len(self.names))
        made = zip(self.names, sure, summary.missing > 0, summary.means, scales, strict=True)
        return {
            name: NumberPlan(name, bool(gaps), False, float(mean), float(spread))
            for name, good, gaps, mean, spread in made
            if good and name in wanted
        }

    def _some(self, has: Integers, n: int) -> Iterator[Floats]:
        """Some rows of n, a multiple of `TILE` at a time."""
        step, held = block_rows(len(self.names)), np.empty((0, len(self.names)))
        for start in range(0, n, step):
            low, high = np.searchsorted(has, [start, start + step])
            rows = self.rows(start, min(start + step, n))[has[low:high] - start]
            held = np.concatenate([held, rows])
            whole = len(held) // TILE * TILE
            yield held[:whole]
            held = held[whole:].copy()
        yield held
