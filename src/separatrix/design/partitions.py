"""Partitions: rows that processes elsewhere hold, in place of a matrix; what a fit asks of them goes to where they are.

Who holds the partitions, and how they are all called, is a `Holder`: this module neither knows nor asks. It sends a
function by its name with plain arguments, and adds up what comes back in the order of the partitions, so that the
partitioning, which is part of the data, decides every bit, and who held which partition none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Integers
from separatrix.design import parts
from separatrix.design.parts import Answers, Job, Order, Packed, Part, Told, Trouble
from separatrix.errors import ClusterError, InvalidInputError
from separatrix.files.elsewhere import Piece, RowsElsewhere
from separatrix.loops import threads

LIVE = 6  # arrays with a number for each row that partitions keep: labels, weights, curvatures, and what changes
ROOM = 0.3  # of a worker's memory is for the partitions of one task; Dask begins to spill at 0.6
FEW = 1 << 16  # entries of all rows, up to which they come here as soon as single rows are asked for


class Holder(Protocol):
    """Who holds the partitions: all that another engine has to give."""

    def load(self) -> list[Told]:
        """Load each partition by `parts.load`, for as long as this lives, and say what `parts.tell` says of it."""

    def call(self, orders: Mapping[int, Order], job: Job) -> Answers:
        """`parts.perform` of these partitions, each in a process that holds it; one that was lost is loaded anew."""

    def close(self) -> None:
        """Let go of all partitions, whatever state they are in."""


class Here:
    """A holder whose partitions are in the memory of this process, and our own threads work on them."""

    def __init__(self, held: Sequence[Part]) -> None:
        self.held = {part.number: part for part in held}

    def load(self) -> list[Told]:
        """See `Holder`."""
        return threads.over(self.held.values(), parts.tell)

    def call(self, orders: Mapping[int, Order], job: Job) -> Answers:
        """See `Holder`."""
        found = threads.over(orders, lambda number: parts.perform([self.held[number]], [orders[number]], job))
        return {number: answer for answers in found for number, answer in answers.items()}

    def close(self) -> None:
        """See `Holder`."""
        self.held.clear()


def shared_out(
    holders: Mapping[int, list[str]], size: Mapping[int, float], workers: Mapping[str, Any]
) -> list[tuple[str, list[int]]]:
    """A worker, and partitions that one of its threads goes through, for all of them.

    Those of a worker are shared out to its threads, if there is room for all: a task needs all of its partitions in
    memory, and where they are too many, some are on the disk of the worker, and come back one at a time.
    """
    at: dict[str, list[int]] = {}
    for number, there in holders.items():
        home = min(there or sorted(workers), key=lambda worker: (len(at.get(worker, ())), worker), default="")
        at.setdefault(home, []).append(number)
    homes = []
    for home, numbers in at.items():
        worker = workers.get(home, {"nthreads": 1, "memory_limit": 0})
        room = ROOM * (worker["memory_limit"] or np.inf)  # 0 for no limit
        roomy = sum(size[number] for number in numbers) <= room
        shares = min(len(numbers), max(1, worker["nthreads"])) if roomy else len(numbers)
        homes += [(home, numbers[share::shares]) for share in range(shares)]
    return homes


class Partitions(RowsElsewhere):
    """Rows that a holder has, in partitions; those without rows are passed over.

    Parameters
    ----------
    holder : Holder

    Attributes
    ----------
    names : list of str or None
        Of the columns.
    """

    where = "on workers"
    sample = "X.partitions[0].compute()"
    whole = "X.compute()"

    def __init__(self, holder: Holder) -> None:
        self._holder = holder
        told = [part for part in sorted(holder.load()) if part.rows]
        if not told:
            raise InvalidInputError("X has no rows: every partition is empty.")
        self._told = {part.number: part for part in told}
        self._check(told)
        self._numbers = np.array([part.number for part in told])
        self._starts = np.append(0, np.cumsum([part.rows for part in told]))
        self.shape = (int(self._starts[-1]), told[0].columns)
        self.sparse, self.names = told[0].sparse, told[0].names
        self.dtype = np.dtype(np.float32 if all(part.single for part in told) else np.float64)
        self.nnz = sum(part.entries for part in told)
        self.column_ends = np.array(  # the smallest and the largest of each column; NaN where there is one
            [np.min([part.ends[0] for part in told], axis=0), np.max([part.ends[1] for part in told], axis=0)]
        )
        self.ends = float(self.column_ends[0].min()), float(self.column_ends[1].max())
        counts = [part.counts for part in told if part.counts is not None]
        self.counts: Integers = np.sum(counts, axis=0) if counts else np.full(self.shape[1], self.shape[0])
        self._head = told[0].head
        self._level = min(part.level for part in told)
        self._kept: dict[Any, int] = {}  # keys of arrays by their marks, those used last at the end
        self._has: dict[int, set[int]] = {}  # who has been sent an array, by its key
        self._next = 0
        self._all: Any = None

    @staticmethod
    def _check(told: list[Told]) -> None:
        first = told[0]
        for part in told:
            if part.columns != first.columns:
                raise InvalidInputError(
                    f"Partition {part.number} of X has {part.columns} columns, partition {first.number} has "
                    f"{first.columns}: make them the same."
                )
            if part.sparse != first.sparse:
                raise InvalidInputError(
                    f"Partition {part.number} of X is {'sparse' if part.sparse else 'dense'}, partition "
                    f"{first.number} is not: make all of them one kind."
                )
            for column, (name, other) in enumerate(zip(part.names or (), first.names or (), strict=False)):
                if name != other:
                    raise InvalidInputError(
                        f"Column {column} of X is {name!r} in partition {part.number}, but {other!r} in partition "
                        f"{first.number}: give all partitions the same columns, in the same order."
                    )

    def close(self) -> None:
        """Let the holder go; rows are not to be had any more."""
        self._holder.close()

    @property
    def longest(self) -> int:
        """Rows of the largest partition."""
        return int(np.diff(self._starts).max())

    @property
    def count(self) -> int:
        """How many partitions have rows."""
        return len(self._numbers)

    def place(self, row: int) -> str:
        at = int(np.searchsorted(self._starts, row, side="right")) - 1
        return f"partition {self._numbers[at]}, row {row - self._starts[at]} of it (row {row} of all)"

    # ------------------------------------------------------------------ calls
    def call(
        self, fn: Callable[..., Any], rows: Sequence[Array | None], *args: Any, only: Sequence[int] | None = None
    ) -> list[Any]:
        """[fn(part, first row, pieces, *args)] of all partitions in their order, or of ``only`` those at some places.

        ``rows`` are arrays with something for each row, of which a partition gets its piece: once, and then it is told
        by a key which of those that it keeps is meant.
        """
        return self._called(fn, rows, [self._key(array) for array in rows], args, only)

    def in_turn(
        self, fn: Callable[..., Any], rows: Sequence[Array | None], state: Any, *args: Any
    ) -> tuple[Any, list[Any]]:
        """state, found = fn(part, first row, pieces, state, *args), of one partition after the other; all found."""
        keys, each = [self._key(array) for array in rows], list[Any]()
        for place in range(self.count):
            ((state, found),) = self._called(fn, rows, keys, (state, *args), [place])
            each.append(found)
        return state, each

    def _called(self, fn: Any, rows: Any, keys: Any, args: Any, only: Sequence[int] | None) -> list[Any]:
        places = range(self.count) if only is None else only
        job = Job(fn, args, frozenset(self._kept.values()), self._level)
        found = self._asked(places, rows, keys, job)
        again = [place for place in places if found[self._numbers[place]] is Trouble.MISSING]
        if again:  # a partition that was loaded anew, or came back from a disk, has kept nothing
            for place in again:
                for has in self._has.values():
                    has.discard(place)
            found |= self._asked(again, rows, keys, job)
        return [found[self._numbers[place]] for place in places]

    def _asked(self, places: Sequence[int], rows: Any, keys: Any, job: Job) -> Answers:
        orders = {}
        for place in places:
            part = self._told[int(self._numbers[place])]
            span = slice(int(self._starts[place]), int(self._starts[place + 1]))
            given = tuple(
                None if key is None else (key, None if place in self._has[key] else Packed.of(array[span]))
                for key, array in zip(keys, rows, strict=True)
            )
            orders[part.number] = Order(part.fingerprint, span.start, given)
        found = self._holder.call(orders, job)
        for number, answer in found.items():
            if answer is Trouble.CHANGED:
                raise ClusterError(
                    f"Partition {number} of X is not what it was when it was first loaded: it was lost, and its source "
                    "gave other rows. Use a source that gives the same rows each time, or write it to files before."
                )
        for key in keys:
            if key is not None:
                self._has[key].update(places)
        return found

    def _key(self, array: Array | None) -> int | None:
        """The key of an array by what is in it: one that was changed in place is another one."""
        if array is None:
            return None
        mark = parts.mark(array)
        if mark in self._kept:
            key = self._kept.pop(mark)
        else:
            key = self._next = self._next + 1
            self._has[key] = set()
        self._kept[mark] = key
        while len(self._kept) > LIVE:
            del self._has[self._kept.pop(next(iter(self._kept)))]
        return key

    def each(
        self, fn: Callable[..., Any], rows: Sequence[Array], args: tuple[Any, ...], step: int
    ) -> Iterator[tuple[slice, Any]]:
        """(where, fn(x, *rows of x, *args)) of at most ``step`` rows after the others, found where they are.

        For certificates, which ask for it by this name: see `certificates/_blocks.py`.
        """
        found = self.call(parts.each, rows, fn, args, step)
        for first, some in zip(self._starts.tolist(), found, strict=False):
            for start, stop, result in some:
                yield slice(first + start, first + stop), result

    # ------------------------------------------------------------------ single rows
    def pieces(self, start: int, stop: int) -> Iterator[Piece]:
        for place in range(self.count):
            low, high = (int(end) for end in np.clip(self._starts[place : place + 2], start, stop))
            if low >= high:
                continue
            inside = slice(low - int(self._starts[place]), high - int(self._starts[place]))
            (X,) = self.call(parts.rows_of, (), {int(self._numbers[place]): inside}, only=[place])
            if sparse.issparse(X):
                yield Piece(low, high, None, X.indptr, X.indices, X.data)
            else:
                yield Piece(low, high, np.ascontiguousarray(X, dtype=self.dtype))

    def _consecutive(self, start: int, stop: int) -> Any:
        if self._head is not None and stop <= self._head.shape[0]:
            return self._head[start:stop].astype(self.dtype)
        if self.nnz > FEW or (start, stop) == (0, self.shape[0]):
            return super()._consecutive(start, stop)
        return self._everything()[start:stop]

    def _everything(self) -> Any:
        """All rows, if they are few: read once."""
        if self._all is None:
            self._all = super()._consecutive(0, self.shape[0])
        return self._all

    def _scattered(self, at: Integers) -> Any:
        """Rows of any numbers in any order: each partition gives its own."""
        n = self.shape[0]
        if len(at) and not (at.min() >= 0 and at.max() < n):
            raise IndexError(f"row {int(at.max() if at.max() >= n else at.min())} of {n}")
        if self.nnz <= FEW:
            return self._everything()[at]
        order = np.argsort(at, kind="stable")
        cuts = np.searchsorted(at[order], self._starts)
        places = [int(place) for place in np.flatnonzero(np.diff(cuts))]
        wanted = {int(self._numbers[i]): at[order[cuts[i] : cuts[i + 1]]] - int(self._starts[i]) for i in places}
        found = self.call(parts.rows_of, (), wanted, only=places)
        back = np.empty(len(at), dtype=np.int64)
        back[order] = np.arange(len(at))
        if self.sparse:
            return self._stacked([sparse.csr_matrix(x, dtype=self.dtype) for x in found])[back]
        return np.concatenate([np.asarray(x, dtype=self.dtype) for x in found] or [np.empty((0, self.shape[1]))])[back]

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise InvalidInputError(
            f"These {self.shape[0]:,} rows are on workers, and are not made one array without being asked: X.compute() "
            "does it, if there is memory for all of them."
        )

    def __repr__(self) -> str:
        kind = "CSR" if self.sparse else "dense"
        return f"<{self.shape[0]:,} rows of {self.shape[1]:,} columns in {self.count} partitions, {kind}>"
