"""The choice of a method is a pure function of the shape, and time has no cliffs where it changes."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.logistic import choose
from separatrix.logistic.choose import Shape, method


def shape(n: int, p: int, k: int = 1, *, a_row: int | None = None) -> Shape:
    """Dense rows, or sparse ones with as many entries a row."""
    entries = n * p if a_row is None else n * a_row
    return Shape(n, p, k, entries, (8.0 if a_row is None else 12.0) * entries, a_row is not None, False)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (shape(150, 5, 2), "newton"),
        (shape(569, 31), "newton"),
        (shape(1797, 65, 9), "truncated"),
        (shape(200_000, 101), "preconditioned"),
        (shape(9_298, 257, 9), "preconditioned"),
        (shape(50_000, 50_000, a_row=80), "descent"),
        (shape(60, 2_000_000), "diagonal"),
    ],
)
def test_the_table(where: Shape, name: str) -> None:
    assert method(where, "auto", told=True, from_zero=True) == name


def test_who_asks_for_a_solver_gets_it() -> None:
    for where in (shape(150, 5), shape(200_000, 101), shape(50_000, 50_000, a_row=80)):
        assert method(where, "newton", told=True, from_zero=True) == "newton"
        assert method(where, "lbfgs", told=True, from_zero=True) == "diagonal"


def test_a_start_rules_out_the_descent_which_begins_at_0() -> None:
    assert method(shape(50_000, 50_000, a_row=80), "auto", told=True, from_zero=False) != "descent"


def test_when_sampled_rows_do_not_do_conjugate_gradients_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two passes a sampled Hessian can make nothing: what is certified was found by what goes on from there."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9_000, 150))
    y = (X @ rng.normal(size=(150, 4)) + rng.gumbel(size=(9_000, 4))).argmax(axis=1)
    assert method(shape(9_000, 151, 3), "auto", told=True, from_zero=True) == "preconditioned"
    patient = LogisticRegression(tol=1e-8).fit(X, y)
    monkeypatch.setattr(choose, "SAMPLED_PASSES", 2)
    hasty = LogisticRegression(tol=1e-8).fit(X, y)
    assert hasty.certificate_.relative_gap <= 1e-8
    assert hasty.certificate_.verify(X, y)
    np.testing.assert_allclose(hasty.coef_, patient.coef_, atol=1e-4 * np.abs(patient.coef_).max())
    assert not np.array_equal(hasty.coef_, patient.coef_)  # another way to the same place
