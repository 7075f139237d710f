"""Consecutive rows of a design, and the products that are made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix._typing import Floats, Integers
from separatrix.design import passes
from separatrix.targets import membership

if TYPE_CHECKING:
    from separatrix.design.base import Design

TINY_BYTES = 1 << 20  # below this, calling a compiled pass costs more than a product by NumPy of rows in cache


class Block(ABC):
    """Some consecutive rows of a design. Storage gives `x`, `inner` and `spread`; the rest is algebra."""

    def __init__(self, design: Design, rows: slice) -> None:
        self.design = design
        self.rows = rows

    @property
    def nbytes(self) -> float:
        """About how many bytes of the design these rows are."""
        return self.design.nbytes * (self.rows.stop - self.rows.start) / self.design.n

    @property
    def first(self) -> int:
        """The number of the first of these rows, among all rows of which the design may be a part."""
        return self.design.first + self.rows.start

    def read_from(self) -> tuple[Design, slice]:
        """A design, and where these rows are in it, as compiled passes had best read them."""
        return self.design, self.rows

    @property
    @abstractmethod
    def x(self) -> Any:
        """x - offset in float64, as a matrix that knows ``@``."""

    @property
    def xt(self) -> Any:
        """The transpose of `x`."""
        return self.x.T

    @abstractmethod
    def inner(self, h: Floats | None) -> tuple[Floats, Floats]:
        """x' diag(h) x and x' h, of the matrix `x`."""

    @abstractmethod
    def spread(self, R: Floats, centres: Floats, codes: Integers) -> Floats:
        """sum_i R_ic (x_ij - centres[codes_i, j])² as (k, d), of the user's x."""

    def dot(self, V: Floats) -> Floats:
        """Z V: the scores of these rows, (m, k)."""
        if self.nbytes > TINY_BYTES and V.shape[1] <= self.design.few:
            design, rows = self.read_from()
            return passes.scores(design, V, rows)
        d, rest, scale = self.design.d, self.design.rest, self.design.scale
        W = V[:d] if scale is None else scale[:, None] * V[:d]
        scores = product(self.x, W)
        if rest is not None:
            scores -= rest @ W
        if self.design.intercept:
            scores += V[d]
        return scores

    def tdot(self, R: Floats) -> Floats:
        """Z' R for R (m, k): what these rows add to a gradient, (p, k)."""
        if self.nbytes > TINY_BYTES and R.shape[1] <= self.design.few:
            design, rows = self.read_from()
            return passes.gathered(design, R, rows)
        d, rest, scale = self.design.d, self.design.rest, self.design.scale
        total = R.sum(axis=0)
        out = np.empty((self.design.p, R.shape[1]))
        out[:d] = product(self.xt, R)
        if rest is not None:
            out[:d] -= np.outer(rest, total)
        if scale is not None:
            out[:d] *= scale[:, None]
        if self.design.intercept:
            out[d] = total
        return out

    def written_out(self) -> Floats:
        """The rows z_i without the intercept's 1, (m, d), dense."""
        rest, scale, x = self.design.rest, self.design.scale, self.x
        z = np.asarray(x if isinstance(x, np.ndarray) else x.toarray(), dtype=np.float64)
        z = z if rest is None else z - rest
        return z if scale is None else z * scale

    def gram(self, h: Floats | None = None) -> Floats:
        """Z' diag(h) Z: what these rows add to a Hessian, (p, p); fastest for h >= 0."""
        d, rest, scale = self.design.d, self.design.rest, self.design.scale
        inner, weighted = self.inner(h)
        total = float(self.rows.stop - self.rows.start if h is None else h.sum())
        if rest is not None:  # (x - r)'H(x - r) = x'Hx - (x'h) r' - r (x'h)' + sum(h) r r'
            cross = np.outer(weighted - 0.5 * total * rest, rest)
            inner = inner - cross - cross.T
            weighted = weighted - total * rest
        if scale is not None:
            inner = scale[:, None] * inner * scale
            weighted = scale * weighted
        if not self.design.intercept:
            return inner
        out = np.empty((d + 1, d + 1))
        out[:d, :d] = inner
        out[:d, d] = out[d, :d] = weighted
        out[d, d] = total
        return out


def product(matrix: Any, V: Floats) -> Floats:
    """Matrix times V (p, k): a single column as a vector, and few columns as rows, which BLAS treats much better."""
    if V.shape[1] == 1:
        return np.asarray(matrix @ V[:, 0])[:, None]
    return (V.T @ matrix.T).T if isinstance(matrix, np.ndarray) else np.asarray(matrix @ V)


def row_squares(block: Block) -> tuple[Floats]:
    """‖x_i - offset‖² of each row."""
    x = block.x
    squares = np.einsum("ij,ij->i", x, x) if isinstance(x, np.ndarray) else x.multiply(x).sum(axis=1)
    return (np.asarray(squares).ravel(),)


def turned_gram(block: Block, w: Floats, T: Floats) -> tuple[Floats]:
    """(Z T)' diag(w) (Z T) for T (p, m), formed from the rows Z T themselves."""
    rows = block.dot(T)
    return (rows.T @ (w[:, None] * rows),)


def scored(block: Block, V: Floats) -> tuple[Floats]:
    """Z V."""
    return (block.dot(V),)


def gathered(block: Block, R: Floats) -> tuple[Floats]:
    """Z' R."""
    return (block.tdot(R),)


def weighted_gram(block: Block, *h: Floats) -> tuple[Floats]:
    """Z' diag(h) Z."""
    return (block.gram(*h),)


def summed_by_class(block: Block, codes: Integers, weight: Floats, k: int, centres: Floats | None) -> tuple[Floats]:
    """See `Design.class_sums`."""
    R = membership(codes, weight, k)
    if centres is not None:
        return (block.spread(R, centres, codes),)
    return (block.tdot(R)[: block.design.d].T,)
