"""A partition of rows where it is held, and what is done there: all of this runs in the process that has the rows.

A partition is checked and converted once, when it is loaded. It keeps arrays that hold a number for each of its rows
(labels, weights), so that a pass sends the weights of the model only; these go when the partition goes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats, Integers
from separatrix.certificates._data import read_rows
from separatrix.certificates._held import malformed, unheld
from separatrix.design import reducing
from separatrix.design.anchoring import ANCHOR_ROWS
from separatrix.design.base import Design
from separatrix.design.dense import DenseDesign
from separatrix.design.passes import Pass, chunked
from separatrix.design.reducing import BlockFn, Parts
from separatrix.design.sparse import SparseDesign
from separatrix.errors import InvalidInputError
from separatrix.loops import allocation, library, threads
from separatrix.loops.binding import hold
from separatrix.loops.checksum import BYTES, checksum
from separatrix.loops.rows import csr_arrays

PIECE = 1 << 21  # bytes that stay in cache while they are looked at for the second time
WIDE = 1024  # numbers side by side, in which NumPy finds the largest ones fastest
SHORT = (np.int8, np.int16, np.int32)  # types that whole numbers are sent in, if they hold them


class Trouble(Enum):
    """What a partition answers if it cannot do what it is asked for."""

    MISSING = "it does not have an array that it was sent before"
    CHANGED = "its rows are not those of the first load"


@dataclass
class Part:
    """The rows of one partition, the smallest and largest entries (2, d), and arrays that it keeps, by their keys."""

    number: int
    X: Any
    fingerprint: tuple[Any, ...]
    ends: Floats
    names: list[str] | None = None
    kept: dict[int, Array] = field(default_factory=dict)

    def __sizeof__(self) -> int:  # what a worker takes it to need of its memory
        X = self.X
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes if sparse.issparse(X) else X.nbytes
        return int(size) + sum(array.nbytes for array in self.kept.values())

    def design(self, first: int, coordinates: Mapping[str, Any]) -> Design:
        """The rows as a design, of which the first is row ``first`` of all."""
        kind: Any = SparseDesign if sparse.issparse(self.X) else DenseDesign
        return kind(self.X, **coordinates, first=first)


class Told(NamedTuple):
    """What the first load of a partition tells of it, and of the process that has it."""

    number: int
    fingerprint: tuple[Any, ...]
    rows: int
    columns: int
    names: list[str] | None
    sparse: bool
    single: bool
    entries: int
    ends: Floats
    counts: Integers | None
    level: int
    head: Any  # of the first partition, some rows, which tell columns far from the origin


class Packed(NamedTuple):
    """An array on its way: whole numbers in as few bytes as hold them, and of weights that are all the same one."""

    values: Array
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @classmethod
    def of(cls, array: Array) -> Packed:
        """What is to be sent of an array."""
        values = np.ascontiguousarray(array)
        if array.dtype == np.float64 and array.ndim == 1 and len(array):
            bits = values.view(np.int64)  # 0.0 and -0.0 are not the same
            values = values[:1] if bits[0] == bits[-1] and (bits == bits[0]).all() else values
        elif array.dtype.kind in "iu" and array.size:
            low, high = values.min(), values.max()
            short = (kind for kind in SHORT if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
            values = values.astype(next(short, array.dtype), copy=False)
        return cls(values, array.shape, array.dtype)

    def array(self) -> Array:
        """What it was."""
        return np.broadcast_to(self.values, self.shape).astype(self.dtype, order="C")


class Order(NamedTuple):
    """What a partition is asked for: its first row's number, and pieces of arrays by their keys, or keys it has."""

    fingerprint: tuple[Any, ...]
    first: int
    rows: tuple[tuple[int, Packed | None] | None, ...]


class Job(NamedTuple):
    """What is the same for all partitions of a pass: a function with a name, its arguments, the arrays still in use."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    live: frozenset[int]
    level: int


Answers: TypeAlias = dict[int, Any]
Pieces: TypeAlias = Any  # of arrays that hold something for each row, or None
Coordinates: TypeAlias = Mapping[str, Any]


def load(block: Any, number: int) -> Part:
    """The rows of a partition as loops read them; `InvalidInputError` if they are no numbers that float64 holds."""
    where = f"Partition {number} of X"
    X, names = _numbers(block, where), _names(block)
    if X.ndim != 2:
        raise InvalidInputError(f"{where} has the shape {X.shape}: rows of a matrix are expected.")
    if not X.shape[1]:
        raise InvalidInputError(f"{where} has no columns: there is nothing to learn from.")
    if sparse.issparse(X):
        X = sparse.csr_matrix(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64)
    else:
        X = np.ascontiguousarray(X)
    place = unheld(block, X)
    if place is not None:
        raise InvalidInputError(
            f"{where} holds a number that float64 would round: row {place[0]} of it, column {place[1]}. If it is an "
            "identifier, leave the column out; if rounding does no harm, convert X by astype('float64')."
        )
    if sparse.issparse(X):
        ends = np.repeat(np.asarray(SparseDesign(X)._extremes, dtype=np.float64)[:, None], X.shape[1], axis=1)
        return Part(number, X, tuple(mark(array) for array in (X.data, X.indices, X.indptr)), ends, names)
    found: list[Floats] = []
    marks = (mark(X, lambda rows: found.append(_column_ends(rows))),)
    lowest, highest = zip(*found, strict=True) if found else ([np.zeros(X.shape[1])],) * 2
    ends = np.array([np.min(lowest, axis=0), np.max(highest, axis=0)])  # NaN where one is
    return Part(number, X, marks, ends, names)


def _column_ends(x: Array) -> Floats:
    """The smallest and the largest entry of each column (2, d): several rows side by side, NumPy is slow along few."""
    m, d = x.shape
    k = max(1, min(m, WIDE // max(d, 1)))
    wide = x[: m // k * k].reshape(-1, k * d)
    ends = [of(np.concatenate([of(wide, axis=0).reshape(k, d), x[m // k * k :]]), axis=0) for of in (np.min, np.max)]
    return np.array(ends, dtype=np.float64)


def _numbers(block: Any, where: str) -> Any:
    """An array or sparse matrix of numbers, of what a partition is."""
    if _is_frame(block):
        check_columns(block.dtypes)
        kinds = {kind if isinstance(kind, np.dtype) else None for kind in block.dtypes}
        if None not in kinds and (len(kinds) == 1 or np.dtype(bool) not in kinds):
            return block.to_numpy()
        # types of pandas may lack entries; of truth values and numbers it would make objects
        return block.to_numpy(dtype=np.float64, na_value=np.nan)
    if (flaw := malformed(block)) is not None:
        raise InvalidInputError(f"{where} {flaw}.")
    X = block.tocsr() if hasattr(block, "tocsr") else np.asarray(block)
    if X.dtype.kind not in "fiubO":  # texts, dates and complex numbers would become other numbers without a word
        raise InvalidInputError(f"{where} is not numeric, but of the type {X.dtype}: pass columns of numbers.")
    if X.dtype.kind == "O" or X.dtype == np.float16:
        try:
            X = X.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"{where} is not numeric ({error}): pass columns of numbers.") from error
    return np.where(np.ma.getmaskarray(block), np.nan, X) if np.ma.is_masked(block) else X  # what is masked is missing


def _is_frame(block: Any) -> bool:
    return hasattr(block, "dtypes") and hasattr(block, "columns")


def _names(block: Any) -> list[str] | None:
    """The names of the columns, if all are texts."""
    names = list(block.columns) if _is_frame(block) else []
    return names if names and all(isinstance(name, str) for name in names) else None


def check_columns(kinds: Any) -> None:
    """Refuse columns of a data frame that have to be encoded first."""
    for column, kind in kinds.items():
        if not (getattr(kind, "kind", "O") in "fiub" or getattr(kind, "_is_numeric", False)):
            raise InvalidInputError(
                f"Column {column!r} of X is of the type {kind}, not of numbers: leave it out, or encode the table "
                "first, by X, names = Encoder.fit(X).transform(X), of separatrix.data."
            )


def mark(array: Array, look: Callable[[Array], Any] | None = None) -> tuple[Any, ...]:
    """What tells an array from any other, up to forgery; ``look`` is shown its rows, some at a time, in cache."""
    rows = np.ascontiguousarray(array)
    data = rows.reshape(-1).view(np.uint8)
    data = data if data.ctypes.data % 8 == 0 else data.copy()
    row = len(data) // max(len(rows), 1)  # bytes
    whole, step = len(data) // BYTES * BYTES, max(1, PIECE // (BYTES * max(row, 1))) * BYTES
    sums = np.zeros(-(-len(rows) // (step * BYTES)) * BYTES, dtype=np.uint64)
    for i, start in enumerate(range(0, len(rows), step)):
        sums[i] = checksum(data[start * row : min((start + step) * row, whole)])
        if look is not None:
            look(rows[start : start + step])
    return array.shape, array.dtype.str, checksum(sums), data[whole:].tobytes()


def tell(part: Part) -> Told:
    """What is known of a partition once it is loaded."""
    X = part.X
    counts = np.bincount(X.indices, minlength=X.shape[1]) if sparse.issparse(X) else None
    return Told(
        number=part.number,
        fingerprint=part.fingerprint,
        rows=X.shape[0],
        columns=X.shape[1],
        names=part.names,
        sparse=counts is not None,
        single=X.dtype == np.float32,
        entries=X.size if counts is None else int(X.nnz),
        ends=part.ends,
        counts=counts,
        level=library.level(),
        head=X[:ANCHOR_ROWS] if part.number == 0 else None,
    )


def tell_all(parts: list[Part]) -> list[Told]:
    """The same of some partitions."""
    return [tell(part) for part in parts]


def perform(parts: list[Part], orders: list[Order], job: Job) -> Answers:
    """{number: fn(part, first row, pieces, *args)} of some partitions, by one thread, with BLAS held to one."""
    answers: Answers = {}
    hold(job.level)
    with threads.alone(), threads.single_threaded_blas(), np.errstate(all="ignore"), allocation.kept():
        for part, order in zip(parts, orders, strict=True):
            if part.fingerprint != order.fingerprint:
                answers[part.number] = Trouble.CHANGED
                continue
            pieces = _pieces(part, order, job.live)
            answers[part.number] = Trouble.MISSING if pieces is None else job.fn(part, order.first, pieces, *job.args)
    return answers


def _pieces(part: Part, order: Order, live: frozenset[int]) -> list[Array | None] | None:
    """The pieces of arrays that belong to these rows, sent or kept; None if one is not there any more."""
    for key in [key for key in part.kept if key not in live]:
        part.kept.pop(key, None)
    pieces: list[Array | None] = []
    for given in order.rows:
        if given is None:
            pieces.append(None)
            continue
        key, piece = given
        if piece is not None:
            part.kept[key] = piece.array()
        elif key not in part.kept:
            return None
        pieces.append(part.kept[key])
    return pieces


# ------------------------------------------------------------------ what partitions are asked for
def rows_of(part: Part, first: int, pieces: Pieces, wanted: Mapping[int, Any]) -> Any:
    """Some rows of the partition as they are: a slice, or by their numbers in it."""
    return part.X[wanted[part.number]]


def visited(part: Part, first: int, pieces: Pieces, state: Any, fn: Callable[..., Any], dtype: Any, *args: Any) -> Any:
    """A loop row by row over these rows, from a state to the next."""
    X = part.X.astype(dtype, copy=False)
    return fn(csr_arrays(X) if sparse.issparse(X) else (X,), first, *pieces, state, *args)


def each(part: Part, first: int, pieces: Pieces, fn: Callable[..., Any], args: tuple[Any, ...], step: int) -> Parts:
    """(start, stop, fn(x, *pieces, *args)) of some rows after the others, checked as a certificate checks rows."""
    n = part.X.shape[0]
    spans = [slice(start, min(start + step, n)) for start in range(0, n, step)]
    return tuple(
        (rows.start, rows.stop, fn(read_rows(part.X[rows]), *(piece[rows] for piece in pieces), *args))
        for rows in spans
    )


def swept(part: Part, first: int, pieces: Pieces, coordinates: Coordinates, task: Pass, width: int, V: Any) -> Parts:
    """The sums of a pass over these rows, and what it wrote for each of them, ``width`` numbers."""
    codes, weight, rows = pieces
    rows = np.empty((part.X.shape[0], width)) if width else rows
    task = task._replace(codes=codes, weight=weight, rows=rows)
    found = chunked(part.design(first, coordinates), task, V)
    return (*found, rows) if width else found


def reduced(part: Part, first: int, pieces: Pieces, coordinates: Coordinates, fn: BlockFn, *how: Any) -> Parts:
    """A block function over these rows."""
    return reducing.reduced(part.design(first, coordinates), fn, pieces, *how)


def class_sums(part: Part, first: int, pieces: Pieces, coordinates: Coordinates, k: int, centres: Any) -> Floats:
    """Sums of these rows by class."""
    codes, weight = pieces
    return part.design(first, coordinates).class_sums(codes, weight, k, centres)
