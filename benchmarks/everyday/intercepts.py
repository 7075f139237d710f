"""The hinge on text with an intercept: ours is free; LIBLINEAR's is a weight like the others, and penalised.

The two minimise different objectives, so each is held against the optimum of its own, found by a tight fit of ours:
a penalised intercept is the weight of a column of ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.everyday.jobs import Action, Entry, Job, fitting, model
from benchmarks.objective import Weights, objective
from benchmarks.problems import TEXT, Problem

SAME = Problem("text, hinge", "hinge", TEXT)
OURS = "separatrix.LinearSVC"


def _liblinear(tol: float) -> Entry:
    def prepare(X: Any, y: Any) -> Action:
        from liblinear.liblinear import parameter
        from liblinear.liblinear import problem as Rows
        from liblinear.liblinearutil import train

        rows, options = Rows(y.astype(float), X, 1.0), parameter(f"-s 3 -c 1 -e {tol} -B 1 -q")
        return lambda: train(rows, options)

    return Entry(prepare)


def from_its_own_optimum(fitted: Any, X: Any, y: Any) -> dict[str, Any]:
    """The relative distance of the objective from the best value of that objective."""
    if hasattr(fitted, "coef_"):
        found, free = Weights(fitted.coef_, fitted.intercept_), True
    else:
        sign = 1.0 if fitted.get_labels()[0] > 0 else -1.0
        found = Weights(sign * np.array(fitted.w[: X.shape[1] + 1])[None, :], np.zeros(1))
        X, free = sparse.hstack([X, np.ones((len(y), 1))], format="csr"), False
    best = model(OURS, loss="hinge", tol=1e-8, fit_intercept=free, max_iter=10_000)().fit(X, y)
    least = objective(SAME, X, y, Weights(best.coef_, best.intercept_))
    return {"excess": objective(SAME, X, y, found) / least - 1.0}


def _job(accuracy: float, tolerances: tuple[float, ...]) -> Job:
    return Job(
        f"hinge with an intercept, text, to {accuracy:g}",
        "intercepts",
        TEXT,
        {"separatrix": Entry(fitting(model(OURS, loss="hinge", tol=accuracy)))}
        | {f"LIBLINEAR -s 3 -B 1 -e {tol:g}": _liblinear(tol) for tol in tolerances},
        from_its_own_optimum,
        accuracy=accuracy,
    )


JOBS = (_job(1e-4, (1e-2, 7e-3, 5e-3)), _job(1e-6, (1e-4, 3e-5, 1e-5)))
