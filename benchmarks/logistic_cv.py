"""C by cross-validation against scikit-learn's: 10 values, 5 folds, alternating, medians, ratios.

Run as ``python benchmarks/logistic_cv.py [--rows 20000] [--columns 100] [--repeats 5]``. The second table is what the
speed is worth nothing without: how far each is above the best objective known, at the worst fold and C.
"""

from __future__ import annotations

import argparse
import time
import warnings
from statistics import median

import numpy as np
from sklearn.linear_model import LogisticRegressionCV as Rival
from sklearn.model_selection import StratifiedKFold
from threadpoolctl import threadpool_limits

from separatrix import LogisticRegressionCV


def problem(n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    return X, (0.3 * X @ rng.normal(size=d) + rng.normal(size=n) > 0).astype(int)


def rival(solver: str) -> Rival:
    return Rival(solver=solver, l1_ratios=(0,), scoring="accuracy", use_legacy_attributes=False)


def objective(X: np.ndarray, y: np.ndarray, v: np.ndarray, C: float) -> float:
    u = (2 * y - 1) * (X @ v[:-1] + v[-1])
    return C * np.logaddexp(0, -u).sum() + 0.5 * v[:-1] @ v[:-1]


def excess(X: np.ndarray, y: np.ndarray, paths: list[np.ndarray], Cs: np.ndarray) -> np.ndarray:
    """For each path (folds, Cs, p), the largest (objective - best of all) / best."""
    worst = np.zeros(len(paths))
    for f, (train, _) in enumerate(StratifiedKFold(5).split(X, y)):
        for i, C in enumerate(Cs):
            values = np.array([objective(X[train], y[train], path[f, i], C) for path in paths])
            worst = np.maximum(worst, values / values.min() - 1)
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = problem(arguments.rows, arguments.columns)
    models = {"separatrix": LogisticRegressionCV()}
    models |= {f"{solver}, {n} BLAS threads": rival(solver) for solver in ("lbfgs", "newton-cholesky") for n in (1, 2)}
    times: dict[str, list[float]] = {name: [] for name in models}
    for repeat in range(arguments.repeats + 1):  # the first is thrown away
        for name, model in models.items():
            with threadpool_limits(1 if ", 1 BLAS" in name else None):
                begin = time.perf_counter()
                model.fit(X, y)
            if repeat:
                times[name].append(time.perf_counter() - begin)
    ours = median(times["separatrix"])
    paths = [model.coefs_paths_.reshape(5, 10, -1) for model in models.values()]
    print(f"dense {arguments.rows:,} x {arguments.columns}, 10 values of C, 5 folds")
    for (name, model), above in zip(models.items(), excess(X, y, paths, models["separatrix"].Cs_), strict=True):
        taken = median(times[name])
        speed = f"{taken * 1e3:8.1f} ms   {taken / ours:5.2f} x"
        print(f"{name:<30} {speed}   above the best by {above:.1e}   C {model.C_:.3g}")


if __name__ == "__main__":
    main()
