"""The contract of a kernel: k(a, b), an inner product between two points of any kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from separatrix._typing import Array
from separatrix.kernels.blocks import count, row_blocks


class Points(Protocol):
    """Points in the form a kernel works on: made once, then evaluated many times."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the kernel values between these points."""

    @property
    def width(self) -> int:
        """How many numbers one point takes: with ``len``, what decides the size of a block."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: Any) -> Self: ...


class Kernel(ABC):
    """k(a, b) = <phi(a), phi(b)>: all pairs of two collections of points at once.

    A kernel is an immutable bag of settings (a frozen dataclass): equal settings, equal kernels. It is
    written as three small steps, so that what depends on the points alone is computed once:

    - ``check(X)``: the points in one plain form (array, CSR, list), or an error that names the fault;
    - ``represent(X, like)``: the form evaluation works on (centred rows, counts of k-mers, ...). ``like``
      holds the points on the other side, whose frame of reference (centre, vocabulary) is shared;
    - ``gram(P, Q)`` and ``gram_diagonal(P)``: the numbers, between points so represented.

    A new kernel is a frozen dataclass with these methods, and the name it is saved under (without one, it
    cannot be)::

        @dataclass(frozen=True)
        class Mine(Kernel, name="mine"): ...
    """

    name: ClassVar[str] = ""
    _named: ClassVar[dict[str, type[Kernel]]] = {}

    def __init_subclass__(cls, *, name: str = "", **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls.name = name
        if name:
            if name in Kernel._named:
                raise TypeError(f"a kernel named {name!r} exists already: {Kernel._named[name].__qualname__}")
            Kernel._named[name] = cls

    @property
    def structured(self) -> bool:
        """Whether points are objects in a list (strings, graphs) rather than rows of a matrix."""
        return False

    @property
    def positive_semidefinite(self) -> bool:
        """Whether every kernel matrix is known to be positive semidefinite; False: it may not be."""
        return False

    @abstractmethod
    def check(self, X: Any) -> Any:
        """``X`` in plain form, ready to be sliced; raises on what this kernel does not take."""

    @abstractmethod
    def represent(self, X: Any, like: Any = None) -> Any:
        """Checked points as `Points`, in the frame of ``like`` if it is given."""

    @abstractmethod
    def gram(self, P: Any, Q: Any) -> Array:
        """A new (len(P), len(Q)) matrix of kernel values; ``P`` was represented like ``Q``."""

    def gram_of_rows(self, X: Array, Q: Any) -> Array | None:
        """The same for rows as they are, in as few steps as one row deserves; None where it takes a closer look.

        ``X`` is a matrix of the type of ``Q``, with as many columns, and not checked: what may hold NaN, infinity or
        a number that overflows gets None.
        """
        return None

    def square(self, P: Any) -> Array | None:
        """The matrix of P with itself, symmetric to the last digit, if it is quicker made as a whole."""
        return None

    @abstractmethod
    def gram_diagonal(self, P: Any) -> Array:
        """k(p, p) for each p of ``P``."""

    def __call__(self, A: Any, B: Any) -> Array:
        """K(A, B): the (len(A), len(B)) matrix of k(a, b)."""
        Q = self.represent(self.check(B))
        points = None if A is B else self.check(A)
        K = np.empty((len(Q) if points is None else count(points), len(Q)), dtype=Q.dtype)
        for block in row_blocks(len(K), max(len(Q), Q.width), K.itemsize):
            K[block] = self.gram(Q[block] if points is None else self.represent(points[block], like=Q), Q)
        if points is None:
            # A product of matrices may differ from a sum of squares in the last digit; k(a, a) may not.
            np.fill_diagonal(K, self.gram_diagonal(Q))
        return K

    def diagonal(self, A: Any) -> Array:
        """k(a, a) for each a of ``A``."""
        return self.gram_diagonal(self.represent(self.check(A)))

    def to_dict(self) -> dict[str, Any]:
        """The settings as plain JSON: ``{"kernel": name, ...}``; TypeError for a kernel without a name."""
        if not self.name:
            raise TypeError(f"{self} cannot be saved: what it computes is not plain data")
        return {"kernel": self.name} | {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, settings: Mapping[str, Any]) -> Kernel:
        """The kernel ``to_dict`` described; ValueError if it describes none."""
        values = dict(settings)
        name = values.pop("kernel", None)
        kind = cls._named.get(name) if isinstance(name, str) else None
        if kind is None or not issubclass(kind, cls):
            raise ValueError(f"no kernel named {name!r} can be read; known: {', '.join(sorted(cls._named))}")
        expected = {f.name for f in fields(kind)}  # type: ignore[arg-type]
        if set(values) != expected:
            raise ValueError(f"a {name} kernel has the settings {sorted(expected)}, got {sorted(values)}")
        return kind(**values)
