"""Are the classes separable? Beside one linear program by HiGHS, on what that can still do."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks import generate
from benchmarks.everyday.jobs import Action, Entry, Job
from benchmarks.problems import Source

COLUMNS = 50


def ours(exact: bool) -> Entry:
    def prepare(X: Any, y: Any) -> Action:
        from separatrix import separability

        return lambda: separability(X, y, exact=exact)

    return Entry(prepare)


def program(X: Any, y: Any) -> Action:
    """max sum_i z_i.v subject to z_i.v >= 0, |v| <= 1, with z_i = y_i (x_i, 1): above 0 if there is separation."""
    from scipy.optimize import linprog

    def solve() -> Any:
        Z = y[:, None] * np.column_stack([X, np.ones(len(y))])
        return linprog(-Z.sum(axis=0), A_ub=-Z, b_ub=np.zeros(len(y)), bounds=(-1, 1), method="highs")

    return solve


def answer(result: Any, X: Any, y: Any) -> dict[str, Any]:
    if hasattr(result, "verdict"):
        return {"answer": result.verdict, "verified": bool(result.verify(X, y))}
    return {"answer": "separated" if -result.fun > 1e-6 else "not separated"}


def _source(rows: int, separable: bool) -> Source:
    name = f"sided-{rows}-{'separable' if separable else 'overlapping'}"
    return Source(name, lambda s: generate.sided(s.rows(rows), COLUMNS, separable))


JOBS = tuple(
    Job(
        f"separability, {rows:,} x {COLUMNS}, {'separable' if separable else 'overlapping'}",
        "separability",
        _source(rows, separable),
        {"separatrix": ours(False)}
        | ({} if separable else {"separatrix, exact": ours(True)})
        | ({"HiGHS": Entry(program)} if rows == 100_000 else {}),
        answer,
        repeat=3,
    )
    for rows in (100_000, 1_000_000)
    for separable in (False, True)
)
