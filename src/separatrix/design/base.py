"""A design matrix in conditioned coordinates, and the one primitive on it: a sum over row blocks.

Row i of a design is z_i = ((x_i - shift) * scale, 1), without the 1 when there is no intercept. Solvers
work on coefficients V of shape (p, k), p = d + 1 or d, one column a task; scores are Z V. `user_units`
takes V back to the user's coordinates: with W = scale * V[:d], x.W + (V[d] - shift.W) is the same score.

The shift has two parts. `offset` is subtracted from the data before any product: needed for columns far
from the origin (x = 1e9 + noise), where subtracting shift.W from x.W would cancel every digit. `rest` is
subtracted from the products, which is cheaper and keeps a sparse matrix sparse.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from separatrix._typing import Array, Floats, Integers
from separatrix.cached import cached_property
from separatrix.design import passes
from separatrix.design.anchoring import far_from_origin
from separatrix.design.block import TINY_BYTES, Block, gathered, scored, summed_by_class, weighted_gram
from separatrix.design.passes import Pass
from separatrix.design.reducing import BLOCK_BYTES, BlockFn, Parts, reduced
from separatrix.errors import InvalidInputError

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class Design(ABC):
    """n rows of d features, stored as the subclass knows.

    Parameters
    ----------
    _X : matrix
        The user's rows, never changed; only this room and the loops touch them.
    intercept : bool
        Whether rows end in a 1.
    names : sequence of str or None
        Names of the columns, for messages.
    offset, rest, scale : arrays of shape (d,) or None
        See the module; None stands for 0, 0 and 1.
    first : int
        The number of the first row, if these are some of more rows.
    """

    _X: Any
    intercept: bool = True
    names: Sequence[str] | None = None
    offset: Floats | None = None
    rest: Floats | None = None
    scale: Floats | None = None
    first: int = 0

    # ------------------------------------------------------------------ shape
    @property
    def n(self) -> int:
        """Number of rows."""
        return int(self._X.shape[0])

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self._X.shape[1])

    @property
    def p(self) -> int:
        """Number of coefficients of a task: d, and 1 for the intercept."""
        return self.d + self.intercept

    @property
    def dtype(self) -> np.dtype[Any]:
        """float32 for float32 data, else float64: the precision of the model, not of the arithmetic."""
        return np.dtype(np.float32 if self._X.dtype == np.float32 else np.float64)

    @property
    def shift(self) -> Floats:
        """offset + rest: what is subtracted from each row, in all."""
        shift = np.zeros(self.d)
        for part in (self.offset, self.rest):
            if part is not None:
                shift = shift + part
        return shift

    @property
    def coordinates(self) -> dict[str, Any]:
        """What a design of some of the rows has in common with that of all."""
        return {field.name: getattr(self, field.name) for field in fields(Design) if field.name != "_X"}

    def rounded(self, values: Floats) -> Floats:
        """The values as the model will hold them, in float64: a certificate describes the model itself."""
        with np.errstate(all="ignore"):
            held = np.asarray(values, dtype=self.dtype).astype(np.float64)
            error = 0.0 if self.dtype == np.float64 else float(np.abs(held - values).max(initial=0.0))
            largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
        if not error <= float(np.finfo(self.dtype).eps) * largest < np.inf:  # False for NaN
            raise InvalidInputError(
                f"A coefficient is beyond the range of {self.dtype}: scale the columns of X and the weights to "
                f"moderate size{', or pass X as float64' if self.dtype == np.float32 else ''}."
            )
        return held

    def column(self, j: int) -> str:
        """What to call column j in a message."""
        return f"column {j}" if self.names is None else f"column {j} ({self.names[j]!r})"

    # ------------------------------------------------------------------ storage
    sparse: ClassVar[bool] = False  # whether entries of 0 are not stored
    in_memory: ClassVar[bool] = True  # or passes go through them elsewhere, and single rows should not be asked for
    near: ClassVar[bool] = True  # or in other processes, from which a number for each row should not be asked for

    @property
    def entries(self) -> int:
        """How many entries are stored."""
        return self.n * self.d

    @property
    @abstractmethod
    def nbytes(self) -> float:
        """Bytes of all rows in float64."""

    @abstractmethod
    def block_rows(self, block_bytes: int) -> int:
        """How many rows make a block of about this size."""

    def summed(self) -> Self:
        """The same rows, with no entry stored in several parts."""
        return self

    @property
    def square_bytes(self) -> int:
        """Bytes of a block with as many rows as columns: adding up Gram matrices then costs less than forming them."""
        return max(BLOCK_BYTES, min(8 * self.d**2, 1 << 25))

    @abstractmethod
    def block(self, start: int, stop: int) -> Block:
        """Rows start to stop, in float64."""

    def out_of_range(self, limit: float) -> tuple[int, int, float] | None:
        """(row, column, value) of an entry that is NaN, infinite or beyond ±limit, or None."""
        if self._X.dtype.kind != "f" or (np.abs(self._extremes) <= limit).all():  # False for NaN
            return None  # whole numbers and booleans are finite
        bound = np.float64(limit)  # a plain float would become float32 next to float32, and infinite
        return self.find(lambda x: ~(np.abs(x) <= bound), np.arange(self.d))

    @abstractmethod
    def find(
        self, bad: Callable[[Array], Array], columns: Integers, *, outside: bool = False
    ) -> tuple[int, int, float] | None:
        """(row, column, value) of an entry in these columns for which ``bad`` is true, or None.

        ``outside`` promises that bad numbers are those outside of an interval, so that two extremes may tell of all.
        """

    @abstractmethod
    def groups(self) -> tuple[Integers, Integers]:
        """The group of each row, equal rows being in one, and the first row of each group."""

    @abstractmethod
    def constant(self, columns: Integers) -> Array:
        """Which of these columns have all entries equal."""

    @abstractmethod
    def subtractable(self) -> Array:
        """Columns whose offset can be subtracted from the stored entries."""

    # ------------------------------------------------------------------ compiled passes
    few: ClassVar[float] = np.inf  # columns up to which compiled passes are faster than the products of BLAS

    @abstractmethod
    def run(self, task: Pass, W: Floats | None, b: Floats | None, start: int, stop: int, origin: int) -> Floats:
        """The sums of a pass over rows start to stop, at W (d, k) and b (k,); its arrays begin with row ``origin``."""

    @abstractmethod
    def chunk_rows(self, task: Pass) -> int:
        """Rows of a chunk of a pass."""

    @abstractmethod
    def as_columns(self, sums: Floats, k: int) -> Floats:
        """The sums of slopes times rows as (d, k)."""

    def sweep(self, task: Pass, V: Floats | None) -> tuple[Floats, Floats]:
        """The sums of the losses (k,) and the gradient (p, k) of a pass over all rows, at V (p, k)."""
        return passes.chunked(self, task, V)

    @property
    def partings(self) -> tuple[int, int]:
        """How many parts of the rows are summed by themselves, and rows of the longest; none but all, where one is."""
        return 0, self.n

    @property
    def largest(self) -> Floats | None:
        """The largest size of an entry of each column less its offset (d,), or more; None where nobody has looked."""
        return None

    @property
    @abstractmethod
    def _extremes(self) -> Floats:
        """The smallest and the largest entry."""

    @property
    def farthest(self) -> float:
        """The size of the largest entry."""
        return float(np.abs(self._extremes).max())

    def place(self, row: int, column: int) -> str:
        """What to call an entry in a message."""
        return f"row {row}, {self.column(column)}"

    def class_sums(self, codes: Integers, weight: Floats, k: int, centres: Floats | None = None) -> Floats:
        """sum of w_i (x_i - offset) over the rows of each class, (k, d); with centres, of w_i (x_i - centres[c])²."""
        (total,) = self.reduce(summed_by_class, codes, weight, args=(k, centres))
        return np.asarray(total)

    # ------------------------------------------------------------------ the primitives
    # A block function has a name in a module and plain arguments, so that it can be sent to where rows are; it returns
    # a tuple of new arrays or numbers, and writes nowhere. A block is in cache while it works: do there all that needs
    # its rows. The order in which blocks are put together is fixed, so that threads change no bit.
    def reduce(
        self,
        block_fn: BlockFn,
        *rows: Array,
        args: Parts = (),
        rules: str | Sequence[str] = "sum",
        block_bytes: int = BLOCK_BYTES,
    ) -> Parts:
        """``block_fn(block, *[r[block.rows] for r in rows], *args)`` of all row blocks, put together by the rules.

        A rule for each part that it returns, or one for all: "sum"; "max", entry by entry, NaN if one is; or "rows",
        those of one block after those of another: a value for each row, or for some.
        """
        return reduced(self, block_fn, rows, args, rules, block_bytes)

    def rows(self, block_fn: BlockFn, *rows: Array, args: Parts = ()) -> Parts:
        """The parts of ``block_fn(...)``, those of one row block after those of another."""
        return self.reduce(block_fn, *rows, args=args, rules="rows")

    def extremes(self, block_fn: BlockFn, *rows: Array, args: Parts = ()) -> Parts:
        """The largest of each part of ``block_fn(...)`` over all row blocks, entry by entry."""
        return self.reduce(block_fn, *rows, args=args, rules="max")

    def take(self, rows: Array | slice) -> Self:
        """These rows alone, in memory, in the same coordinates: samples and working sets."""
        return replace(self, _X=self._X[rows])

    @abstractmethod
    def array(self, rows: Array | slice = slice(None)) -> Floats:
        """These rows as the user gave them, as a dense array of float64."""

    @abstractmethod
    def csr(self) -> Any:
        """The rows as the user gave them, as a CSR matrix: a sparse one is not copied."""

    def given(self, rows: Array | slice = slice(None)) -> Any:
        """These rows as the user gave them: for scorers and callbacks."""
        return self._X[rows]

    def row(self, i: int) -> Floats:
        """Row i as the user gave it, in float64."""
        return self.array(slice(i, i + 1))[0]

    def lend(self, reader: Callable[..., Result], *args: Any) -> Result:
        """``reader(X, *args)`` of the rows as the user gave them: for certificates, and for loops row by row."""
        return reader(self._X, *args)

    @cached_property
    def only_block(self) -> Block:
        """All rows; kept, so that a small table is converted once."""
        return self.block(0, self.n)

    # ------------------------------------------------------------------ what derives from it
    def dot(self, V: Floats) -> Floats:
        """Z V, the scores of all rows (n, k)."""
        if self.near and self.nbytes <= TINY_BYTES:
            return self.only_block.dot(V)
        if V.shape[1] <= self.few:
            return passes.scores(self, V)
        (scores,) = self.rows(scored, args=(V,))
        return np.asarray(scores)

    def tdot(self, R: Floats) -> Floats:
        """Z' R for R (n, k)."""
        if self.near and self.nbytes <= TINY_BYTES:
            return self.only_block.tdot(R)
        if R.shape[1] <= self.few:
            return passes.gathered(self, R)
        (total,) = self.reduce(gathered, R)
        return np.asarray(total)

    def gram(self, h: Floats | None = None) -> Floats:
        """Z' diag(h) Z, with h = 1 by default."""
        rows = () if h is None else (h,)
        (total,) = self.reduce(weighted_gram, *rows, block_bytes=self.square_bytes)
        return np.asarray(total)

    # ------------------------------------------------------------------ conditioning
    def anchored(self) -> Self:
        """The same rows with an offset for the columns that are far from the origin, if any.

        The intercept absorbs it, so without one there is none.
        """
        return self._anchored

    @cached_property
    def _anchored(self) -> Self:
        plain = replace(self, offset=None, rest=None, scale=None)
        offset = far_from_origin(plain) if self.intercept else None
        return plain if offset is None else replace(plain, offset=offset)

    def centred(self, weight: Floats) -> Self:
        """The same rows about their weighted mean, which the intercept absorbs (so not without one)."""
        if not self.intercept:
            return self
        anchored = self.anchored()
        return replace(anchored, rest=anchored.tdot(weight[:, None])[: self.d, 0] / weight.sum())

    def scaled(self, scale: Floats) -> Self:
        """The same rows with column j of (x - shift) multiplied by scale[j]."""
        return replace(self, scale=scale)

    # ------------------------------------------------------------------ coordinates
    def user_units(self, V: Floats) -> tuple[Floats, Floats]:
        """coef (k, d) and intercept (k,) in the user's coordinates, of V (p, k) in conditioned ones."""
        W = V[: self.d] if self.scale is None else self.scale[:, None] * V[: self.d]
        b = V[self.d].copy() if self.intercept else np.zeros(V.shape[1])
        for shift in (self.offset, self.rest):
            if shift is not None:
                b -= shift @ W
        return np.ascontiguousarray(W.T), b

    def from_user_units(self, coef: Floats, intercept: Floats) -> Floats:
        """V (p, k), of coef (k, d) and intercept (k,): the inverse of `user_units`."""
        W = np.asarray(coef, dtype=np.float64).T
        V = np.zeros((self.p, W.shape[1]))
        V[: self.d] = W if self.scale is None else W / self.scale[:, None]
        if self.intercept:
            V[self.d] = intercept
            for shift in (self.offset, self.rest):
                if shift is not None:
                    V[self.d] += shift @ W
        return V
