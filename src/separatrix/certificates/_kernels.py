"""Kernels by their definitions, for the checkers: the matrix of k(a, b), and how far rounding can have moved it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from math import isfinite
from numbers import Integral, Real
from typing import Any

import numpy as np

from separatrix.certificates._data import EPS
from separatrix.certificates._held import dense, numeric
from separatrix.certificates.base import Check

LISTS = ("spectrum", "weisfeiler-lehman")  # kernels whose points are objects in a list
VECTORS = ("linear", "poly", "rbf", "laplacian", "sigmoid")
AT_ONCE = 2_000_000  # kernel values that are computed together
LARGEST_TESTED = 5000  # points whose kernel matrix is tested for being positive semidefinite: a minute at most
NO_DIGITS = 1e-11  # error of an exponent that sums of squares and products may have, where differences have less
MOST_STEPS = 1000  # of the labels of a graph: they tell no more nodes apart than after as many steps as it has nodes
SETTINGS = {
    "linear": (),
    "precomputed": (),
    "rbf": ("gamma",),
    "laplacian": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "poly": ("degree", "gamma", "coef0"),
    "spectrum": ("k", "normalize"),
    "weisfeiler-lehman": ("h", "normalize"),
}
RANGES: Mapping[str, tuple[int, float]] = {"degree": (0, np.inf), "k": (1, np.inf), "h": (0, MOST_STEPS)}


def known(kernel: Mapping[str, Any]) -> bool:
    """Whether `gram` can compute this kernel: by name, or because it is a function."""
    kind = kernel.get("kernel")
    return callable(kind) or kind in (*VECTORS, *LISTS, "precomputed")


def checked_kernel(kernel: Any) -> Mapping[str, Any]:
    """The kernel, if it is known and its settings are such that it is one; `ValueError` names the setting."""
    if not isinstance(kernel, Mapping) or not known(kernel):
        raise ValueError(f"No checker knows the kernel {kernel!r:.80}: verify with its matrix, kernel='precomputed'.")
    kind = kernel["kernel"]
    expected = () if callable(kind) else SETTINGS[kind]
    if set(kernel) != {"kernel", *expected}:
        raise ValueError(f"The kernel {kind!r:.80} has the settings {list(expected)}; these are {sorted(kernel)}.")
    for name in expected:
        value = kernel[name]
        number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_)) and isfinite(value)
        if name == "normalize":
            fits, wanted = isinstance(value, (bool, np.bool_)), "True or False"
        elif name in RANGES:
            low, high = RANGES[name]
            fits = number and isinstance(value, Integral) and low <= int(value) <= high
            wanted = f"a whole number from {low} to {high:g}"
        else:
            fits = number and (name != "gamma" or value > 0)
            wanted = "a finite number above 0" if name == "gamma" else "a finite number"
        if not fits:
            raise ValueError(f"The kernel's setting {name!r} must be {wanted}; it is {value!r:.80}.")
    return kernel


def gram(kernel: Mapping[str, Any], A: Any, B: Any, real: Any = np.float64) -> tuple[Any, Any, float]:
    """K of all pairs, and (size, rounded) such that its rounding error is below rounded * EPS * size.

    In the arithmetic ``real``, whose EPS it is: float64, or more digits where the machine has them.

    ``A`` and ``B`` are rows of a matrix, lists of strings or graphs, or what the function takes. A precomputed kernel
    has no points: see `kernel_block`.
    """
    kind = kernel.get("kernel")
    if callable(kind):
        K = dense(kind(A, B))
        return K, np.abs(K), 64 * EPS / float(np.finfo(real).eps)
    if kind in LISTS:
        K = _counts(kernel, A, B)
        return K, K, 8 * EPS / float(np.finfo(real).eps)
    if kind not in VECTORS:
        raise ValueError(f"No checker computes the kernel {kind!r}: verify with its matrix and kernel='precomputed'.")
    gamma, coef0 = real(kernel.get("gamma", 1.0)), real(kernel.get("coef0", 0.0))
    if real is np.float64 and hasattr(A, "indptr") and hasattr(B, "indptr"):
        A, B = _entries_once(A), _entries_once(B)
        d = _longest(A) + _longest(B)  # terms of any sum that are not 0: to add a 0 rounds nothing
    else:
        A, B = dense(A, real), dense(B, real)
        d = A.shape[1]
    if kind in ("rbf", "laplacian"):
        radial = _radial_sparse if hasattr(A, "indptr") else _radial
        return (*radial(kind, gamma, A, B), d + 8)
    inner, size = dense(A @ B.T, real), dense(abs(A) @ abs(B).T, real)
    if kind == "linear":
        return inner, size, d
    inner, size = gamma * inner + coef0, gamma * size + abs(coef0)
    if kind == "sigmoid":
        return np.tanh(inner), size + 1.0, d + 4  # the slope of tanh is at most 1
    degree = int(kernel["degree"])
    return inner**degree, max(degree, 1) * size**degree, d + 8


def kernel_block(
    kernel: Mapping[str, Any], points: Any, left: Any, right: Any, real: Any = np.float64
) -> tuple[Any, Any, float]:
    """`gram` of chosen points; if the kernel is precomputed, ``points`` is its matrix."""
    if kernel.get("kernel") == "precomputed":  # symmetric up to rounding, which the mean of both halves is without
        K = 0.5 * (dense(points[left][:, right], real) + dense(points[right][:, left], real).T)
        return K, np.abs(K), 1
    return gram(kernel, take(points, left), take(points, right), real)


def points_of(kernel: Mapping[str, Any], X: Any) -> Any:
    """X as something to take points from: an array, CSR, or a list of objects; `ValueError` if it is not finite."""
    kind = kernel.get("kernel")
    if kind in LISTS:
        return list(X)
    if callable(kind) and _is_column(X):
        return list(X)
    points = finite_rows(X)
    if kind == "precomputed":
        _require_symmetric(points)
    return points


def _is_column(X: Any) -> bool:
    """Whether X has one object a point, in a list or in a column of a table, not a row of numbers."""
    if hasattr(X, "shape"):
        return len(X.shape) == 1
    return isinstance(X, (list, tuple)) and not (X and isinstance(X[0], (list, tuple, np.ndarray)))


def finite_rows(X: Any) -> Any:
    """X as an array or CSR of real numbers; `ValueError` if it is no matrix, or an entry is NaN or infinite."""
    X = numeric(X)
    if X.ndim != 2:
        raise ValueError(f"X must be a matrix; its shape is {X.shape}.")
    if not np.isfinite(X.data if hasattr(X, "tocsr") else X).all():
        raise ValueError("X has an entry that is NaN or infinite.")
    return X


def _require_symmetric(K: Any) -> None:
    """Up to half the digits, as whoever computed the matrix may have left it."""
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"A kernel matrix is square; the shape of this one is {K.shape}.")
    single = K.dtype == np.float32
    largest, apart = float(abs(K).max()) if K.shape[0] else 0.0, float(abs(K - K.T).max()) if K.shape[0] else 0.0
    if apart > np.sqrt(np.finfo(np.float32 if single else np.float64).eps) * largest:
        raise ValueError(f"A kernel matrix is symmetric; the largest |K[i, j] - K[j, i]| of this one is {apart:g}.")


def take(points: Any, index: Any) -> Any:
    """Some of the points, of a list or a matrix."""
    return [points[i] for i in index] if isinstance(points, list) else points[index]


def count(points: Any) -> int:
    """How many there are, in a list or a matrix."""
    return len(points) if isinstance(points, list) else points.shape[0]


def only(kernel: Mapping[str, Any], points: Any, kept: Any) -> Any:
    """Some of the points; if the kernel is precomputed, of its matrix rows and columns."""
    return points[kept][:, kept] if kernel["kernel"] == "precomputed" else take(points, kept)


def indefiniteness(kernel: Mapping[str, Any], points: Any, n: int) -> tuple[float, float]:
    """(0, d) if the kernel matrix of all n points plus d times the identity is positive semidefinite, d being rounding.

    Kernels that always are, by their mathematics, are not tested. (1, d) if it is not, or n is too large to test.
    """
    kind = kernel.get("kernel")
    always = kind in ("linear", "rbf", "laplacian", *LISTS)
    if always or (kind == "poly" and (float(kernel.get("coef0", 0.0)) >= 0 or int(kernel["degree"]) == 0)):
        return 0.0, 0.0
    if n > LARGEST_TESTED:
        return 1.0, 0.0
    K = kernel_block(kernel, points, np.arange(n), np.arange(n))[0]
    single = kind == "precomputed" and getattr(points, "dtype", None) == np.float32
    return semidefinite(0.5 * (K + K.T), single)


def semidefinite_check(indefinite: float, shift: float) -> Check:
    """What `indefiniteness` found, as a check: without a kernel there is no feature space."""
    name = f"kernel matrix not positive semidefinite (or not tested), up to {shift:.1e} times the identity"
    return Check(name, indefinite)


def semidefinite(K: Any, single: bool = False) -> tuple[float, float]:
    """(0, d) if K + d times the identity is proved to be positive semidefinite, where d is rounding; else (1, d).

    A Cholesky factor of K + s, if float64 finds one, is that of a matrix which is at most (n + 2) EPS trace / 2 away.
    ``single`` says that K was rounded to float32, which may have cost more.
    """
    n, largest = len(K), float(np.abs(K).max(initial=0.0))
    units = [8 * EPS * n]
    if single:
        units += [float(np.finfo(np.float32).eps) * size for size in (4 * np.sqrt(n), n)]
    shift = 0.0
    for unit in units:
        shift = max(unit * largest, float(np.finfo(np.float64).tiny))
        moved = K + shift * np.eye(n)
        try:
            np.linalg.cholesky(moved)
        except np.linalg.LinAlgError:
            continue
        return 0.0, shift + (n + 2) * EPS * float(np.trace(moved))
    return 1.0, shift


def _radial(kind: Any, gamma: Any, A: Any, B: Any) -> tuple[Any, Any]:
    """exp(-gamma distance), by algebra where that costs no digits, and by differences where it does."""
    if kind == "rbf":
        centre = B.mean(axis=0) if len(B) else np.zeros(B.shape[1])  # of no support vectors: any point will do
        P, Q = A - centre, B - centre
        p, q = gamma * (P**2).sum(axis=1), gamma * (Q**2).sum(axis=1)
        if (p.max(initial=0.0) + q.max(initial=0.0)) * (A.shape[1] + 8) * EPS < NO_DIGITS and A.dtype == np.float64:
            terms = p[:, None] + q
            K = np.exp(np.minimum(2 * gamma * (P @ Q.T) - terms, 0.0))
            return K, K * (1.0 + terms)
    K, size = np.empty((len(A), len(B)), A.dtype), np.empty((len(A), len(B)), A.dtype)
    for i, a in enumerate(A):
        difference = np.abs(B - a)
        distance = gamma * ((difference**2).sum(axis=1) if kind == "rbf" else difference.sum(axis=1))
        K[i] = np.exp(-distance)
        # the entries of x may themselves be rounded differently by whoever moved them about a centre
        size[i] = K[i] * (1.0 + np.where(K[i] > 0, distance, 0.0))
    return K, size


def _radial_sparse(kind: Any, gamma: Any, A: Any, B: Any) -> tuple[Any, Any]:
    """The same of CSR rows, which are not written out: differences where a has entries, and b elsewhere."""
    power = 2 if kind == "rbf" else 1
    if kind == "rbf":
        p, q = (np.asarray(gamma * M.power(2).sum(axis=1)).ravel() for M in (A, B))
        if (p.max(initial=0.0) + q.max(initial=0.0)) * (_longest(A) + _longest(B) + 8) * EPS < NO_DIGITS:
            terms = p[:, None] + q
            K = np.exp(np.minimum(2 * gamma * dense(A @ B.T) - terms, 0.0))
            return K, K * (1.0 + terms)
    columns, far, row = B.tocsc(), np.abs(B.data) ** power, np.repeat(np.arange(B.shape[0]), np.diff(B.indptr))
    distance, elsewhere = np.empty((A.shape[0], B.shape[0])), np.ones(A.shape[1], dtype=bool)
    for i in range(len(distance)):
        own = slice(A.indptr[i], A.indptr[i + 1])
        at = A.indices[own]
        elsewhere[at] = False
        distance[i] = (np.abs(columns[:, at].toarray() - A.data[own]) ** power).sum(axis=1)
        distance[i] += np.bincount(row, np.where(elsewhere[B.indices], far, 0.0), B.shape[0])
        elsewhere[at] = True
    K = np.exp(-gamma * distance)
    return K, K * (1.0 + np.where(K > 0, gamma * distance, 0.0))


def _longest(A: Any) -> int:
    """Entries of a row, at most."""
    return int(np.diff(A.indptr).max(initial=0))


def _entries_once(A: Any) -> Any:
    """CSR rows in float64 with one entry for a place."""
    A = A.astype(np.float64, copy=True)
    A.sum_duplicates()  # the entries of one place are one number: its square too
    return A


def _counts(kernel: Mapping[str, Any], A: Any, B: Any) -> Any:
    """sum over parts of how often a has it times how often b has it; divided by the lengths if normalised."""
    parts: Callable[[Any], Counter[Any]]
    if kernel["kernel"] == "spectrum":
        k = int(kernel["k"])
        parts = lambda text: Counter(text[i : i + k] for i in range(len(text) - k + 1))  # noqa: E731
    else:
        names: dict[Any, int] = {}
        parts = lambda graph: _surroundings(graph, int(kernel["h"]), names)  # noqa: E731
    left, right = [parts(a) for a in A], [parts(b) for b in B]
    K = np.array([[float(sum(count * b[part] for part, count in a.items())) for b in right] for a in left])
    K = K.reshape(len(left), len(right))
    if kernel.get("normalize"):
        long, wide = [
            [float(np.sqrt(sum(c * c for c in point.values()))) or 1.0 for point in side] for side in (left, right)
        ]
        K /= np.outer(long, wide)
    return K


def _surroundings(graph: Any, h: int, names: dict[Any, int]) -> Counter[Any]:
    """How often each label of steps 0 to h occurs: a node's own, then with those of its neighbours, and so on."""
    neighbours: list[list[int]] = [[] for _ in graph.labels]
    for one, other in graph.edges:
        neighbours[one].append(other)
        neighbours[other].append(one)
    now = [names.setdefault((0, label), len(names)) for label in graph.labels]
    seen = Counter(now)
    for step in range(1, h + 1):
        now = [
            names.setdefault((step, now[node], tuple(sorted(now[i] for i in others))), len(names))
            for node, others in enumerate(neighbours)
        ]
        seen.update(now)
    return seen
