"""Tables on which floating point has a hard time, and ordinary ones; small, so that exact answers are cheap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from soundness.data import Table

Rng = np.random.Generator
RARE = 97  # one table in so many has whole numbers that float64 cannot hold


def _labels(rng: Rng, n: int, k: int = 2) -> np.ndarray:
    """Every class occurs."""
    return rng.permutation(np.concatenate([np.arange(k), rng.integers(0, k, size=n - k)]))


def _size(rng: Rng, k: int = 2) -> tuple[int, int]:
    return int(rng.integers(max(2, k), 13)), int(rng.integers(1, 4))


def _noisy(rng: Rng, n: int, d: int, noise: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, d))
    score = X @ rng.normal(size=d) + noise * rng.normal(size=n)
    y = (score > np.median(score)).astype(int)
    y[:2] = 0, 1
    return X, y


def plain(rng: Rng) -> tuple[Any, Any]:
    n, d = _size(rng)
    return _noisy(rng, n, d)


def random_labels(rng: Rng) -> tuple[Any, Any]:
    n, d = _size(rng)
    return rng.normal(size=(n, d)), _labels(rng, n)


def integers(rng: Rng) -> tuple[Any, Any]:
    """Small whole numbers: many ties, quasi-separable now and then."""
    n, d = _size(rng)
    X = rng.integers(-2, 3, size=(n, d))
    return (X if rng.random() < 0.5 else X.astype(float)), _labels(rng, n)


def saturating(rng: Rng) -> tuple[Any, Any]:
    """Large units and labels that one column nearly tells: probabilities round to 0 and 1."""
    n, d = _size(rng)
    X, y = _noisy(rng, n, d, noise=0.0)
    if rng.random() < 0.6:
        i = rng.integers(2, n) if n > 2 else 1
        y[i] = 1 - y[i]
    X = X * 10.0 ** rng.uniform(1, 6)
    return X, _both(y)


def underflowing(rng: Rng) -> tuple[Any, Any]:
    n, d = _size(rng)
    X, y = _noisy(rng, n, d, noise=float(rng.choice([0.0, 1.0])))
    return X * 10.0 ** -rng.uniform(5, 150, size=d), _both(y)


def units(rng: Rng) -> tuple[Any, Any]:
    """Columns in units from 1e-150 to 1e150."""
    n, d = _size(rng)
    X, y = _noisy(rng, n, d, noise=float(rng.choice([0.0, 0.3, 1.0])))
    top = float(rng.choice([6, 12, 50, 149]))
    return np.clip(X, -9, 9) * 10.0 ** rng.uniform(-top, top, size=d), _both(y)


def offset(rng: Rng) -> tuple[Any, Any]:
    """Columns far from the origin: differences cancel."""
    n, d = _size(rng)
    X, y = _noisy(rng, n, d, noise=float(rng.choice([0.0, 0.3, 1.0])))
    return X + 10.0 ** rng.uniform(3, 12, size=d) * rng.choice([-1, 1], size=d), _both(y)


def nearly_separable(rng: Rng) -> tuple[Any, Any]:
    """Separated by 1e-15 to 1e-6, or by a little less than nothing."""
    n, d = _size(rng)
    y = _labels(rng, n)
    X = rng.normal(size=(n, d))
    margin = 10.0 ** -rng.uniform(6, 15.5) * rng.choice([1, -1], p=[0.7, 0.3])
    X[:, 0] = (2 * y - 1) * (np.where(rng.random(n) < 0.5, margin, rng.random(n)))
    if rng.random() < 0.5:
        X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0]
    return X, y


def near_duplicates(rng: Rng) -> tuple[Any, Any]:
    """t and t + 1e-k (2y - 1): separable, by columns that look like one."""
    n = int(rng.integers(4, 13))
    y = _labels(rng, n)
    t = rng.normal(size=n) * 10.0 ** rng.uniform(-1, 2)
    size = 10.0 ** -rng.uniform(6, 15.5)
    other = t + size * (2 * y - 1) if rng.random() < 0.6 else t + size * rng.normal(size=n)
    columns = [t, other] + ([rng.normal(size=n)] if rng.random() < 0.3 else [])
    return np.column_stack(columns), y


def collinear(rng: Rng) -> tuple[Any, Any]:
    """Duplicate, constant and dependent columns, exactly or up to rounding."""
    n, d = _size(rng)
    X, y = _noisy(rng, n, d, noise=float(rng.choice([0.0, 1.0])))
    extra = [
        lambda: X[:, 0],
        lambda: np.full(n, float(rng.choice([0.0, 1.0, -3.0, 1e8]))),
        lambda: X @ rng.normal(size=d),
        lambda: X @ rng.integers(-2, 3, size=d),
        lambda: X[:, 0] * 0.1 + 0.2,
    ]
    chosen = [extra[i]() for i in rng.integers(0, len(extra), size=rng.integers(1, 3))]
    return np.column_stack([X, *chosen]), _both(y)


def contradicting(rng: Rng) -> tuple[Any, Any]:
    """Rows repeated with the other label."""
    n, d = _size(rng)
    X = rng.integers(0, 3, size=(n, d)).astype(float) * float(rng.choice([1.0, 0.1]))
    twice = rng.integers(0, n, size=max(1, n // 2))
    y = _labels(rng, n)
    return np.vstack([X, X[twice]]), np.concatenate([y, 1 - y[twice]])


def few_rows(rng: Rng) -> tuple[Any, Any]:
    n, d = int(rng.integers(2, 6)), int(rng.integers(4, 10))
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3), _labels(rng, n)


def zeros(rng: Rng) -> tuple[Any, Any]:
    n, d = _size(rng)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.4)
    if rng.random() < 0.3:
        X[:] = 0.0
    return X, _labels(rng, n)


def tiny(rng: Rng) -> tuple[Any, Any]:
    """Two or three rows."""
    n, d = int(rng.integers(2, 4)), int(rng.integers(1, 3))
    return rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-8, 8), _labels(rng, n)


def outlier(rng: Rng) -> tuple[Any, Any]:
    n, d = _size(rng)
    X, y = _noisy(rng, n, d)
    X[rng.integers(0, n), rng.integers(0, d)] = 10.0 ** rng.uniform(5, 60)
    return X, y


def decimals(rng: Rng) -> tuple[Any, Any]:
    """Tenths: equal as decimals, unequal as floats."""
    n, d = _size(rng)
    X = rng.integers(-9, 10, size=(n, d)) * 0.1
    y = (X.sum(axis=1) > 0.05).astype(int)
    return X, _both(y)


def three_classes(rng: Rng) -> tuple[Any, Any]:
    n, d = _size(rng, 3)
    X = rng.normal(size=(n, d))
    if rng.random() < 0.4:
        X = X * 10.0 ** rng.uniform(-4, 4, size=d) + 10.0 ** rng.uniform(-3, 6)
    if rng.random() < 0.3:
        X = rng.integers(-1, 2, size=(n, d)).astype(float)
    return X, _labels(rng, n, 3)


def large_integers(rng: Rng) -> tuple[Any, Any]:
    """Whole numbers beyond 2^53, as of clocks in nanoseconds: float64 cannot hold them all."""
    n = int(rng.integers(2, 9))
    X = (1 << int(rng.integers(53, 62))) + rng.integers(0, 40, size=(n, int(rng.integers(1, 3))))
    return X, _labels(rng, n)


def _both(y: np.ndarray) -> np.ndarray:
    """With both labels in it."""
    y = np.asarray(y).astype(int)
    if len(set(y.tolist())) < 2:
        y[0] = 1 - y[0]
    return y


FAMILIES: dict[str, Callable[[Rng], tuple[Any, Any]]] = {
    f.__name__: f
    for f in (
        plain, random_labels, integers, saturating, underflowing, units, offset, nearly_separable, near_duplicates,
        collinear, contradicting, few_rows, zeros, tiny, outlier, decimals, three_classes,
    )
}  # fmt: skip


def dressed(name: str, X: Any, y: Any, rng: Rng) -> Table:
    """The table in float32, sparse, with text labels or with weights, now and then."""
    kind = rng.random()
    if kind < 0.12 and np.abs(X).max(initial=0) < 1e15:
        X, name = np.asarray(X, dtype=np.float32), name + " float32"
    elif kind < 0.22:
        X, name = sparse.csr_matrix(X), name + " sparse"
    weight = None
    kind = rng.random()
    n = len(y)
    if kind < 0.1:
        weight, name = 10.0 ** rng.uniform(-12, 12, size=n), name + " weights 1e±12"
    elif kind < 0.2:
        weight = rng.integers(0, 3, size=n).astype(float)
        if len(set(np.asarray(y)[weight > 0].tolist())) < len(set(y.tolist())):
            weight = weight + 1.0
        name += " weights 0"
    if rng.random() < 0.05:
        y = np.array(["no", "yes", "perhaps"])[y]
    return Table(name, X, y, weight)


def adversarial(seed: int, family: str | None = None) -> Table:
    """Table number `seed`."""
    rng = np.random.default_rng([14, seed])
    names = list(FAMILIES)
    name = family or ("large_integers" if seed % RARE == RARE - 1 else names[seed % len(names)])
    X, y = (FAMILIES | {"large_integers": large_integers})[name](rng)
    return Table(f"{name}#{seed}", X, y) if name == "large_integers" else dressed(f"{name}#{seed}", X, y, rng)


def benign(seed: int) -> Table:
    """Ordinary tables: noisy labels, or some rows of a well-known table in unit variance."""
    rng = np.random.default_rng([15, seed])
    kind = seed % 5
    if kind < 2:
        n, d = int(rng.integers(12, 25)), int(rng.integers(1, 4))
        X, y = _noisy(rng, n, d)
        return Table(f"noisy#{seed}", X, y, ordinary=True)
    if kind == 2:
        n, d = int(rng.integers(12, 25)), int(rng.integers(1, 4))
        X, y = _noisy(rng, n, d, noise=3.0)
        return Table(f"very noisy#{seed}", X + rng.normal(size=d) * 3, y, ordinary=True)
    X, y = [load_iris, load_wine, load_breast_cancer][int(rng.integers(0, 3))](return_X_y=True)
    columns = rng.choice(X.shape[1], size=int(rng.integers(2, 4)), replace=False)
    X = X[:, columns]
    if kind == 4:
        X = (X - X.mean(axis=0)) / X.std(axis=0)
    pair = rng.choice(len(set(y.tolist())), size=2, replace=False)
    rows = np.concatenate(
        [rng.choice(np.flatnonzero(y == c), size=int(rng.integers(6, 13)), replace=False) for c in pair]
    )
    return Table(f"toy#{seed}", X[rows], y[rows], ordinary=True)


adversarial_tables = st.builds(adversarial, st.integers(0, 10**6))
