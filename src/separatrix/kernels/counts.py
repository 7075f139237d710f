"""Kernels on objects with parts: points become counts of the parts they hold, compared by inner product."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from scipy import sparse

from separatrix._typing import Array, Floats
from separatrix.kernels.base import Kernel
from separatrix.kernels.points import Matrix, Vectors, inner


class Vocabulary(dict[Hashable, int]):
    """A number for each part: the number it has in ``known``, or the next free one."""

    def __init__(self, known: Mapping[Hashable, int]) -> None:
        super().__init__()
        self.known = known
        self.size = len(known)

    def __missing__(self, part: Hashable) -> int:
        number = self.known.get(part)
        if number is None:
            number = self.size
            self.size += 1
        self[part] = number
        return number


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each point holds each part of a vocabulary; ``squares`` counts the parts outside it too."""

    vectors: Vectors
    squares: Floats
    vocabulary: Mapping[Hashable, int]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.vectors.dtype

    @property
    def width(self) -> int:
        return self.vectors.width

    def __len__(self) -> int:
        return len(self.vectors)

    def __getitem__(self, index: Any) -> Counts:
        return Counts(self.vectors[index], self.squares[index], self.vocabulary)


class CountKernel(Kernel):
    """k(a, b) = <phi(a), phi(b)>, phi(a) = how often each part occurs in a."""

    normalize: bool  # divide by the lengths of phi(a) and phi(b)

    structured = True
    positive_semidefinite = True

    @abstractmethod
    def parts(self, point: Any, vocabulary: Vocabulary) -> list[int]:
        """The number, in ``vocabulary``, of every part of ``point``, as often as it occurs."""

    def represent(self, X: list[Any], like: Counts | None = None) -> Counts:
        vocabulary = Vocabulary({} if like is None else like.vocabulary)
        counts = _count([self.parts(point, vocabulary) for point in X], vocabulary.size)
        squares = Vectors(counts).squares
        if self.normalize:
            # A point without parts stays at zero: it is like nothing, itself included.
            lengths = np.sqrt(squares)
            counts = sparse.diags_array(1.0 / np.where(lengths > 0, lengths, 1.0), format="csr") @ counts
            squares = (lengths > 0).astype(np.float64)
        if like is None:
            return Counts(Vectors(_dense_if_full(counts)), squares, dict(vocabulary))
        # Parts that occur on one side only add nothing to an inner product.
        counts = counts[:, : like.vectors.values.shape[1]]
        values = counts if sparse.issparse(like.vectors.values) else counts.toarray()
        return Counts(Vectors(values), squares, like.vocabulary)

    def gram(self, P: Counts, Q: Counts) -> Array:
        return inner(P.vectors, Q.vectors)

    def gram_diagonal(self, P: Counts) -> Array:
        return P.squares.copy()


def _count(parts: list[list[int]], size: int) -> Matrix:
    """The (points, size) matrix of counts."""
    ends = np.cumsum([0, *map(len, parts)])
    columns = np.fromiter(chain.from_iterable(parts), dtype=np.int64, count=int(ends[-1]))
    counts = sparse.csr_array((np.ones(len(columns)), columns, ends), shape=(len(parts), size))
    counts.sum_duplicates()
    return counts


def _dense_if_full(counts: Matrix) -> Matrix:
    """Dense if a quarter is nonzero (short strings, small alphabets): products are then much faster."""
    rows, columns = counts.shape
    return counts.toarray() if 4 * counts.nnz >= rows * columns else counts
