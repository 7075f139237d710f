"""Data on disk for the time of a run: made once, read by every process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.generate import Data

PARTS = ("data", "indices", "indptr", "shape")


def save(folder: Path, data: Data) -> None:
    X, y = data
    folder.mkdir(parents=True)
    if sparse.issparse(X):
        for part in PARTS:
            np.save(folder / f"{part}.npy", np.asarray(getattr(X, part)))
    else:
        np.save(folder / "X.npy", np.ascontiguousarray(X))
    np.save(folder / "y.npy", y)


def load(folder: Path) -> Data:
    y = np.load(folder / "y.npy")
    if (folder / "X.npy").exists():
        return np.load(folder / "X.npy"), y
    data, indices, indptr, shape = (np.load(folder / f"{part}.npy") for part in PARTS)
    return sparse.csr_matrix((data, indices, indptr), shape=tuple(shape)), y


def small(data: Data, rows: int) -> Data:
    """That many rows, drawn anywhere, and some of every class: to warm up on."""
    X, y = data
    order = np.random.default_rng(0).permutation(len(y))
    first = np.unique(y[order], return_index=True)[1]
    chosen = order[np.unique(np.concatenate([first, np.arange(min(rows, len(y)))]))]
    return X[chosen], y[chosen]
