"""One pass of the perceptron against scikit-learn's: dense and sparse rows, alternating, medians, ratios.

Run as ``python benchmarks/perceptron.py [--scale 0.1] [--repeats 7]``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings
from statistics import median

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron as Rival

from separatrix import Perceptron


def dense(scale: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(int(1_000_000 * scale), 50))
    return X, np.where(X @ rng.normal(size=50) + rng.normal(size=len(X)) > 0, 1, 0)


def rare(scale: float, noise: float) -> tuple[sparse.csr_matrix, np.ndarray]:
    """500,000 rows of 50,000 columns, 80 non-zeros each; labels of a hyperplane, with noise in units of its scores."""
    rng = np.random.default_rng(0)
    n, d, nonzero = int(500_000 * scale), 50_000, 80
    columns = np.sort(rng.integers(d // nonzero, size=(n, nonzero)) + np.arange(nonzero) * (d // nonzero), axis=1)
    start = np.arange(0, n * nonzero + 1, nonzero)
    X = sparse.csr_matrix(
        (rng.normal(size=n * nonzero), columns.ravel().astype(np.int32), start.astype(np.int32)), shape=(n, d)
    )
    scores = X @ rng.normal(size=d)
    return X, np.where(scores + noise * scores.std() * rng.normal(size=n) > 0, 1, 0)


def seconds(model, X, y) -> float:
    begin = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - begin


def compare(name: str, X, y, repeats: int) -> None:
    ours, theirs = [], []
    for repeat in range(repeats + 1):  # the first is thrown away: compilation, cold caches
        pair = seconds(Perceptron(max_iter=1), X, y), seconds(Rival(max_iter=1, tol=None, shuffle=False), X, y)
        if repeat:
            ours.append(pair[0])
            theirs.append(pair[1])
    a, b = median(ours), median(theirs)
    print(f"{name:<40} separatrix {a * 1e3:8.1f} ms   scikit-learn {b * 1e3:8.1f} ms   {b / a:5.2f} times as fast")


FIRST_USE = """
import time
import numpy as np
from sklearn.datasets import load_breast_cancer, load_iris
import separatrix, warnings
warnings.simplefilter("ignore")
for name, load in (("iris", load_iris), ("breast cancer", load_breast_cancer)):
    X, y = load(return_X_y=True)
    begin = time.perf_counter()
    separatrix.Perceptron().fit(X, y)
    print(f"first use, {name:<17} {time.perf_counter() - begin:6.3f} s")
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0, help="fraction of the rows")
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    subprocess.run([sys.executable, "-c", FIRST_USE], check=True)
    X, y = dense(arguments.scale)
    compare(f"dense {X.shape[0]:,} x {X.shape[1]}", X, y, arguments.repeats)
    compare("the same in float32", X.astype(np.float32), y, arguments.repeats)
    for noise, labels in ((1.0, "noisy labels"), (0.1, "clean labels")):
        X, y = rare(arguments.scale, noise)
        compare(f"sparse {X.shape[0]:,} x {X.shape[1]:,}, {labels}", X, y, arguments.repeats)


if __name__ == "__main__":
    main()
