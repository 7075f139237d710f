"""The choice of a method is a pure function of the shape, and time has no cliffs where it changes."""

from __future__ import annotations

import numpy as np
import pytest

from separatrix import LogisticRegression
from separatrix.logistic import choose
from separatrix.logistic.choose import Shape, method


def shape(n: int, p: int, k: int = 1, *, sparse: bool = False) -> Shape:
    """Rows about the origin."""
    return Shape(n, p, k, sparse, False)


@pytest.mark.parametrize(
    ("where", "name"),
    [
        (shape(150, 5, 2), "newton"),
        (shape(569, 31), "newton"),
        (shape(1797, 65, 9), "diagonal"),  # a sample would be most of the rows
        (shape(200_000, 101), "preconditioned"),
        (shape(9_298, 257, 9), "preconditioned"),
        (shape(20_000, 47_000, sparse=True), "descent"),
        (shape(40_000, 20_000, sparse=True), "diagonal"),
        (shape(30_000, 2_500), "diagonal"),
        (shape(60, 2_000_000), "diagonal"),
    ],
)
def test_the_table(where: Shape, name: str) -> None:
    assert method(where, "auto", from_zero=True) == name


def test_who_asks_for_a_solver_gets_it() -> None:
    for where in (shape(150, 5), shape(200_000, 101), shape(20_000, 47_000, sparse=True)):
        assert method(where, "newton", from_zero=True) == "newton"
        assert method(where, "lbfgs", from_zero=True) == "diagonal"


def test_without_a_penalty_larger_tables_go_to_machine_precision() -> None:
    assert method(shape(20_000, 101), "auto") == "preconditioned"
    assert method(shape(20_000, 101), "auto", penalised=False) == "newton"
    assert method(shape(50_000, 20_000, sparse=True), "auto", penalised=False, from_zero=True) == "diagonal"


def test_a_start_rules_out_the_descent_which_begins_at_0() -> None:
    assert method(shape(20_000, 47_000, sparse=True), "auto", from_zero=False) != "descent"


def test_when_sampled_rows_do_not_do_conjugate_gradients_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two passes a sampled Hessian can make nothing: what is certified was found by what goes on from there."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9_000, 150))
    y = (X @ rng.normal(size=(150, 4)) + rng.gumbel(size=(9_000, 4))).argmax(axis=1)
    assert method(shape(9_000, 151, 3), "auto", from_zero=True) == "preconditioned"
    patient = LogisticRegression(tol=1e-8).fit(X, y)
    monkeypatch.setattr(choose, "PASSES", 2)
    hasty = LogisticRegression(tol=1e-8).fit(X, y)
    assert hasty.certificate_.relative_gap <= 1e-8
    assert hasty.certificate_.verify(X, y)
    np.testing.assert_allclose(hasty.coef_, patient.coef_, atol=1e-4 * np.abs(patient.coef_).max())
    assert not np.array_equal(hasty.coef_, patient.coef_)  # another way to the same place
