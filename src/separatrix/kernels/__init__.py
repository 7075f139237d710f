"""Kernels: inner products between vectors, strings and graphs, and the rows of their matrices.

Each is an immutable object, called on two collections of points: ``Rbf(gamma=0.5)(A, B)`` is the matrix of
k(a, b). `resolve` turns an estimator's ``kernel`` parameter into one, and `KernelRows` serves the rows of the
training points' kernel matrix without making all of it.
"""

from separatrix.kernels.base import Kernel
from separatrix.kernels.function import FromFunction
from separatrix.kernels.gamma import resolve_gamma
from separatrix.kernels.graphs import Graph, WeisfeilerLehman
from separatrix.kernels.precomputed import Precomputed, PrecomputedColumns
from separatrix.kernels.radial import Laplacian, Rbf
from separatrix.kernels.resolve import resolve
from separatrix.kernels.rows import KernelRows
from separatrix.kernels.strings import Spectrum
from separatrix.kernels.vectors import Linear, Poly, Sigmoid

__all__ = [
    "FromFunction",
    "Graph",
    "Kernel",
    "KernelRows",
    "Laplacian",
    "Linear",
    "Poly",
    "Precomputed",
    "PrecomputedColumns",
    "Rbf",
    "Sigmoid",
    "Spectrum",
    "WeisfeilerLehman",
    "resolve",
    "resolve_gamma",
]
